"""Print the requirements of the named extras of pyproject.toml, one per line."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())["project"]
for name in sys.argv[1:]:
    print(*project["optional-dependencies"][name], sep="\n")
