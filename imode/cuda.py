"""What scripts written for PyTorch ask about CUDA, which does not exist here."""


def is_available():
    """False: tensors live on the CPU.

    >>> imode.cuda.is_available()
    False
    """
    return False


def device_count():
    """0."""
    return 0


def is_initialized():
    """False."""
    return False


def manual_seed(seed):
    """Do nothing: there is no CUDA generator to seed."""


manual_seed_all = manual_seed


def synchronize(device=None):
    """Do nothing: every operation has finished when it returns."""


def empty_cache():
    """Do nothing: there is no CUDA memory."""
