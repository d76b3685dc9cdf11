"""Maxima put back, windows at random places: see `tests/conformance/named/spatial.py`."""

SAMPLES = {}
