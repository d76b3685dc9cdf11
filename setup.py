"""Builds one extension module per `imode/**/*.pyx`, with a same-stem `_name.c` beside it if any.

One more, `imode._cython`, holds what Cython would write into each of them.

IMODE_DEBUG=1  Cython's checks on, -O1, live-object counters (the C macro IMODE_DEBUG).
IMODE_JOBS=n   compile n modules at once (default 2).
"""

import gc
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

DEBUG = os.environ.get("IMODE_DEBUG", "0") not in ("", "0")
JOBS = int(os.environ.get("IMODE_JOBS", "2"))
MODE = "debug" if DEBUG else "release"

DIRECTIVES = {"language_level": 3, "cdivision": True, "binding": True, "auto_pickle": False}
# Methods of compiled classes are not bound functions, which take anything for their `self`: each
# class says so. Their signatures are in their documentation, where `inspect` finds them.
DIRECTIVES |= {"embedsignature": True, "embedsignature.format": "clinic"}
DIRECTIVES |= dict.fromkeys(("boundscheck", "wraparound", "initializedcheck", "nonecheck"), DEBUG)
if DEBUG:
    DIRECTIVES["show_performance_hints"] = False  # they advise against the checks wanted here

# Modules with loops of their own in Cython, and those that every call of a small operator runs
# through: they are compiled for speed. Elsewhere -O1 halves the compiler's time, and all of it
# together costs a small operator 2 instructions of 1000, a large array none.
FAST = re.compile(
    r"_core\.(allocator|bind|callables|dispatch|geometry|iterate|loops|making|parallel|slab|tensor"
    r"|version)"
    r"|autograd\.(kernels|leaves|node|recorded|saved|views)"
    r"|kernels\.creation\.fill_fast|kernels\.indexing\..*|kernels\.sparse\.loops"
    r"|kernels\.networks\.(embedding|fold|grid|loss|margin|norm|pool|pool3d|resample)"
    r"|kernels\.products\.(half_product|matmul|multiply)|kernels\.random\.(?!generator$).*"
    r"|kernels\.reductions\.(along|lines_fast|pairs|reduce)"
    r"|kernels\.sequences\.(ctc|embedding_bag)|kernels\.shapes\.views|kernels\.sorting\..*"
)

# Loops in C that are written out for the registers there are: -O3 would unroll them once more,
# which takes half as long again to compile, and attention and lstm a twelfth longer to run.
WRITTEN_OUT = re.compile(r"_(attention|factor|gemm|multiply|orthogonal|recurrent|spectral)\.c")

# What is left at the ends of loops -O3 would write out, up to fifteen elements for each level of
# processor: a tenth of modules with loops over elements, a fifth of those with loops over planes.
# How many instructions may be, by the names of the files.
ENDS = {
    r"_(along|conv|copy|dtype|loops|loss|pool|ranges|special)\.c": 40,
    r"_(planes|rows|whole)\.c": 100,
}

# Modules that calls of operators run through seldom or never: -Og compiles them in two thirds of
# the time that -O1 or -Os takes.
SELDOM = re.compile(
    r"_core\.(addresses|device|elsewhere|importing|internals|layout|level|shared|sparse"
    r"|user_frames|watchers)|_tensor\..*|advise\..*|autograd\.(anomaly|derivative)|ops\.parse"
    r"|kernels\.decompositions\.lapack"
)

# Modules around loops in C that take far longer than what is around them, and one whose work is
# watching: -Os makes them a sixth smaller than -O1 does.
AROUND = re.compile(r"kernels\.(decompositions|fourier)\.(?!lapack$).*|profiler\.recorder")

# What Cython writes into each module alike, once: a tenth of the compiler's time and of the wheel.
SHARED = "imode._cython"
SHARED_SOURCE = Path(*SHARED.split(".")).with_suffix(".c")
SHARED_FEATURES = ["CythonFunction", "Exceptions", "ExtensionTypes", "AutoPickle", "DEFAULTS"]
SHARED_FEATURES += ["ImportExport", "PythonClasses", "StringTools"]

STAMP = Path("build/mode")  # modules built otherwise look up to date: they are built again
SECONDS = Path("build/cpu_seconds")  # of the last build of all modules: a row of `make bench`

# Commands that list files, for an sdist or a wheel's metadata: they need no C.
LISTING = {"dist_info", "egg_info", "sdist"}

# What chooses loops for the machine lets this header limit the choice.
CPU_LEVEL, WRAP = Path("imode/_core/cpu_level.h"), ""

