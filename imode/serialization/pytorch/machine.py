"""A reader of pickles that runs nothing: it knows the opcodes of data, and calls what is listed.

Note [Pickles without code]
A pickle is a program for a machine with a stack. Python's own machine imports and calls whatever
the program names. This one looks names up in a table (`known.py`), calls only the functions of that
table, and knows no opcode that does more. What it builds takes no more memory than the pickle has
bytes, times a constant: each opcode makes one object of a fixed size or copies bytes of the file,
and what copies a container (`set(items)`) spends from an allowance of as many elements as there are
bytes. Keys are hashed, and Python hashes nested tuples by recursion in C, so keys are nested at
most `KEY_DEPTH` deep.
"""

import pickle
import struct

KEY_DEPTH = 20
_PLAIN = {str, int, float, bool, bytes, complex, type(None)}


class Machine:
    """Runs one pickle of `data`, a bytes-like object.

    names: has `find(module, name)`, `call(function, args, machine)`, `new(cls, args, machine)` and
    `build(obj, state)`. persistent: a function of an id, or None.
    """

    def __init__(self, data, names, persistent=None, at=0):
        self.data = data
        self.at = at
        self.names = names
        self.persistent = persistent
        self.stack = []
        self.marks = []
        self.memo = {}
        self.allowance = len(data)

    def run(self):
        """Return the object; `at` is then the byte after the pickle."""
        data, operations = self.data, _OPERATIONS
        try:
            while True:
                opcode = data[self.at]
                self.at += 1
                if opcode == _STOP:
                    if len(self.stack) != 1 or self.marks:
                        raise self.error("it stops with something else than one object")
                    return self.stack.pop()
                operations[opcode](self)
        except (IndexError, struct.error):
            raise self.error("cut short, or it takes what is not there") from None
        except KeyError:
            raise self.error(f"unsupported opcode {data[self.at - 1]:#04x}") from None

    def error(self, text):
        """An error at the current byte."""
        return pickle.UnpicklingError(f"{text} (byte {self.at} of the pickle)")

    def spend(self, count):
        """Count elements that a call copies; see Note [Pickles without code]."""
        self.allowance -= count
        if self.allowance < 0:
            raise self.error("it copies more elements than the pickle has bytes")

    def take(self, count):
        """Return the next bytes."""
        end = self.at + count
        if count < 0 or end > len(self.data):
            raise self.error(
                f"cut short: {count} bytes are wanted, {len(self.data) - self.at} left"
            )
        piece = self.data[self.at : end]
        self.at = end
        return bytes(piece)

    def number(self, form):
        """Return the next number, packed as `struct` says."""
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def line(self):
        """Return the bytes up to the next line feed."""
        end = bytes(self.data[self.at : self.at + 100_000]).find(b"\n")
        if end < 0:
            raise self.error("a line does not end")
        text = self.take(end)
        self.at += 1
        return text

    def text(self, raw):
        """Decode a string as Python's pickle does."""
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise self.error("a string is not UTF-8") from None

    def items(self):
        """Take what lies above the last mark."""
        at = self.marks.pop()
        if at > len(self.stack):
            raise self.error("it takes what is not there")
        found = self.stack[at:]
        del self.stack[at:]
        return found

    def key(self, obj, depth=0):
        """Check that an object can be hashed without running code or out of the C stack."""
        kind = type(obj)
        if kind in _PLAIN:
            return obj
        if kind in (tuple, frozenset) and depth < KEY_DEPTH:
            self.spend(len(obj))
            for item in obj:
                self.key(item, depth + 1)
            return obj
        if kind not in (tuple, frozenset) and self.names.is_key(obj):
            return obj
        raise self.error(f"a {kind.__name__} cannot be a key here")

    def keys(self, objects):
        """Check several."""
        for obj in objects:
            self.key(obj)
        return objects

    # ---- operations, by what they do ----

    def put(self, index):
        """Keep the top of the stack under a number."""
        self.memo[index] = self.stack[-1]

    def get(self, index):
        """Push what is kept under a number."""
        if index not in self.memo:
            raise self.error(f"nothing is kept as number {index}")
        self.stack.append(self.memo[index])

    def integer(self, text):
        """Parse a line of digits."""
        try:
            return int(text)
        except ValueError:
            raise self.error(f"not an integer: {text[:40]!r}") from None

    def set_items(self, items):
        """Store keys and values, in turn, in the dict on top."""
        target = self.stack[-1]
        if not isinstance(target, dict) or len(items) % 2:
            raise self.error(f"items for a {type(target).__name__}")
        for i in range(0, len(items), 2):
            target[self.key(items[i])] = items[i + 1]

    def append(self, items):
        """Append to the list on top."""
        target = self.stack[-1]
        if type(target) is not list:
            raise self.error(f"elements for a {type(target).__name__}")
        target.extend(items)

    def add(self, items):
        """Add to the set on top."""
        target = self.stack[-1]
        if type(target) is not set:
            raise self.error(f"elements for a {type(target).__name__}")
        target.update(self.keys(items))

    def reduce(self):
        """Call what is below the arguments."""
        args = self.stack.pop()
        function = self.stack.pop()
        if type(args) is not tuple:
            raise self.error(f"arguments are a {type(args).__name__}")
        self.stack.append(self.names.call(function, args, self))

    def new(self, args):
        """Make an object of the class on top."""
        cls = self.stack.pop()
        if type(args) is not tuple:
            raise self.error(f"arguments are a {type(args).__name__}")
        self.stack.append(self.names.new(cls, args, self))

    def build(self):
        """Give an object its state."""
        state = self.stack.pop()
        self.names.build(self.stack[-1], state, self)

    def global_(self, module, name):
        """Push what a name stands for."""
        if type(module) is not str or type(name) is not str:
            raise self.error("a name that is no string")
        self.stack.append(self.names.find(module, name))

    def persist(self):
        """Exchange an id for what it stands for."""
        if self.persistent is None:
            raise self.error("a persistent id in a pickle that has none")
        self.stack.append(self.persistent(self.stack.pop()))


