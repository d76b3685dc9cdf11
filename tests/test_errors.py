"""Messages, by table: each program raises, and the whole text is compared.

A program is compiled as `program.py`, so that the lines which messages name are those of its text.
"""

import re

import pytest

import imode
from imode import errors

MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: "
)
AMBIGUOUS = "Given that this use case is ambiguous and error-prone, it is forbidden."
SEVERAL = (
    "This view is the output of a function that returns multiple views. Such functions do not "
    "allow the output views to be modified inplace."
)
FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed).\nSaved intermediate values of the graph are freed when you "
    "call .backward() or autograd.grad()."
)
INSIDE = "one element of the written-to tensor refers to a single memory location. Please clone()"
INSIDE = f"unsupported operation: more than {INSIDE} the tensor before performing the operation."
BETWEEN = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
    "single memory location. Please clone() the tensor before performing the operation."
)

# name: (program, message). The program's first line is line 1.
CASES = {
    # ---- inference tensors ----
    "saved": (
        """
        x = imode.ones(2, requires_grad=True)
        with imode.inference_mode():
            i = imode.full((2,), 3.0)
        x * i
        """,
        "Inference tensors cannot be saved for backward.\n"
        "The tensor that mul needs for backward was created by full inside inference_mode entered "
        "at program.py:2.\n"
        "Ways out: compute with its .clone() or its .normal(), which are normal tensors;\n"
        "make it under no_grad instead of inference_mode;\n"
        "or, if no gradient is wanted, call mul inside an inference_mode block.",
    ),
    "saved, made by a composite": (
        """
        x = imode.ones(2, requires_grad=True)
        with imode.inference_mode():
            i = imode.nn.functional.softmin(imode.ones(2), 0)
        x * i
        """,
        "Inference tensors cannot be saved for backward.\n"
        "The tensor that mul needs for backward was created by softmin inside inference_mode "
        "entered at program.py:2.\n"
        "Ways out: compute with its .clone() or its .normal(), which are normal tensors;\n"
        "make it under no_grad instead of inference_mode;\n"
        "or, if no gradient is wanted, call mul inside an inference_mode block.",
    ),
    "saved, a view": (
        """
        x = imode.ones(2, requires_grad=True)
        with imode.inference_mode():
            i = imode.tensor([1.0, 2.0, 3.0])
        v = i[1:]
        x.div(v)
        """,
        "Inference tensors cannot be saved for backward.\n"
        "The tensor that div needs for backward was created by tensor inside inference_mode "
        "entered at program.py:2.\n"
        "Ways out: compute with its .clone() or its .normal(), which are normal tensors;\n"
        "make it under no_grad instead of inference_mode;\n"
        "or, if no gradient is wanted, call div inside an inference_mode block.",
    ),
    "write": (
        """
        @imode.inference_mode()
        def serve(x):
            return x @ x
        y = serve(imode.ones(2, 2))
        y.add_(1)
        """,
        "Inplace update to inference tensor outside InferenceMode is not allowed.\n"
        "The tensor that add_ writes was created by matmul inside inference_mode entered at "
        "program.py:1.\n"
        "Ways out: call add_ inside an inference_mode block;\n"
        "write to its .clone() or its .normal(), which are normal tensors;\n"
        "or make it under no_grad instead of inference_mode.",
    ),
    "write, out=": (
        """
        with imode.inference_mode():
            y = imode.empty(2)
        imode.mul(imode.ones(2), 2, out=y)
        """,
        "Inplace update to inference tensor outside InferenceMode is not allowed.\n"
        "The tensor that mul(out=) writes was created by empty inside inference_mode entered at "
        "program.py:1.\n"
        "Ways out: call mul(out=) inside an inference_mode block;\n"
        "write to its .clone() or its .normal(), which are normal tensors;\n"
        "or make it under no_grad instead of inference_mode.",
    ),
    "write, where the mode is turned off": (
        """
        with imode.inference_mode():
            y = imode.ones(2).exp()
            with imode.normal_mode():
                y.zero_()
        """,
        "Inplace update to inference tensor outside InferenceMode is not allowed.\n"
        "The tensor that zero_ writes was created by exp inside inference_mode entered at "
        "program.py:1.\n"
        "Ways out: leave the normal_mode block (entered at program.py:3) first;\n"
        "write to its .clone() or its .normal(), which are normal tensors;\n"
        "or make it under no_grad instead of inference_mode.",
    ),
    "requires_grad": (
        """
        with imode.inference_mode():
            y = imode.zeros(2)
        y.requires_grad_()
        """,
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.\n"
        "The tensor was created by zeros inside inference_mode entered at program.py:1.\n"
        "Ways out: t.clone().requires_grad_() or t.normal().requires_grad_(), normal tensors;\n"
        "or make it outside of the inference_mode block, or under no_grad.",
    ),
    "version": (
        """
        with imode.inference_mode():
            y = imode.zeros(2).detach()
        y._version
        """,
        "Inference tensors do not track version counter.\n"
        "The tensor was created by zeros inside inference_mode entered at program.py:1.\n"
        "Ways out: ask t.is_inference() first; .clone() outside of the mode, or .normal(),\n"
        "gives a tensor that has a version.",
    ),
    "data, inference into normal": (
        """
        with imode.inference_mode():
            y = imode.zeros(2)
        imode.ones(2).data = y
        """,
        "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
        "incompatible tensor type.\n"
        "The one given was created by zeros inside inference_mode entered at program.py:1.\n"
        "One of an inference tensor and a normal one would then see the other's writes.\n"
        "Ways out: t.data = u.clone(), outside of the mode, or t.copy_(u), which copies the "
        "elements.",
    ),
    "data, normal into inference": (
        """
        with imode.inference_mode():
            y = imode.zeros(2)
        y.data = imode.ones(2)
        """,
        "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
        "incompatible tensor type.\n"
        "The one set was created by zeros inside inference_mode entered at program.py:1.\n"
        "One of an inference tensor and a normal one would then see the other's writes.\n"
        "Ways out: t = u instead, or t.copy_(u), which copies the elements.",
    ),
    "set_ of an inference tensor": (
        """
        with imode.inference_mode():
            y = imode.zeros(2)
        imode.ones(2).set_(y)
        """,
        "set_(): one of self and source is an inference tensor and the other is not.\n"
        "The inference tensor was created by zeros inside inference_mode entered at "
        "program.py:1.\n"
        "Each would then see the other's writes, which no version counter would count.\n"
        "Ways out: t.set_(u.clone()) or t.set_(u.normal()); or t = u.",
    ),
    # ---- views made in a mode ----
    "view made in inference mode": (
        """
        x = imode.ones(2, 2, requires_grad=True) * 1
        with imode.inference_mode():
            v = x.view(4)
        v.add_(1)
        """,
        "A view was created in inference mode and is being modified inplace in normal mode. "
        f"{AMBIGUOUS}\n"
        "The view of shape [4] was created by view inside inference_mode entered at program.py:2.\n"
        "The write is add_ at program.py:4.\n"
        "Ways out: view and write both inside the inference_mode block (the write is not "
        "recorded),\n"
        "or both outside of it (it is recorded); or write to a .clone() of the view.",
    ),
    "view of a view made in inference mode": (
        """
        x = imode.ones(2, 2, requires_grad=True) * 1
        with imode.inference_mode():
            v = x.t()
        with imode.no_grad():
            w = v[0]
        w.mul_(2)
        """,
        "A view was created in inference mode and is being modified inplace in normal mode. "
        f"{AMBIGUOUS}\n"
        "The view of shape [2] was created by t inside inference_mode entered at program.py:2.\n"
        "The write is mul_ at program.py:6.\n"
        "Ways out: view and write both inside the inference_mode block (the write is not "
        "recorded),\n"
        "or both outside of it (it is recorded); or write to a .clone() of the view.",
    ),
    "view made in inference mode, base written": (
        """
        x = imode.ones(2, 2, requires_grad=True) * 1
        with imode.inference_mode():
            v = x.view(4)
        x.add_(1)
        v.grad_fn
        """,
        "A view was created in inference mode and its base or another view of its base has been "
        f"modified inplace in normal mode. {AMBIGUOUS}\n"
        "The view of shape [4] was created by view inside inference_mode entered at program.py:2.\n"
        "Ways out: view and write both inside the inference_mode block (the write is not "
        "recorded),\n"
        "or both outside of it (it is recorded); or write to a .clone() of the view.",
    ),
    "view made in no_grad": (
        """
        x = imode.ones(2, 2, requires_grad=True) * 1
        with imode.no_grad():
            v = x.view(4)
        v.add_(1)
        """,
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled. "
        f"{AMBIGUOUS}\n"
        "The view of shape [4] was created by view inside no_grad.\n"
        "The write is add_ at program.py:4.\n"
        "Ways out: view and write both inside the no_grad block (the write is not recorded),\n"
        "or both outside of it (it is recorded); or write to a .clone() of the view.",
    ),
    # ---- writes that are refused ----
    "one of several views, unbind": (
        """
        x = imode.ones(2, 3, requires_grad=True) * 1
        a, b = x.unbind()
        b.add_(1)
        """,
        f"Output 1 of Unbind is a view and is being modified inplace. {SEVERAL}\n"
        "The write is add_ at program.py:3, to a view of shape [3].\n"
        "Ways out: `t = t.add(...)`;\n"
        "or, to write to the base: `x.select(dim, 1).add_(...)`.",
    ),
    "one of several views, split": (
        """
        x = imode.ones(4, requires_grad=True) * 1
        x.split(2)[0].zero_()
        """,
        f"Output 0 of Split is a view and is being modified inplace. {SEVERAL}\n"
        "The write is zero_ at program.py:2, to a view of shape [2].\n"
        "Ways out: `t = t.clone().zero_(...)`;\n"
        "or, to write to the base: `x.narrow(dim, start, length).zero_(...)`.",
    ),
    "one of several views, base written": (
        """
        x = imode.ones(2, 3, requires_grad=True) * 1
        a, b = x.unbind()
        x.add_(1)
        a.grad_fn
        """,
        "Output 0 of Unbind is a view and its base or another view of its base has been modified "
        f"inplace. {SEVERAL}\n"
        "The view is of shape [3].\n"
        "Ways out: take the part by itself before the base is written: `t = x.select(dim, 0)`.",
    ),
    "leaf": (
        """
        w = imode.ones(2, 3, requires_grad=True)
        w += 1
        """,
        "a leaf Variable that requires grad is being used in an in-place operation.\n"
        "The write is add_ at program.py:2, to a leaf of shape [2, 3].\n"
        "To set or update it: `with imode.no_grad(): t.add_(...)`.\n"
        "To record the write, on a tensor made from it: `t = t.add(...)`.",
    ),
    "leaf, assigned": (
        """
        w = imode.ones(2, 3, requires_grad=True)
        w[0] = 1
        """,
        "a view of a leaf Variable that requires grad is being used in an in-place operation.\n"
        "The write is fill_ at program.py:2, to a view of a leaf of shape [3].\n"
        "To set or update it: `with imode.no_grad(): t.fill_(...)`.\n"
        "To record the write, on a tensor made from it: `t = t.clone().fill_(...)`.",
    ),
    "expanded": (
        """
        e = imode.ones(1).expand(3)
        e.add_(1)
        """,
        f"{INSIDE}\n"
        "The write is add_ at program.py:2, to a tensor of shape [3] and strides [0], as expand "
        "makes.\n"
        "Way out: `t = t.clone().add_(...)`, which has memory of its own for each element.",
    ),
    "expanded, out=": (
        """
        e = imode.ones(2, 1).expand(2, 3)
        imode.add(imode.ones(2, 3), 1, out=e)
        """,
        f"{INSIDE}\n"
        "The write is add(out=) at program.py:2, to a tensor of shape [2, 3] and strides [1, 0], "
        "as expand makes.\n"
        "Ways out: drop out= and use the result; or give it memory of its own: out=t.clone()",
    ),
    "overlap of what is read and written": (
        """
        t = imode.arange(4.0)
        t[1:].add_(t[:-1])
        """,
        f"{BETWEEN}\n"
        "The write is add_ at program.py:2, to memory that it also reads, at another offset or in "
        "another order.\n"
        "Way out: clone() the argument that is read: `t.add_(other.clone())`.",
    ),
    "view of a custom function": (
        """
        class Half(imode.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x[:1]
            @staticmethod
            def backward(ctx, grad):
                return grad
        x = imode.ones(2, requires_grad=True) * 1
        Half.apply(x).mul_(2)
        """,
        "Output 0 of Half is a view and is being modified inplace. This view was created inside a "
        "custom Function (or because an input was returned as-is), and handling the write would "
        "override the function's own backward.\n"
        "The write is mul_ at program.py:9, to a view of shape [1].\n"
        "Ways out: return a .clone() of the output from the custom function's forward;\n"
        "or `t = t.mul(...)`.",
    ),
    "out= of what requires grad": (
        """
        x = imode.ones(2, requires_grad=True)
        imode.add(x, 1, out=imode.ones(2))
        """,
        "add(): functions with out=... arguments don't support automatic differentiation, but one "
        "of the arguments requires grad.\n"
        "Ways out: drop out= and use the result; or call it under no_grad.",
    ),
    "detach_ of a view": (
        "(imode.ones(2, requires_grad=True) * 1)[0].detach_()",
        "Can't detach views in-place. Use detach() instead: it gives a tensor without history that "
        "shares the memory.",
    ),
    "requires_grad of a result": (
        "(imode.ones(2, requires_grad=True) * 1).requires_grad = False",
        "you can only change requires_grad flags of leaf variables. If you want to use a computed "
        "variable in a subgraph that doesn't require differentiation use "
        "var_no_grad = var.detach().",
    ),
    # ---- guards ----
    "guard that is not on": (
        """
        guard = imode.no_grad()
        with guard: pass
        guard.__exit__(None, None, None)
        """,
        "no_grad: this guard is not on, so it cannot be left. Use it as `with imode.no_grad(...):`,"
        " or call __enter__ first.",
    ),
    "guard of another thread": (
        """
        import threading
        guard, failed = imode.inference_mode(), []
        def leave():
            try:
                guard.__exit__(None, None, None)
            except RuntimeError as error:
                failed.append(error)
        with guard:
            thread = threading.Thread(target=leave)
            thread.start()
            thread.join()
        raise failed[0]
        """,
        "inference_mode: this guard was entered in another thread (at program.py:8). Modes are per "
        "thread: enter and leave a guard in the same one. Both threads keep theirs.",
    ),
    "illegal state": (
        "imode.set_local_keys(imode.DispatchKeySet(), imode.DispatchKeySet())",
        "illegal thread-local state: ADInplaceOrView cannot be dropped from the included set while "
        "Autograd is not excluded.\n"
        "With Autograd on, writes must go past the version counter, or a saved tensor could change "
        "unseen.\n"
        "Ways out: inference_mode drops both; AutoDispatchBelowADInplaceOrView excludes both.",
    ),
    # ---- backward ----
    "modified": (
        """
        x = imode.ones(2, requires_grad=True)
        y = x.exp()
        z = (y * y).sum()
        y.zero_()
        z.backward()
        """,
        f"{MODIFIED}[imode.FloatTensor [2]], which is output 0 of Zero, is at version 1; expected "
        "version 0 instead.\n"
        "Saved by MulBackward0 for its backward, at version 0.\n"
        "Written last by zero_ at program.py:4, to version 1.\n"
        "Ways out: use the functional form of the write, write to a .clone(), or write after the "
        "backward.\n"
        "imode.autograd.set_detect_anomaly(True) shows the line that saved.",
    ),
    "modified, in inference mode, twice, by an assignment": (
        """
        x = imode.ones(2, requires_grad=True)
        y = x * 1
        z = y.sin().sum()
        with imode.inference_mode():
            y.mul_(3)
            y[0] = 5.0
        z.backward()
        """,
        f"{MODIFIED}[imode.FloatTensor [2]], which is output 0 of Mul, is at version 2; expected "
        "version 0 instead.\n"
        "Saved by SinBackward0 for its backward, at version 0.\n"
        "Written last by copy_ at program.py:6, to version 2.\n"
        "Ways out: use the functional form of the write, write to a .clone(), or write after the "
        "backward.\n"
        "imode.autograd.set_detect_anomaly(True) shows the line that saved.",
    ),
    "modified, by out=": (
        """
        w = imode.ones(2, requires_grad=True)
        f = imode.ones(2)
        z = (w * f).sum()
        imode.add(f, 1, out=f)
        z.backward()
        """,
        f"{MODIFIED}[imode.FloatTensor [2]] is at version 1; expected version 0 instead.\n"
        "Saved by MulBackward0 for its backward, at version 0.\n"
        "Written last by add(out=) at program.py:4, to version 1.\n"
        "Ways out: use the functional form of the write, write to a .clone(), or write after the "
        "backward.\n"
        "imode.autograd.set_detect_anomaly(True) shows the line that saved.",
    ),
    "modified, by the package's own code": (
        """
        w = imode.ones(2, requires_grad=True)
        z = (w * w).sum()
        w.grad = imode.ones(2)
        step = imode.optim.SGD([w], lr=0.1).step
        step()
        z.backward()
        """,
        None,  # the operator is the optimizer's business; the line is the user's
    ),
    "saved and detached": (
        """
        x = imode.ones(2, requires_grad=True)
        y = x * 1
        z = y.sin().sum()
        y.detach_()
        z.backward()
        """,
        "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().\n"
        "The graph still needs what it was computed from (Sin saved it): use detach() and its "
        "result.",
    ),
    "freed": (
        """
        x = imode.ones(2, requires_grad=True)
        z = (x * x).sum()
        z.backward()
        z.backward()
        """,
        f"{FREED} The part already freed is MulBackward0.\n"
        "Ways out: retain_graph=True in the earlier call; or run the forward pass again.",
    ),
    "freed, inside of the mode": (
        """
        x = imode.ones(2, requires_grad=True)
        z = (x * x).sum()
        with imode.inference_mode():
            z.backward()
            z.backward()
        """,
        f"{FREED} The part already freed is MulBackward0.\n"
        "inference_mode is on here (entered at program.py:3): a graph made before it can be run "
        "in it, but none is made.\n"
        "Ways out: retain_graph=True in the earlier call; or run the forward pass again, outside "
        "of that block.",
    ),
    "no history": (
        "imode.ones(1).backward()",
        "element 0 of tensors does not require grad and does not have a grad_fn\n"
        "Ways out: make an input with requires_grad=True before computing from it;\n"
        "compute outside no_grad and inference_mode, for nothing is recorded in them.",
    ),
    "no history, in no_grad": (
        """
        with imode.no_grad():
            (imode.ones(1, requires_grad=True) * 2).backward()
        """,
        "element 0 of tensors does not require grad and does not have a grad_fn\n"
        "no_grad is on here (entered at program.py:1): nothing is recorded in it.\n"
        "Way out: run the forward pass outside of that block.",
    ),
    "no history, inside of the mode": (
        """
        with imode.inference_mode():
            loss = imode.ones(3, requires_grad=True).sum()
            loss.backward()
        """,
        "element 0 of tensors does not require grad and does not have a grad_fn\n"
        "The tensor was created by sum inside inference_mode entered at program.py:1.\n"
        "inference_mode is on here (entered at program.py:1): nothing is recorded in it.\n"
        "Way out: run the forward pass outside of that block.",
    ),
    "no history, made inside of the mode": (
        """
        x = imode.ones(3, requires_grad=True)
        with imode.inference_mode():
            loss = x.sum()
        imode.autograd.grad(loss, x)
        """,
        "element 0 of tensors does not require grad and does not have a grad_fn\n"
        "The tensor was created by sum inside inference_mode entered at program.py:2.\n"
        "Way out: run the forward pass outside of that block.",
    ),
}


