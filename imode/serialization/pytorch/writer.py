"""Write PyTorch's zip archive, which `torch.load` reads."""

import io
import pickle
import sys
import zipfile
from collections import OrderedDict

from numpy.lib.array_utils import byte_bounds

from imode._core.device import device
from imode._core.dtype import dtype
from imode._core.formats import layout
from imode._core.internals import array_of, is_parameter
from imode._core.overriding import held
from imode._core.size import Size
from imode._core.storage import root_of
from imode._core.tensor import Tensor
from imode._tensor.copying import attributes_of
from imode.serialization.format import bytes_at
from imode.serialization.options import has_packages, location_tag, skips_data
from imode.serialization.pytorch.storages import TYPED

_ALIGNMENT = 64  # of storages in the file, so that they can be mapped to memory
_EPOCH = (1980, 1, 1, 0, 0, 0)  # an entry's time: the same file for the same object
_PADDING = b"FB"  # the id of the field of an entry that fills up


class _Global:
    """A name of PyTorch's, as the pickle has it."""

    def __init__(self, module, name):
        self.module = module
        self.name = name

    def __call__(self):  # only what can be called is pickled as a function
        raise NotImplementedError(self.name)


class _Saved:
    """A storage in the pickle: its type, key and number of elements."""

    def __init__(self, record, kind):
        self.record = record
        self.kind = kind  # the name of the dtype that its type tells, or None


class _Typed(dict):
    """{name: _Global}: one object for each name, so that the pickle has it once."""

    def __missing__(self, name):
        module, _, last = name.rpartition(".")
        self[name] = _Global(module, last)
        return self[name]


class _Pickler(pickle._Pickler):
    """Python's pickler, which gives tensors and what belongs to them PyTorch's names."""

    dispatch = dict(pickle._Pickler.dispatch)

    def __init__(self, f, protocol, storages):
        super().__init__(f, protocol)
        self.storages = storages
        self.names = _Typed()

    def persistent_id(self, obj):
        return obj.record if type(obj) is _Saved else None

    def reducer_override(self, obj):
        kind = type(obj)
        if kind is Tensor:
            return self.with_attributes(obj)
        if isinstance(obj, Tensor):
            plain, state = held(obj), dict(vars(obj))
            if is_parameter(obj):  # PyTorch keeps that as an attribute
                plain, state["_is_param"] = plain.detach(), True
                plain.requires_grad_(obj.requires_grad)
            build = self.names["torch._tensor._rebuild_from_type_v2"]
            function, arguments = self.tensor(plain)
            return build, (function, kind, arguments, state)
        if kind is Size:
            return self.names["torch.Size"], (tuple(obj),)
        if kind is device:
            where = (obj.type,) if obj.index is None else (obj.type, obj.index)
            return self.names["torch.device"], where
        if kind is layout:
            text = f"torch.{str(obj).rpartition('.')[2]}"
            return self.names["torch.serialization._get_layout"], (text,)
        return NotImplemented

    def with_attributes(self, obj):
        """What makes a tensor with the attributes that users have set."""
        build, arguments = self.tensor(obj)
        state = attributes_of(obj)
        if not state:
            return build, arguments
        if is_parameter(obj):
            return self.names["torch._utils._rebuild_parameter_with_state"], (*arguments, state)
        whole = self.names["torch._tensor._rebuild_from_type_v2"]
        return whole, (build, self.names["torch.Tensor"], arguments, state)

    def tensor(self, obj):
        """What makes a tensor: a function of PyTorch's and its arguments."""
        names, hooks = self.names, OrderedDict()
        if is_parameter(obj):
            data = obj.detach()
            build = names["torch._utils._rebuild_parameter"]
            return build, (data, obj.requires_grad, hooks)
        if obj.is_sparse:
            parts = obj.detach()
            data = parts._indices(), parts._values(), obj.size(), obj.is_coalesced()
            return names["torch._utils._rebuild_sparse_tensor"], (obj.layout, data)
        if obj.is_meta:
            build = names["torch._utils._rebuild_meta_tensor_no_storage"]
            return build, (obj.dtype, tuple(obj.shape), obj.stride(), obj.requires_grad)
        if not obj.is_cpu:
            raise TypeError(
                f"save: cannot save a tensor on {obj.device}: bring it to the CPU first"
            )
        saved, offset = self.storages.of(obj, names)
        arguments = (saved, offset, tuple(obj.shape), obj.stride(), obj.requires_grad, hooks)
        if saved.kind == obj.dtype.name:
            return names["torch._utils._rebuild_tensor_v2"], arguments
        return names["torch._utils._rebuild_tensor_v3"], (*arguments, obj.dtype)

    def save_name(self, obj):
        """Write a name."""
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj)

    def save_dtype(self, obj):
        """Write a dtype, which is a name."""
        self.save(self.names[f"torch.{str(obj).rpartition('.')[2]}"])

    dispatch[_Global] = save_name
    dispatch[dtype] = save_dtype