_STOP = pickle.STOP[0]


def _long(machine, count):
    return int.from_bytes(machine.take(count), "little", signed=True)


def _int_line(machine):
    text = machine.line()
    return {b"00": False, b"01": True}[text] if text in (b"00", b"01") else machine.integer(text)


def _float_line(machine):
    text = machine.line()
    try:
        return float(text)
    except ValueError:
        raise machine.error(f"not a number: {text[:40]!r}") from None


def _push(make):
    def operation(machine):
        machine.stack.append(make(machine))

    return operation


def _tuple_of(count):
    def operation(machine):
        stack = machine.stack
        if len(stack) < count:
            raise IndexError
        stack[-count:] = [tuple(stack[-count:])]

    return operation


def _popped(machine):
    if machine.marks and machine.marks[-1] == len(machine.stack):
        machine.marks.pop()
    else:
        machine.stack.pop()


def _dict_of(machine):
    items = machine.items()
    machine.stack.append({})
    machine.set_items(items)


def _pair(machine):
    value = machine.stack.pop()
    key = machine.stack.pop()
    machine.set_items([key, value])


def _one(machine):
    item = machine.stack.pop()
    machine.append([item])


def _stack_global(machine):
    name = machine.stack.pop()
    machine.global_(machine.stack.pop(), name)


def _new_with_keywords(machine):
    if machine.stack.pop() != {}:
        raise machine.error("keyword arguments of a class")
    machine.new(machine.stack.pop())


# How each opcode of pickle's protocols 0 to 5 is done; those that are not here are refused.
_BY_NAME = {
    "PROTO": lambda m: m.take(1),
    "FRAME": lambda m: m.take(8),
    "MARK": lambda m: m.marks.append(len(m.stack)),
    "POP": _popped,
    "POP_MARK": lambda m: m.items() and None,
    "DUP": lambda m: m.stack.append(m.stack[-1]),
    "NONE": _push(lambda m: None),
    "NEWTRUE": _push(lambda m: True),
    "NEWFALSE": _push(lambda m: False),
    "INT": _push(_int_line),
    "LONG": _push(lambda m: m.integer(m.line().removesuffix(b"L"))),
    "BININT": _push(lambda m: m.number("<i")),
    "BININT1": _push(lambda m: m.number("<B")),
    "BININT2": _push(lambda m: m.number("<H")),
    "LONG1": _push(lambda m: _long(m, m.number("<B"))),
    "LONG4": _push(lambda m: _long(m, m.number("<i"))),
    "FLOAT": _push(_float_line),
    "BINFLOAT": _push(lambda m: m.number(">d")),
    "UNICODE": _push(lambda m: m.line().decode("raw-unicode-escape", "replace")),
    "BINUNICODE": _push(lambda m: m.text(m.take(m.number("<I")))),
    "SHORT_BINUNICODE": _push(lambda m: m.text(m.take(m.number("<B")))),
    "BINUNICODE8": _push(lambda m: m.text(m.take(m.number("<Q")))),
    "BINSTRING": _push(lambda m: m.text(m.take(m.number("<i")))),
    "SHORT_BINSTRING": _push(lambda m: m.text(m.take(m.number("<B")))),
    "BINBYTES": _push(lambda m: m.take(m.number("<I"))),
    "SHORT_BINBYTES": _push(lambda m: m.take(m.number("<B"))),
    "BINBYTES8": _push(lambda m: m.take(m.number("<Q"))),
    "BYTEARRAY8": _push(lambda m: bytearray(m.take(m.number("<Q")))),
    "EMPTY_TUPLE": _push(lambda m: ()),
    "EMPTY_LIST": _push(lambda m: []),
    "EMPTY_DICT": _push(lambda m: {}),
    "EMPTY_SET": _push(lambda m: set()),
    "TUPLE": _push(lambda m: tuple(m.items())),
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "LIST": _push(lambda m: m.items()),
    "DICT": _dict_of,
    "FROZENSET": _push(lambda m: frozenset(m.keys(m.items()))),
    "APPEND": _one,
    "APPENDS": lambda m: m.append(m.items()),
    "SETITEM": _pair,
    "SETITEMS": lambda m: m.set_items(m.items()),
    "ADDITEMS": lambda m: m.add(m.items()),
    "PUT": lambda m: m.put(m.integer(m.line())),
    "BINPUT": lambda m: m.put(m.number("<B")),
    "LONG_BINPUT": lambda m: m.put(m.number("<I")),
    "MEMOIZE": lambda m: m.put(len(m.memo)),
    "GET": lambda m: m.get(m.integer(m.line())),
    "BINGET": lambda m: m.get(m.number("<B")),
    "LONG_BINGET": lambda m: m.get(m.number("<I")),
    "GLOBAL": lambda m: m.global_(m.text(m.line()), m.text(m.line())),
    "STACK_GLOBAL": _stack_global,
    "REDUCE": Machine.reduce,
    "NEWOBJ": lambda m: m.new(m.stack.pop()),
    "NEWOBJ_EX": _new_with_keywords,
    "BUILD": Machine.build,
    "BINPERSID": Machine.persist,
}
_OPERATIONS = {getattr(pickle, name)[0]: operation for name, operation in _BY_NAME.items()}
