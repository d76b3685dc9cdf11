"""Advice on a script: `python -m imode advise script.py`.

`observer` watches it run, `regions` and `conclude` turn that into findings, `report` prints them,
`command` is the command.
"""
