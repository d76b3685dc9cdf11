"""Nodes of the graph, hooks and saved tensors."""

from . import Rule, Shown

RULES = [
    Shown(
        "A function that is differentiated sees plain tensors",
        "log",
        witness=[
            """
            lib.func.grad(lambda x: (log.append(repr(x)), x.sum())[1])(lib.ones(2))
            """,
            """
            def f(x):
                y = x * 2
                y.register_hook(lambda g: log.append(g.shape))
                return y
            lib.func.jacrev(f)(lib.ones(3))
            """,
        ],
    ),
    Shown(
        "Saved attributes are shown as they are",
        "log",
        witness="""
            v0 = lib.ones(2, 3, requires_grad=True)
            log.append(v0.sum(-1).grad_fn._saved_dim)
        """,
    ),
    Shown(
        "A number in the place of a tensor is shown anew",
        "log",
        witness="""
            v0 = lib.ones(2, requires_grad=True); v1 = v0 * 3
            log.append(v1.grad_fn._saved_other is v1.grad_fn._saved_other)
        """,
    ),
    Rule(
        "`get_gradient_edge` works in inference mode",
        "outcome",
        there="AttributeError: 'NoneType' object has no attribute 'next_functions'",
        witness="""
            v0 = lib.ones(2, requires_grad=True)
            with lib.inference_mode():
                lib.autograd.graph.get_gradient_edge(v0)
        """,
    ),
    Shown(
        "`register_hooks` that fails changes nothing",
        "outcome",
        witness="""
            v0 = lib.ones(2, requires_grad=True); v1 = v0.exp()
            v1.grad_fn._raw_saved_result.register_hooks(lambda t: 1 / 0, lambda t: t)
            v1.sum().backward()
        """,
    ),
    Shown(
        "`register_multi_grad_hook` takes any tensors",
        "outcome log",
        witness="""
            v0 = lib.ones(2, requires_grad=True); v1 = v0 * 2
            hook = lambda grads: log.append(len(grads))
            lib.autograd.graph.register_multi_grad_hook([v0, v1], hook)
            lib.autograd.grad(v1.sum(), [v0, v1])
        """,
    ),
    Shown(
        "Inference tensors inside `allow_mutation_on_saved_tensors`",
        "outcome",
        witness="""
            def f():
                with lib.autograd.graph.allow_mutation_on_saved_tensors(), lib.inference_mode():
                    lib.ones(2).add_(1)
            f()
        """,
    ),
    Shown(
        "`create_graph=True` does not warn",
        "warnings",
        witness="""
            v0 = lib.ones((), requires_grad=True)
            see("warnings", warned(lambda: (v0 * v0).backward(create_graph=True)))
        """,
    ),
    Shown(
        "`checkpoint(debug=True)` changes nothing",
        "outcome",
        witness="""
            import importlib
            c = importlib.import_module(lib.__name__ + ".utils.checkpoint")
            c.create_selective_checkpoint_contexts
        """,
    ),
    Rule(
        "Errors of hooks name the node",
        "outcome",
        there="RuntimeError: Expected a proper Tensor but got None .*",
        witness="""
            v0 = lib.ones(2, requires_grad=True)
            def pack(t):
                global v1
                v1 = t
                return 1 / 0
            with lib.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
                v0.exp()
            v1.sum().backward()
        """,
    ),
    Rule(
        "Errors of hooks name the node",
        "outcome",
        here=r"RuntimeError: _\w+\(\): expected \w+ of the shape .*",
        witness="""
            v0 = lib.ones(2, 2, requires_grad=True); v1 = v0.unfold(-1, 2, 1)
            v1.register_hook(lambda g: (g.set_(lib.ones(2)), None)[1])
            v1.sum().backward()
        """,
    ),
    Rule(
        "Errors of hooks name the node",
        "outcome",
        there="RuntimeError: non-reduction path was assumed due to unbacked symbols .*",
        witness="""
            v0 = lib.ones(2, 3, requires_grad=True); v1 = (v0 * 1).expand(2, 2, 3)
            v1.register_hook(lambda g: setattr(g, "data", lib.ones(5)))
            v1.sum().backward()
        """,
    ),
    Rule(
        "Errors of hooks name the node",
        "outcome",
        here="RuntimeError: output with shape .* doesn't match the broadcast shape .*",
        there="RuntimeError: output with shape .* doesn't match the broadcast shape .*",
        witness="""
            v0 = lib.ones(2, 1, requires_grad=True); v1 = v0 * v0
            def hook(given, _):
                given[0].data = lib.ones(6)
                return tuple(g.clone() for g in given)
            v1.grad_fn.register_hook(hook)
            v1.sum().backward()
        """,
    ),
    Shown(
        "A hook that cannot be called is refused at once",
        "outcome",
        witness="""
            v0 = lib.ones(2, requires_grad=True)
            v0.register_hook(3)
        """,
    ),
    Rule(
        "A hook on a stale view is refused each time",
        "outcome",
        operators="register_hook",
        here=r"RuntimeError: Output \d+ of \w+ is a view and its base or another view .*",
        there="ok",
        witness="""
            v0 = lib.ones(2, 1, requires_grad=True).clone().view(-1); v1 = v0.unbind()[0]
            v0.floor_()
            v1.register_hook(lambda g: g)
            v1.register_hook(lambda g: g)
        """,
    ),
    Shown(
        "A hook is given the gradient of the tensor as it is",
        "log",
        witness="""
            v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 1
            v1.register_hook(lambda g: None)
            v1.t_()
            v1.register_hook(lambda g: log.append(tuple(g.shape)))
            v1.sum().backward()
        """,
    ),
    Shown(
        "An unpack hook may give another dtype",
        "outcome grad grad.dtype",
        witness="""
            v0 = lib.ones(2, requires_grad=True)
            with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t.double()):
                v1 = v0.softmax(0)
            v1.sum().backward()
        """,
    ),
    Rule(
        "A recurrent layer is one node",
        "grad_fn saved output_nr",
        operators="lstm.input gru.input rnn_tanh.input rnn_relu.input lstm.data gru.data "
        "rnn_tanh.data rnn_relu.data lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell",
        witness=[
            """
            v0 = lib.ones(2, 3, requires_grad=True); v1 = lib.ones(3, 3)
            v2 = lib.rnn_tanh_cell(v0, v0, v1, v1)
            """,
            """
            v0 = lib.ones(2, 2, requires_grad=True); v1 = lib.ones(8, 2)
            v2, v3 = lib.lstm_cell(v0, (v0, v0), v1, v1)
            """,
        ],
    ),
    Shown(
        "A recurrent layer is one node",
        "outcome",
        here=".*modified by an inplace operation.*",
        there="ok",
        witness="""
            v0 = lib.ones(2, 2, requires_grad=True); v1 = lib.ones(6, 2); c = v0[None]
            c = c, c[:, :1], (v1, v1), False, 1, 0.0, False, False, True
            lib.gru(*c)[0].mul_(2).sum().backward()
        """,
    ),
    Rule(
        "A recurrent layer is one node",
        "version",
        operators="lstm_cell gru_cell",
        here="0",
        there="[12]",
        witness="""
            v0 = lib.ones(2, 2); v1 = lib.ones(6, 2)
            see("version", lib.gru_cell(v0, v0, v1, v1)._version)
        """,
    ),
    Rule(
        "A recurrent layer is one node",
        "grad.strides",
        operators="lstm.input gru.input lstm_cell rnn_relu_cell rnn_tanh_cell",
        cases=["variant"],
        witness="""
            v0 = lib.ones(3, 2); v1 = lib.ones(2, 2).t().requires_grad_()
            G = lib.autograd.grad; c = v0[:2]
            see("grad.strides", G(lib.rnn_tanh_cell(v0, v0, c, v1).sum(), v1)[0].stride())
        """,
    ),
]
