"""Inference mode."""

from . import Rule, Shown

REFUSED = "RuntimeError: Inplace update to inference tensor outside InferenceMode is not allowed"
UNTRACKED = "RuntimeError: Inference tensors do not track version counter"

RULES = [
    Rule(
        "A refused write has not happened",
        "values shape strides storage_offset shares_memory_with log others grad.values",
        raised=REFUSED,
        witness=[
            """
            with lib.inference_mode():
                v0 = lib.ones(2)
            v0.mul_(2)
            """,
            """
            with lib.inference_mode():
                v0 = lib.ones(2, 3)
            v0.as_strided_((3, 1), (1, 2), 1)
            """,
            """
            with lib.inference_mode():
                v0 = lib.ones(2)
            v1 = lib.zeros(2)
            v0.set_(v1)
            """,
            """
            v0 = lib.ones(2, requires_grad=True)
            with lib.inference_mode():
                v0.grad = lib.ones(2)
            v0.sum().backward()
            """,
            """
            with lib.inference_mode():
                v0 = lib.ones(2)
            v1 = (v0,)
            def f():
                v0.detach().mul_(2)
                log.append("written")
                v0.mul_(2)
            f()
            """,
        ],
    ),
    Rule(
        "A refused write is named first",
        "outcome",
        here=REFUSED,
        witness="""
            with lib.inference_mode():
                v0 = lib.ones(2, 1)
            v0.add_(lib.ones(2, 3))
        """,
    ),
    Rule(
        "`.data =` takes a tensor of the same kind",
        "outcome",
        here="RuntimeError: Attempted to call `variable.set_data.*",
        witness="""
            v0 = lib.ones(2)
            with lib.inference_mode():
                v1 = lib.ones(2)
            v0.data = v1
        """,
    ),
    Rule(
        "`detach()` and `.data` have no version counter either",
        "version",
        here=UNTRACKED,
        there="0",
        witness=[
            """
            with lib.inference_mode():
                v0 = lib.ones(2)
            v1 = v0.detach()
            """,
            """
            with lib.inference_mode():
                v0 = lib.ones(2)
            v1 = v0.data
            """,
        ],
    ),
    Rule(
        "No memory of both kinds",
        "outcome",
        here=r"RuntimeError: set_\(\): one of self and source is an inference tensor and the other "
        "is not",
        witness="""
            v0 = lib.zeros(2)
            with lib.inference_mode():
                v1 = lib.ones(2)
            v0.set_(v1)
        """,
    ),
    Rule(
        "A tensor over another's memory is of its kind",
        "is_inference version",
        operators="copy",
        cases=["in the mode", "left the mode"],
        witness=[
            """
            v0 = lib.ones(2)
            with lib.inference_mode():
                v1 = copy.copy(v0)
            """,
            """
            with lib.inference_mode():
                v0 = lib.ones(2)
            v1 = copy.copy(v0)
            """,
        ],
    ),
    Rule(
        "A tensor over another's memory is of its kind",
        "is_inference version",
        operators="from_dlpack",
        cases=["inference", "left the mode"],
        witness="""
            v0 = lib.ones(2)
            with lib.inference_mode():
                v1 = lib.from_dlpack(v0)
        """,
    ),
    *(
        Shown(
            "A tensor over another's memory is of its kind",
            "is_inference version",
            witness=f"""
                v0 = lib.ones(2); a = v0.numpy()
                with lib.inference_mode():
                    v1 = {call}
            """,
        )
        for call in (
            "lib.from_numpy(a)",
            "lib.as_tensor(a)",
            "lib.asarray(a)",
            "lib.frombuffer(a, dtype=lib.float32)",
        )
    ),
    Rule(
        "`view(dtype)` keeps the kind",
        "is_inference version",
        operators="view.dtype",
        cases=["inference", "left the mode"],
        witness="""
            v0 = lib.ones(2)
            with lib.inference_mode():
                v1 = v0.view(lib.int32)
        """,
    ),
    Rule(
        "Parameters are normal tensors",
        "is_inference version shares_memory_with strides storage_offset",
        operators="Parameter",
        cases=["in the mode", "left the mode"],
        witness=[
            """
            with lib.inference_mode():
                v0 = lib.ones(2, 3)
                v1 = lib.nn.Parameter(v0[1])
            """,
            """
            with lib.inference_mode():
                v0 = lib.ones(2, 3)
                v1 = lib.nn.Parameter(v0[:, ::2])
            """,
            """
            with lib.inference_mode():
                v0 = lib.nn.Parameter(lib.ones(2).expand(3, 2))
            """,
            """
            with lib.inference_mode():
                v0 = lib.ones(2)
            v1 = lib.nn.Parameter(v0, requires_grad=False)
            """,
        ],
    ),
    Rule(
        "Parameters are normal tensors",
        "outcome",
        operators="Parameter",
        there="RuntimeError: Setting requires_grad=True on inference tensor outside InferenceMode "
        "is not allowed",
        witness="""
            with lib.inference_mode():
                v0 = lib.ones(2)
            v1 = lib.nn.Parameter(v0)
        """,
    ),
    Rule(
        "Parameters are normal tensors",
        "outcome",
        statement=r".*(backward|grad)\(.*",  # in a hook that makes one
        here="ok",
        there="RuntimeError: Setting requires_grad=True on inference tensor outside InferenceMode "
        "is not allowed",
        witness="""
            v0 = lib.ones(2, requires_grad=True)
            with lib.inference_mode():
                v1 = lib.ones(2)
            v0.register_hook(lambda g: lib.nn.Parameter(v1))
            v0.sum().backward()
        """,
    ),
    Rule(
        "Parameters are normal tensors",
        "is_inference version",
        operators="deepcopy",
        cases=["in the mode"],
        here="False|0",
        there=f"True|{UNTRACKED}",
        witness="""
            v0 = lib.nn.Parameter(lib.ones(2))
            with lib.inference_mode():
                v1 = copy.deepcopy(v0)
        """,
    ),
    Rule(
        "Parameters are normal tensors",
        "is_inference",
        cases=["in the mode"],
        statement=r"v\d+ = N\.weight",
        here="False",
        witness="""
            with lib.inference_mode():
                N.double()
                v0 = N.weight
        """,
    ),
    *(
        Rule(
            "An inference tensor that requires grad is used like any other",
            "outcome",
            cases=["left the mode"],
            there=rf"RuntimeError: {inside}\(\): functions with out=... arguments don't support "
            "automatic differentiation, but one of the arguments requires grad",
            witness=f"""
                with lib.inference_mode():
                    v0 = lib.ones(2, dtype=lib.{dtype}, requires_grad=True)
                v1 = v0.{call}
            """,
        )
        for inside, call, dtype in [
            ("sum", "mean()", "float32"),
            ("abs", "abs()", "complex64"),
            ("logsumexp", "logsumexp(0)", "float32"),
        ]
    ),
    Shown(
        "An inference tensor that requires grad is used like any other",
        "requires_grad is_leaf grad_fn",
        witness="""
            with lib.inference_mode():
                v0 = lib.ones(2, requires_grad=True)
            v1 = v0.clone()
        """,
    ),
    Shown(
        "No guard's state is lost",
        "log",
        witness=[
            """
            def f():
                a = lib.no_grad(); b = lib.inference_mode()
                a.__enter__(); b.__enter__(); a.__exit__(None, None, None)
                return lib.is_grad_enabled()
            log.append(thread(f))
            """,
            """
            def f():
                a = lib.inference_mode()
                with a, a:
                    pass
                return lib.is_inference_mode_enabled()
            log.append(thread(f))
            """,
            """
            def f():
                with lib.enable_grad():
                    yield
                    yield lib.is_grad_enabled()
            def g():
                made = lib.no_grad()(f)()
                next(made)
                return next(made)
            log.append(thread(g))
            """,
        ],
    ),
    Shown(
        "A guard that does nothing warns",
        "warnings",
        witness="""
            see("warnings", warned(lib.no_grad))
        """,
    ),
    Shown(
        "The parts of an unsafe split share one version counter",
        "version",
        witness="""
            v0 = lib.ones(4)
            with lib.inference_mode():
                v1, v2 = v0.unsafe_split(2)
            v1.add_(1)
        """,
    ),
    Rule(
        "New tensors are at version 0",
        "version",
        cases=["left the mode", "one left the mode"],
        here="0",
        there=r"[1-9]\d*",
        witness="""
            with lib.inference_mode():
                v0 = lib.ones(2)
            see("version", v0.clone()._version)
        """,
    ),
]