def raised(program):
    """Run a program and return the message of what it raises."""
    lines = program.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    source = "\n".join(line[indent:] for line in lines)
    with pytest.raises(RuntimeError) as caught:
        exec(compile(source, "program.py", "exec"), {"imode": imode})
    return str(caught.value)


@pytest.mark.parametrize("name", CASES)
def test_whole_message(name):
    program, message = CASES[name]
    said = raised(program)
    assert len(said.splitlines()) <= 5
    if message is not None:
        assert said == message


def test_a_write_by_the_package_names_the_users_line():
    said = raised(CASES["modified, by the package's own code"][0])
    assert re.search(r"^Written last by \w+ at program.py:5, to version 1.$", said, re.M), said


def test_the_line_that_saved():
    program = """
    x = imode.ones(2, requires_grad=True)
    y = x * 1
    with imode.autograd.set_detect_anomaly(True):
        z = (
            y.sin()
        ).sum()
    y.add_(1)
    z.backward()
    """
    assert raised(program).splitlines()[1:] == [
        "Saved by SinBackward0 at program.py:5 for its backward, at version 0.",
        "Written last by add_ at program.py:7, to version 1.",
        "Ways out: use the functional form of the write, write to a .clone(), or write after the "
        "backward.",
    ]


# ---- who is named as the maker ----


