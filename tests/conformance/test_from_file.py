"""Vectors over the bytes of a file: in both libraries."""

import pytest

from .side_by_side import run, same


def outcome(function):
    try:
        return function()
    except Exception as raised:
        return [type(raised).__name__, str(raised).splitlines()[0]]


def test_from_file(lib, torch, tmp_path):
    def program(lib):
        path, new = str(tmp_path / "x"), str(tmp_path / lib.__name__)
        (tmp_path / "x").write_bytes(bytes(range(16)))
        seen = [
            lib.from_file(path, size=4, dtype=lib.int32),
            lib.from_file(path),
            lib.from_file(path, False, 3),
        ]
        seen += [lib.from_file(path.encode(), None, 2, dtype=lib.bfloat16).float()]
        for call in (
            lambda: lib.from_file(path, size=5), lambda: lib.from_file(path + "?", size=5),
            lambda: lib.from_file(3, size=1), lambda: lib.from_file(path, size=1, pin_memory=True),
        ):  # fmt: skip
            seen.append(outcome(call))
        grows = lib.from_file(new, shared=True, size=3)
        grows[1] = 2
        private = lib.from_file(new, size=3)
        private[0] = 5
        seen += [lib.from_file(new, size=3), private, (tmp_path / lib.__name__).stat().st_size]
        leaf = lib.from_file(new, size=1, requires_grad=True)
        with lib.inference_mode():
            seen.append(lib.from_file(new, size=1).is_inference())
        return [*seen, leaf.requires_grad, leaf.is_leaf, leaf._version, leaf.is_inference()]

    same(run(program, lib), run(program, torch))


def test_elsewhere(lib, tmp_path):
    (tmp_path / "x").write_bytes(b"1234")
    with pytest.raises(NotImplementedError):
        lib.from_file(str(tmp_path / "x"), size=1, device="meta")
