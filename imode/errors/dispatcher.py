"""The dispatcher: missing kernels, illegal local keys."""


def missing_kernel(op, key, available):
    """No kernel of `op` is registered for `key`."""
    have = ", ".join(available) if available else "none"
    return NotImplementedError(
        f"Could not run '{op}' with arguments from the '{key}' backend. "
        f"'{op}' has kernels for: {have}.\n"
        f"Register one for {key}, or move the arguments to a backend of that list."
    )


def illegal_state():
    """ADInplaceOrView would be dropped from the included set while Autograd is not excluded."""
    return RuntimeError(
        "illegal thread-local state: ADInplaceOrView cannot be dropped from the included set while "
        "Autograd is not excluded.\n"
        "With Autograd on, writes must go past the version counter, or a saved tensor could change "
        "unseen.\n"
        "Ways out: inference_mode drops both; AutoDispatchBelowADInplaceOrView excludes both."
    )