# Included in front of every C file.
FRONT = []

COMPILE, SPEED, REGISTERS, SHORT, BRIEF, SMALL = [], [], [], [], [], []
LINK, LIBRARIES = [], []
if os.name == "posix":
    # Loops over libm calls vectorise only without errno and traps, which nothing here reads;
    # no value changes by it: NaN, infinity and the order of additions stay as written.
    COMPILE = ["-fvisibility=hidden", "-fno-math-errno", "-fno-trapping-math"]
    COMPILE += ["-O1", "-g"] if DEBUG else ["-g0"]
    if not DEBUG:
        SPEED, SHORT, BRIEF = ["-O3"], ["-O1", "-finline-functions"], ["-Og"]
        REGISTERS, SMALL = ["-O2"], ["-Os"]
    # Tables for unwinding the stack are a twelfth of the wheel; C without exceptions needs none.
    COMPILE += [] if DEBUG else ["-fno-asynchronous-unwind-tables"]
    LIBRARIES = ["m"]
if sys.platform == "linux":
    if "clang" not in os.environ.get("CC", sysconfig.get_config_var("CC")):
        REGISTERS += ["-fvect-cost-model=dynamic"] * (
            not DEBUG
        )  # clang's -O2 vectorises as its -O3
    # Code and constants side by side: two mappings fewer of each module, a tenth of imode's import.
    LINK = ["-Wl,--as-needed", "-Wl,-z,noseparate-code"]
    LINK += [] if DEBUG else ["-Wl,-s", "-Wl,--build-id=none"]
    if platform.machine() == "x86_64":
        WRAP = "-Wl,--wrap=__cpu_indicator_init"
        # The lowest level that loops are compiled for, which NumPy 2.4 asks for, too.
        COMPILE += ["-march=x86-64-v2"]
    if platform.libc_ver()[0] == "glibc" and platform.machine() == "x86_64":
        LIBRARIES = ["mvec", "m"]  # glibc's vector forms of exp, log, sin, ...
        FRONT = ["imode/_core/oldest_glibc.h"]
        COMPILE += ["-include", *FRONT]
if sys.platform != "linux" or "clang" in os.environ.get("CC", sysconfig.get_config_var("CC")):
    ENDS = {}  # a parameter of GCC's
MACROS = [("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"), *[("IMODE_DEBUG", "1")] * DEBUG]
BUILT_AS = (
    f"{MODE} {DIRECTIVES} {COMPILE} {SPEED} {REGISTERS} {SHORT} {BRIEF} {SMALL} {LINK} {LIBRARIES}"
    f" {FAST.pattern} {WRITTEN_OUT.pattern} {SELDOM.pattern} {AROUND.pattern}"
    f" {SHARED_FEATURES} {ENDS}"
)


FOUND = sorted(Path("imode").rglob("*.h"))
HEADERS = {path.name: path for path in FOUND}
assert len(HEADERS) == len(FOUND), "two headers have one name: the compiler would see one of them"
INCLUDE = re.compile(r'^ *# *(?:include|define +\w+) +"([^"]+)"', re.MULTILINE)


def included(source, found):
    """Add to `found` the project's headers that a C file includes, and what these include."""
    for name in INCLUDE.findall(Path(source).read_text(encoding="utf-8")):
        header = HEADERS.get(os.path.basename(name))
        if header is not None and str(header) not in found:
            found.add(str(header))
            included(header, found)
    return found


def extensions():
    """Yield an Extension for every `.pyx` of the package."""
    folders = sorted({str(path.parent) for path in HEADERS.values()})
    shared = {
        "include_dirs": [numpy.get_include(), ".", *folders],
        "define_macros": MACROS,
        "extra_link_args": LINK,
        "libraries": LIBRARIES,
    }
    for pyx in sorted(Path("imode").rglob("*.pyx")):
        shim = pyx.with_name(f"_{pyx.stem}.c")
        sources = [str(pyx)] + [str(shim)] * shim.exists()
        name = ".".join(pyx.with_suffix("").parts)
        module = name.removeprefix("imode.")
        slow = BRIEF if SELDOM.fullmatch(module) else SMALL if AROUND.fullmatch(module) else SHORT
        flags = SPEED if FAST.fullmatch(module) else slow
        yield Extension(name, sources, extra_compile_args=[*COMPILE, *flags], **shared)
    yield Extension(SHARED, [str(SHARED_SOURCE)], extra_compile_args=[*COMPILE, *SHORT], **shared)


