"""Lists of tensors grouped by device and dtype, as optimizers of others group them."""

from imode._core.tensor import Tensor

_foreach_supported_types = [Tensor]


def _get_foreach_kernels_supported_devices():
    return []  # here a loop is as fast


def _get_fused_kernels_supported_devices():
    return []


def _device_has_foreach_support(device):
    return False


def _has_foreach_support(tensors, device):
    return False


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """Return {(device, dtype): (the lists, of these tensors alone, their places)}.

    The first list says where each place belongs; others may have None there.
    """
    groups = {}
    for i, entries in enumerate(zip(*tensorlistlist, strict=True)):
        key = entries[0].device, entries[0].dtype
        lists, places = groups.setdefault(key, ([[] for _ in entries], []))
        for each, entry in zip(lists, entries, strict=True):
            each.append(entry)
        if with_indices:
            places.append(i)
    return groups
