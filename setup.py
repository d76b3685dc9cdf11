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

# Modules with loops of their own, and those that every call of a small operator runs through: they
# are compiled for speed. In others -O1 halves the compiler's time and costs a call nothing that can
# be measured.
FAST = re.compile(
    r"_core\.(allocator|bind|callables|dispatch|geometry|iterate|keyset|lending|loops|making|moving"
    r"|overlap|parallel|signs|slab|stored|subscript_fast|tensor|version)"
    r"|autograd\.(fit|kernels|leaves|node|recorded|saved|views)"
    r"|kernels\.(?!(networks\.(\w+_check|bilinear)|creation\.from_data|decompositions\.(lapack|stacks)"
    r"|pointwise\.glu_fast|products\.cross_fast|shapes\.(block_diag_fast|split))$).*"
    r"|ops\.(indexing|reductions)\.composites_fast"
)

# Modules that no call of an operator runs through, or through little of them: -Os takes a fifth of
# them from the wheel.
SELDOM = re.compile(
    r"_core\.(adapter|device|element|importing|internals|layers|sparse|user_frames|watchers)"
    r"|(advise|library|profiler)\..*|autograd\.(anomaly|handles)|ops\.parse"
    r"|kernels\.(creation\.from_data|decompositions\.lapack)"
)

# What Cython writes into each module alike, once: a tenth of the compiler's time and of the wheel.
SHARED = "imode._cython"
SHARED_SOURCE = Path(*SHARED.split(".")).with_suffix(".c")
SHARED_FEATURES = ["CythonFunction", "Exceptions", "ExtensionTypes", "AutoPickle", "DEFAULTS"]
SHARED_FEATURES += ["ImportExport", "PythonClasses", "StringTools"]

STAMP = Path("build/mode")  # modules built otherwise look up to date: they are built again

# Commands that list files, for an sdist or a wheel's metadata: they need no C.
LISTING = {"dist_info", "egg_info", "sdist"}

# What chooses loops for the machine lets this header limit the choice.
CPU_LEVEL, WRAP = Path("imode/_core/cpu_level.h"), ""

# Included in front of every C file.
FRONT = []

COMPILE, QUICK, SMALL, LINK, LIBRARIES = [], [], [], [], []
if os.name == "posix":
    # Loops over libm calls vectorise only without errno and traps, which nothing here reads;
    # no value changes by it: NaN, infinity and the order of additions stay as written.
    COMPILE = ["-fvisibility=hidden", "-fno-math-errno", "-fno-trapping-math"]
    COMPILE += ["-O1", "-g"] if DEBUG else ["-O3", "-g0"]
    QUICK = [] if DEBUG else ["-O1", "-finline-functions"]
    SMALL = [] if DEBUG else ["-Os"]
    # Tables for unwinding the stack are a twelfth of the wheel; C without exceptions needs none.
    COMPILE += [] if DEBUG else ["-fno-asynchronous-unwind-tables"]
    LIBRARIES = ["m"]
if sys.platform == "linux":
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
MACROS = [("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"), *[("IMODE_DEBUG", "1")] * DEBUG]
BUILT_AS = (
    f"{MODE} {DIRECTIVES} {COMPILE} {LINK} {LIBRARIES} {QUICK} {FAST.pattern} {SMALL}"
    f" {SELDOM.pattern} {SHARED_FEATURES}"
)


HEADERS = {path.name: path for path in sorted(Path("imode").rglob("*.h"))}
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
        "extra_compile_args": COMPILE,
        "extra_link_args": LINK,
        "libraries": LIBRARIES,
    }
    quick = shared | {"extra_compile_args": [*COMPILE, *QUICK]}
    small = shared | {"extra_compile_args": [*COMPILE, *SMALL]}
    for pyx in sorted(Path("imode").rglob("*.pyx")):
        shim = pyx.with_name(f"_{pyx.stem}.c")
        sources = [str(pyx)] + [str(shim)] * shim.exists()
        name = ".".join(pyx.with_suffix("").parts)
        module = name.removeprefix("imode.")
        fast = shim.exists() or FAST.fullmatch(module)
        slow = small if SELDOM.fullmatch(module) else quick
        yield Extension(name, sources, **(shared if fast else slow))
    yield Extension(SHARED, [str(SHARED_SOURCE)], **quick)


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
        # Trees of a module are all kept until it is written: looking for garbage among them takes a
        # quarter of Cython's time.
        gc.set_threshold(1_000_000, 5, 100)
        self.distribution.ext_modules = cythonize(
            self.distribution.ext_modules,
            build_dir=f"build/cython-{MODE}",  # generated C never lies beside the sources
            include_path=["tools/declarations"],  # of NumPy's C API, what is used here
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
        sources = [*ext.sources, *ext.depends]
        if self.force or newer_group(sources, self.get_ext_fullpath(ext.name), "newer"):
            # Compiling takes a minute or more: say where it is.
            print(f"compiling {self.begun}/{len(self.extensions)} {ext.name}", flush=True)
            self.compiled = True
        super().build_extension(ext)

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
        if getattr(self, "compiled", False):
            print(f"built in {sum(os.times()[:4]):.0f} CPU seconds")


if __name__ == "__main__":
    setup(ext_modules=list(extensions()), cmdclass={"build_ext": build_modules})
