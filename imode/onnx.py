"""Export to ONNX, which is not here: the question that modules ask while they compute."""

from imode.errors import names_of as _names_of

__all__ = ["is_in_onnx_export"]


def is_in_onnx_export():
    """False.

    >>> imode.onnx.is_in_onnx_export()
    False
    """
    return False


__getattr__ = _names_of(__name__)