class build_modules(build_ext):
    """Cythonize only when something is built, in parallel; then write names and types."""

    def finalize_options(self):
        if not LISTING.issuperset(self.distribution.commands):
            self.generate()
        self.parallel = self.parallel or JOBS
        super().finalize_options()
        self.build_temp = f"build/objects-{MODE}"

    def build_extensions(self):
        # Of the folder that the interpreter was built for, nothing is needed: no module names it.
        linker = [word for word in self.compiler.linker_so if not word.startswith("-Wl,-rpath")]
        self.compiler.set_executables(linker_so=linker)
        super().build_extensions()

    def generate(self):
        """Write the C files; the extensions are theirs from now on."""
        from Cython.Build import cythonize

        if STAMP.exists() and STAMP.read_text() != BUILT_AS:
            self.force = True
        # Trees of a module are all kept until it is written, and hold 10 MB: looking for garbage
        # among them would take a third of Cython's time.
        gc.disable()
        self.distribution.ext_modules = cythonize(
            self.distribution.ext_modules,
            build_dir=f"build/cython-{MODE}",  # generated C never lies beside the sources
            include_path=["tools/declarations"],  # of others' C, what is used here
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=SHARED,
            shared_utility_features_enabled=SHARED_FEATURES,
            force=self.force,
            nthreads=JOBS if JOBS > 1 else 0,
        )
        # Cython's copies of headers would be found first, and not all of them are kept up to date.
        for copy in Path(f"build/cython-{MODE}").rglob("*.h"):
            if copy.name in HEADERS:
                copy.unlink()

    def build_extension(self, ext):
        self.begun = getattr(self, "begun", 0) + 1
        ext.depends = sorted({*FRONT}.union(*(included(source, set()) for source in ext.sources)))
        if WRAP and str(CPU_LEVEL) in ext.depends:
            ext.extra_link_args = [*ext.extra_link_args, WRAP]
        ext.depends += ext.sources
        if self.force or newer_group(ext.depends, self.get_ext_fullpath(ext.name), "newer"):
            # Compiling takes a minute or more: say where it is.
            print(f"compiling {self.begun}/{len(self.extensions)} {ext.name}", flush=True)
            self.compiled = getattr(self, "compiled", 0) + 1
            self.compile_by_hand(ext)
        super().build_extension(ext)

    def compile_by_hand(self, ext):
        """Compile the `_name.c` of a module, which has flags of its own."""
        shim = f"_{ext.name.rpartition('.')[2]}.c"
        for source in [source for source in ext.sources if os.path.basename(source) == shim]:
            ext.sources.remove(source)
            flags = REGISTERS if WRITTEN_OUT.fullmatch(shim) else SPEED
            for names, most in ENDS.items():
                if re.fullmatch(names, shim):
                    flags = [*flags, "--param", f"max-completely-peeled-insns={most}"]
            ext.extra_objects += self.compiler.compile(
                [source],
                output_dir=self.build_temp,
                macros=ext.define_macros,
                include_dirs=ext.include_dirs,
                extra_postargs=[*COMPILE, *flags],
            )

    def forget(self):
        """Delete what was built from a source that is gone: it would hide what has its name now."""
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        for root in (Path(self.build_lib), Path()):
            for path in (root / "imode").rglob("*.*"):
                source = path.relative_to(root)
                if path.name.endswith(suffix):
                    source = source.with_name(path.name.removesuffix(suffix) + ".pyx")
                if not source.exists() and source.with_suffix("") != SHARED_SOURCE.with_suffix(""):
                    path.unlink()

    def run(self):
        self.forget()
        super().run()
        STAMP.parent.mkdir(exist_ok=True)
        STAMP.write_text(BUILT_AS)
        where = "." if self.inplace else self.build_lib
        for tool in ("tools/names.py", "tools/stubs.py"):
            subprocess.run([sys.executable, tool, where], check=False)
        for cache in list(Path(self.build_lib).rglob("__pycache__")):
            shutil.rmtree(cache)  # what the tools imported from there; a wheel would hold it
        if getattr(self, "compiled", 0):
            seconds = sum(os.times()[:4])
            print(f"built in {seconds:.0f} CPU seconds")
            if self.compiled == len(self.extensions):
                SECONDS.write_text(f"{seconds:.0f}\n")


if __name__ == "__main__":
    setup(ext_modules=list(extensions()), cmdclass={"build_ext": build_modules})