def made_by(make):
    with imode.inference_mode():
        t = make()
    with pytest.raises(RuntimeError) as caught:
        t._version  # noqa: B018
    return re.search(r"created by (.*) inside", str(caught.value))[1]


X = imode.ones(2, 3)
NAMES = {
    "tensor": lambda: imode.tensor([1.0]),
    "ones": lambda: imode.ones(2),
    "arange": lambda: imode.arange(3),
    "randn": lambda: imode.randn(3),
    "from_numpy": lambda: imode.from_numpy(imode.ones(2).numpy()),
    "clone": lambda: imode.ones(2).clone(),
    "matmul": lambda: X @ X.t(),
    "linear": lambda: imode.nn.functional.linear(X, X),
    "add": lambda: X + 1,
    "sum": lambda: X.sum(),
    "where": lambda: imode.where(X > 0, X, X),
    "cat": lambda: imode.cat([X, X]),
    "softmax": lambda: X.softmax(-1),
    "max": lambda: X.max(dim=1).values,
    "var": lambda: X.var(),
    "layer_norm": lambda: imode.nn.functional.layer_norm(X, (3,)),
    "index_select": lambda: X.index_select(0, imode.tensor([0])),
    "ones, viewed": lambda: imode.ones(4).view(2, 2)[0],
    "ones, contiguous as it is": lambda: imode.ones(4).contiguous(),
}