class _Storages:
    """The memory of an object's tensors: as in PyTorch, all of what a tensor is a view of."""

    def __init__(self):
        self.saved = {}  # the first and last address -> its _Saved
        self.bytes = []  # by key
        self.tensors = []  # which stay alive until all is written

    def of(self, tensor, names):
        """Return the storage of a tensor, and its offset there in elements."""
        self.tensors.append(tensor)
        array, item = array_of(tensor), tensor.itemsize
        root = root_of(array)
        bounds = byte_bounds(root) if root.size else (id(root),) * 2
        start = array.__array_interface__["data"][0]
        if array.size and (start - bounds[0]) % item:  # memory from elsewhere that begins between
            root, bounds = array, byte_bounds(array)
        offset = start - bounds[0] if array.size else 0
        if bounds not in self.saved:
            data = bytes_at(bounds[0], bounds[1] - bounds[0], root)
            typed = TYPED.get(tensor.dtype.name) if data.nbytes % item == 0 else None
            kind = names[f"torch.{typed}" if typed else "torch.storage.UntypedStorage"]
            count = data.nbytes // item if typed else data.nbytes
            place = location_tag(tensor.untyped_storage()) if has_packages() else "cpu"
            record = ("storage", kind, str(len(self.bytes)), place, count)
            self.saved[bounds] = _Saved(record, tensor.dtype.name if typed else None)
            self.bytes.append(data)
        return self.saved[bounds], offset // item


class Prepared:
    """An object, pickled; nothing is written yet, and nothing of it can fail but the writing."""

    def __init__(self, obj, protocol):
        stream = io.BytesIO()
        self.storages = _Storages()
        _Pickler(stream, protocol, self.storages).dump(obj)
        self.pickle = stream.getvalue()

    def write(self, f, folder):
        """Write the archive, whose entries are in `folder`, to a binary file."""
        with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:
            self._entry(archive, f"{folder}/data.pkl", self.pickle)
            self._entry(archive, f"{folder}/byteorder", sys.byteorder.encode())
            for i, data in enumerate(self.storages.bytes):
                if skips_data():
                    data = bytes(len(data))
                self._entry(archive, f"{folder}/data/{i}", data)
            self._entry(archive, f"{folder}/version", b"3\n")

    def _entry(self, archive, name, data):
        entry = zipfile.ZipInfo(name, _EPOCH)
        entry.file_size = len(data)
        large = len(data) >= zipfile.ZIP64_LIMIT
        start = archive.start_dir + 30 + len(name.encode()) + (20 if large else 0) + 4
        padding = -start % _ALIGNMENT
        entry.extra = _PADDING + padding.to_bytes(2, "little") + b"\0" * padding
        with archive.open(entry, "w", force_zip64=large) as f:
            f.write(memoryview(data))
