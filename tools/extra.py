"""Print the requirements of the named extras of pyproject.toml, shell-quoted."""

import shlex
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())["project"]
print(shlex.join(r for name in sys.argv[1:] for r in project["optional-dependencies"][name]))