@pytest.mark.parametrize("name", NAMES)
def test_makers_are_named(name):
    assert made_by(NAMES[name]) == name.partition(",")[0]


def test_gradients_made_inside_of_the_mode_name_the_backward():
    x = imode.ones(2, requires_grad=True)
    z = (x * x).sum()
    with imode.inference_mode():
        z.backward()
    with pytest.raises(RuntimeError, match=r"created by \w+ inside inference_mode entered at "):
        x.grad.add_(1)


# ---- the numbers behind the names ----


def test_places_and_operators_are_numbered_once():
    assert errors.place(0) is None
    assert errors.operator_name(0) is None
    number = errors.place_id("some.py", 3)
    assert errors.place_id("some.py", 3) == number
    assert errors.place(number) == "some.py:3"
    assert errors.place_parts(number) == ("some.py", 3)
    assert errors.place(1 << 30) is None
    assert errors.operator_name(errors.operator_id("mul")) == "mul"
    assert errors.operator_name(1 << 30) is None


def test_a_full_table_leaves_the_place_out(monkeypatch):
    monkeypatch.setattr(errors, "_MAX_PLACES", len(errors._places))
    assert errors.place_id("new.py", 1) == 0
    said = raised("""
    with imode.inference_mode():
        y = imode.ones(2)
    scope = {"imode": imode, "y": y}
    exec(compile("with imode.inference_mode(): z = y * 2", "newer.py", "exec"), scope)
    scope["z"]._version
    """)
    assert "The tensor was created by mul inside inference_mode.\n" in said


def test_only_questions_that_are_asked_are_answered():
    with pytest.raises(TypeError, match="'weather' is no question"):
        errors.answer(weather=lambda: 0)


def test_an_operator_without_a_kernel():
    with pytest.raises(NotImplementedError) as caught:
        raise errors.missing_kernel("add", "Meta", ["CPU"])
    assert str(caught.value) == (
        "Could not run 'add' with arguments from the 'Meta' backend. 'add' has kernels for: CPU.\n"
        "Register one for Meta, or move the arguments to a backend of that list."
    )
