"""Random number generators: PyTorch's on the CPU, bit for bit, state included."""
import os

import numpy as np

from imode import errors
from imode._core.atomic cimport claim, swap
from imode._core.parallel cimport skipping
from imode._core.type_names import class_name

cimport cython
cimport numpy as cnp
from cpython.pythread cimport (
    NOWAIT_LOCK, WAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock,
    PyThread_release_lock,
)
from libc.stdint cimport uint32_t, uint64_t

from imode._core.bind import name_generator_class
from imode._core.device import device as to_device
from imode._core.internals import array_of, wrap_array
from imode._core.tensor import Tensor

cnp.import_array()

cdef enum:
    STATE_SIZE = 5056    # bytes of a serialised state

_STATE = np.dtype({
    "names": ["seed", "left", "seeded", "next", "key", "normal", "has_normal", "float_normal",
              "has_float_normal"],
    "formats": ["u8", "i4", "i4", "u8", ("u8", 624), "f8", "i4", "f4", "?"],
    "offsets": [0, 8, 12, 16, 24, 5024, 5040, 5048, 5052],
    "itemsize": STATE_SIZE,
})

_ON_CPU = " Generators live on the CPU here: pass device='cpu'."


@cython.always_allow_keywords(False)
@cython.binding(False)
cdef class Generator:
    """A separate stream of random numbers.

    A new generator is seeded with 67280421310721; `manual_seed` and `seed` set another seed.
    Raises RuntimeError for a device other than the CPU.

    Thread-safety: a generator may be used from many threads; each call draws without interruption.

    >>> g = imode.Generator().manual_seed(3)
    >>> g.initial_seed()
    3
    """

    def __cinit__(self, device=None):
        self.freed = PyThread_allocate_lock()
        if self.freed == NULL:
            raise MemoryError("Generator: cannot allocate a lock")
        PyThread_acquire_lock(self.freed, NOWAIT_LOCK)
        self.seed_with(67280421310721)

    def __init__(self, device=None):
        if device is None:
            return
        if type(device) is int:
            raise errors.arguments.no_accelerator(_ON_CPU)
        if not isinstance(device, str) and not hasattr(device, "type"):
            raise TypeError(
                "Generator(): argument 'device' (position 1) must be torch.device, not "
                f"{class_name(device)}"
            )
        kind = to_device(device).type
        if kind == "meta":
            raise RuntimeError(f"META device type not an accelerator.{_ON_CPU}")
        if kind != "cpu":
            name = str(kind).upper()
            raise RuntimeError(
                f"Cannot get {name} generator without ATen_{kind} library.{_ON_CPU}")

    def __dealloc__(self):
        if self.freed != NULL:
            PyThread_release_lock(self.freed)     # a lock that is held may not be freed
            PyThread_free_lock(self.freed)

    cdef int acquire(self) except -1:
        if not claim(&self.held):
            with nogil:
                while swap(&self.held, 2) != 0:
                    PyThread_acquire_lock(self.freed, WAIT_LOCK)
        return 0

    cdef void release(self) noexcept:
        if swap(&self.held, 0) == 2:
            PyThread_release_lock(self.freed)

    cdef void seed_with(self, uint64_t seed) noexcept:
        mt_seed(&self.engine, seed)
        self.has_next_normal = self.has_next_float_normal = False

    @property
    def device(self):
        """The device on which the numbers are drawn: always the CPU."""
        return to_device("cpu")

    def manual_seed(self, seed):
        """Restart with `seed` (an int in [-2**63, 2**64)); return self.

        >>> imode.Generator().manual_seed(-1).initial_seed() == 2**64 - 1
        True
        """
        cdef uint64_t value
        if isinstance(seed, bool) or not hasattr(seed, "__index__"):
            raise RuntimeError(f"manual_seed expected a long, but got {class_name(seed)}")
        value = _to_seed(seed)
        self.acquire()
        self.seed_with(value)
        self.release()
        return self

    def seed(self):
        """Seed from the operating system's entropy; return the seed.

        >>> g = imode.Generator()
        >>> g.seed() == g.initial_seed()
        True
        """
        cdef uint64_t value = int.from_bytes(os.urandom(8), "little")
        self.acquire()
        self.seed_with(value)
        self.release()
        return value

    def initial_seed(self):
        """Return the seed with which the stream began.

        >>> imode.Generator().initial_seed()
        67280421310721
        """
        cdef uint64_t seed
        self.acquire()
        seed = self.engine.seed
        self.release()
        return seed

    def get_state(self):
        """Return the whole state as 5056 bytes, in PyTorch's layout.

        >>> imode.Generator().get_state().shape
        imode.Size([5056])
        """
        cdef cnp.ndarray state
        self.acquire()
        try:
            state = self._pack()
        finally:
            self.release()
        return wrap_array(state)

    def set_state(self, new_state):
        """Continue from a state that `get_state` returned. Raises RuntimeError for anything else.

        >>> g = imode.Generator()
        >>> state = g.get_state()
        >>> first = imode.rand(2, generator=g)
        >>> g.set_state(state)
        >>> imode.rand(2, generator=g).equal(first)
        True
        """
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {class_name(new_state)}")
        state = array_of(new_state)
        if state.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if not state.flags.c_contiguous:
            raise RuntimeError("RNG state must be contiguous")
        if state.size != STATE_SIZE:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_SIZE} but found the input RNG "
                f"state size to be {state.size}"
            )
        self.acquire()
        try:
            self._unpack(state.reshape(-1).view(_STATE)[0])
        finally:
            self.release()

    def _pack(self):
        cdef int i, position = self.engine.next
        packed = np.zeros(1, _STATE)
        cdef cnp.ndarray key = packed["key"][0]
        cdef uint64_t *words = <uint64_t *> cnp.PyArray_DATA(key)
        packed["seed"] = self.engine.seed
        packed["seeded"] = 1
        # "left": how many words there are until the next twist, plus one; "next" is 0 right after
        # seeding.
        packed["left"] = MT_N + 1 - position
        packed["next"] = 0 if self.engine.unread and position == MT_N else position
        for i in range(MT_N):
            words[i] = self.engine.key[i]
        packed["has_normal"] = self.has_next_normal
        packed["normal"] = self.next_normal if self.has_next_normal else 0.0
        packed["has_float_normal"] = self.has_next_float_normal
        packed["float_normal"] = self.next_float_normal if self.has_next_float_normal else 0.0
        return packed.view(np.uint8)

    def _unpack(self, state):
        cdef int i, left = state["left"]
        cdef uint64_t position = state["next"]
        cdef cnp.ndarray key = np.ascontiguousarray(state["key"])
        cdef uint64_t *words = <uint64_t *> cnp.PyArray_DATA(key)
        if left == 1:
            valid = position == 0 or position == <uint64_t> MT_N
        else:
            valid = 1 < left <= MT_N and position == <uint64_t> (MT_N + 1 - left)
        if state["seeded"] != 1 or not valid:
            raise RuntimeError("Invalid mt19937 state")
        self.engine.unread = left == 1 and position == 0
        self.engine.seed = state["seed"]
        self.engine.next = MT_N + 1 - left
        for i in range(MT_N):
            self.engine.key[i] = <uint32_t> words[i]
        self.has_next_normal = state["has_normal"] != 0
        self.next_normal = state["normal"]
        self.has_next_float_normal = bool(state["has_float_normal"])
        self.next_float_normal = state["float_normal"]

    def clone_state(self):
        """Return a new generator that continues from the same state.

        >>> g = imode.Generator()
        >>> twin = g.clone_state()
        >>> imode.rand(2, generator=g).equal(imode.rand(2, generator=twin))
        True
        """
        cdef Generator other = Generator()
        other.set_state(self.get_state())
        return other

    def graphsafe_get_state(self):
        """Return a generator with this one's state; on the CPU, a clone."""
        return self.clone_state()

    def graphsafe_set_state(self, state):
        """Copy another generator's state."""
        if not isinstance(state, Generator):
            raise TypeError(f"expected a Generator, but got {class_name(state)}")
        self.set_state(state.get_state())
        return self

    def get_offset(self):
        """Raise: a generator on the CPU has no offset."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset):
        """Raise: a generator on the CPU has no offset."""
        self.get_offset()

    def __reduce__(self):
        return type(self), (), self.get_state()

    def __setstate__(self, state):
        self.set_state(state)


cdef uint64_t _to_seed(seed) except? 0:
    cdef object value = int(seed)
    if not -(1 << 63) <= value < 1 << 64:
        raise errors.numbers.beyond_64_bits()
    return <uint64_t> (value & 0xFFFFFFFFFFFFFFFF)


name_generator_class(Generator)
default_generator = Generator()
default_generator.seed()


# A fork waits until no thread draws from it: in the child nobody would unlock it.
def _before_fork():
    (<Generator> default_generator).acquire()


def _after_fork():
    (<Generator> default_generator).release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


def manual_seed(seed):
    """Seed the default generator with int(seed); return it.

    >>> imode.manual_seed(0).initial_seed()
    0
    """
    return default_generator.manual_seed(int(seed))


def seed():
    """Seed the default generator from the system's entropy; return the seed.

    >>> imode.seed() == imode.initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed():
    """Return the seed with which the default generator began.

    >>> _ = imode.manual_seed(7)
    >>> imode.initial_seed()
    7
    """
    return default_generator.initial_seed()


def get_rng_state():
    """Return the state of the default generator as 5056 bytes.

    >>> imode.get_rng_state().shape
    imode.Size([5056])
    """
    return default_generator.get_state()


def set_rng_state(new_state):
    """Set the state of the default generator to one that `get_rng_state` returned.

    >>> state = imode.get_rng_state()
    >>> first = imode.rand(2)
    >>> imode.set_rng_state(state)
    >>> imode.rand(2).equal(first)
    True
    """
    default_generator.set_state(new_state)


cdef Generator _unused = Generator()    # of draws whose results nobody sees


cdef Generator choose(generator):
    if skipping():                # shapes alone: no number of a generator in use is spent
        return _unused
    if generator is None:
        return <Generator> default_generator
    if not isinstance(generator, Generator):
        raise TypeError(
            f"expected a Generator for argument 'generator', but got {class_name(generator)}"
        )
    return <Generator> generator
