"""Programs made for PyTorch run on imode: `import torch` gives it, in packages, too.

`finder` answers Python's imports, `modules` has what they get, `missing` what stands for names that
imode lacks, `command` runs a script, `children` is for the processes that a program starts.
"""

import sys

from imode._core import library_name
from imode._core.internals import show_as_torch
from imode._tensor.subclass import SubclassedMeta, TensorMeta
from imode.errors import names_of as _names_of

__all__ = ["VERSION", "stand_in_for_torch"]

VERSION = "2.13.0"  # the version of PyTorch's that imode follows


def stand_in_for_torch():
    """Let `import torch` give imode in this process, for packages that import it themselves.

    Call it before anything imports torch. A second call changes nothing. Names that imode lacks
    raise NotImplementedError when they are used, not when they are imported. Raises RuntimeError if
    PyTorch itself has been imported.

    >>> import subprocess, sys
    >>> program = "import imode; imode.stand_in_for_torch(); import torch; print(torch.float32)"
    >>> subprocess.run([sys.executable, "-c", program], capture_output=True).stdout.split()
    [b'torch.float32']
    """
    from imode.standing_in import finder

    real = sys.modules.get("torch")
    if real is not None and not finder.is_ours(real):
        raise RuntimeError(
            "stand_in_for_torch: PyTorch has been imported already, from "
            f"{getattr(real, '__file__', None)}; call imode.stand_in_for_torch() before "
            "anything imports torch, or run the program by python -m imode"
        )
    finder.install()
    library_name.name = "torch"
    show_as_torch()
    TensorMeta.__module__ = SubclassedMeta.__module__ = "torch"  # and so Tensor's


__getattr__ = _names_of(__name__)
