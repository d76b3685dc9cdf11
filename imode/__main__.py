"""`python -m imode script.py` runs a program in which `import torch` gives imode.

`python -m imode <command>`: each command is a module with `main(arguments)` and a `SUMMARY`.
"""

import importlib
import sys

COMMANDS = {"advise": "imode.advise.command", "check": "imode.standing_in.check"}


def main(arguments):
    """Run a command; returns the exit status."""
    if arguments and arguments[0] in COMMANDS:
        return importlib.import_module(COMMANDS[arguments[0]]).main(arguments[1:])
    from imode.standing_in import command

    if command.runs(arguments):
        return command.main(arguments)
    asked = not arguments or arguments[0] in ("-h", "--help")
    if not asked:
        print(f"python -m imode: there is no command and no file {arguments[0]!r}", file=sys.stderr)
    print(
        f"usage: python -m imode {command.USAGE}\n"
        "       runs a program in which `import torch` gives imode\n"
        "or:    python -m imode <command> ...\n\ncommands:",
        file=sys.stdout if asked else sys.stderr,
    )
    for name, module in COMMANDS.items():
        summary = importlib.import_module(module).SUMMARY
        print(f"  {name:<8} {summary}", file=sys.stdout if asked else sys.stderr)
    return 0 if asked else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
