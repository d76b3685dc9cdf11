"""Make the documentation site, and check it: `make docs`.

    python tools/site.py FOLDER      writes FOLDER/index.html and all it leads to

1. The pages of docs/ and those at the root are copied to build/site-source, links between them
   rewritten; pages that draw run, each as one program, and must print what they say.
2. tools/reference.py writes the reference; Sphinx makes the site. A warning is an error.
3. Every public name has its place in the reference; every link inside the site leads somewhere.
"""

import contextlib
import html.parser
import io
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
import zlib
from pathlib import Path

import reference

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "build" / "site-source"
ROOT_PAGES = {"CHANGELOG": "changelog", "CONTRIBUTING": "contributing", "SECURITY": "security"}
FENCE = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


# ---- the source ----


def copy():
    """Lay out what Sphinx reads: docs/ at the top, beside the examples."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE)
    ignored = shutil.ignore_patterns("data", "src", "tests", "__pycache__", "*.toml", "setup.py")
    shutil.copytree(ROOT / "examples", SOURCE / "examples", ignore=ignored)
    (SOURCE / "benchmarks").mkdir()
    shutil.copy(ROOT / "benchmarks" / "README.md", SOURCE / "benchmarks")
    for name, stem in ROOT_PAGES.items():
        text = (ROOT / f"{name}.md").read_text()
        (SOURCE / f"{stem}.md").write_text(text.replace("](docs/", "]("))
    for path in SOURCE.glob("**/*.md"):
        text = path.read_text()
        for name, stem in ROOT_PAGES.items():
            text = text.replace(f"]({name}.md", f"]({stem}.md").replace(
                f"../{name}.md", f"{stem}.md"
            )
        if path.parent == SOURCE:  # of docs/: what is beside docs/ lies inside it here
            text = re.sub(r"\]\(\.\./(examples|benchmarks)/", r"](\1/", text)
        path.write_text(re.sub(r"\]\((?:\.\./)+docs/", "](../", text))


def draw():
    """Run each page that draws as one program; its pictures lie beside it afterwards."""
    here = os.getcwd()
    for path in sorted(SOURCE.glob("**/*.md")):
        program = "\n".join(FENCE.findall(path.read_text()))
        if "import matplotlib" not in program:
            continue
        os.chdir(path.parent)
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(program, str(path.relative_to(SOURCE)), "exec"), {"__name__": "page"})
        finally:
            os.chdir(here)
        promised = re.findall(r"# prints (.*)$", program, re.M)
        if printed.getvalue().splitlines() != promised:
            sys.exit(f"{path.name} prints\n{printed.getvalue()}instead of\n" + "\n".join(promised))


# ---- what was made ----


class Page(html.parser.HTMLParser):
    """The anchors of a page, and where it points."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = set(), set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


def broken_links(site):
    """Return the links inside the site that lead nowhere, and how many were followed."""
    pages = {path: Page(path) for path in site.rglob("*.html")}
    followed, broken = 0, []
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            followed += 1
            target = path if not parts.path else (path.parent / urllib.parse.unquote(parts.path))
            target = Path(os.path.normpath(target))
            anchor = urllib.parse.unquote(parts.fragment)
            there = target.exists() and (
                not anchor or target not in pages or anchor in pages[target].anchors
            )
            if not there:
                broken.append(f"{path.relative_to(site)}: {link}")
    return broken, followed


def inventory(site):
    """Return the names that the reference describes."""
    data = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(data).decode().splitlines()
    return {line.split()[0] for line in lines if " py:" in line}


def main():
    """Write the site into the folder named on the command line; exit 1 where something is wrong."""
    site = Path(sys.argv[1]).resolve()
    os.environ["MPLBACKEND"] = "agg"
    copy()
    names = reference.write(SOURCE / "reference")
    draw()
    shutil.rmtree(site, ignore_errors=True)
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    made = subprocess.run(
        [*sphinx, "-d", str(ROOT / "build" / "site-cache"), str(SOURCE), str(site)]
    )
    if made.returncode:
        sys.exit("the site has warnings, above")
    missing = sorted(names - inventory(site))
    broken, followed = broken_links(site)
    print(f"{len(names)} public names, {len(missing)} of them not in the reference")
    print(f"{followed} links inside the site, {len(broken)} of them broken")
    print(*missing, *broken, sep="\n", end="")
    sys.exit(bool(missing or broken))


if __name__ == "__main__":
    main()
