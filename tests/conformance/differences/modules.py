"""Modules, optimizers and data."""

from . import Shown

RULES = [
    Shown(
        "A loader's workers have pipes of their own",
        "log",
        witness="""
            loaded = iter(lib.utils.data.DataLoader(range(2), num_workers=1))
            log.append(hasattr(loaded, "_worker_result_queue") and len(list(loaded)))
        """,
    ),
    Shown(
        "A model made in inference mode can be trained",
        "is_inference version",
        witness="""
            with lib.inference_mode():
                v0 = lib.nn.Linear(2, 2).weight
        """,
    ),
    Shown(
        "A failed `load_state_dict` writes nothing",
        "log",
        witness="""
            state = {"weight": lib.zeros(2, 3), "bias": lib.zeros(7)}
            L.load_state_dict(state)
            log.append(bool((L.weight == 0).all()))
        """,
    ),
    Shown(
        "Parameters, buffers and children stand in `__dict__`",
        "log",
        witness="""
            log.append("weight" in L.__dict__)
        """,
    ),
    Shown(
        "A registered name wins over a class attribute",
        "log",
        witness="""
            class M(lib.nn.Linear):
                pass
            m = M(2, 2)
            M.weight = 3
            log.append(type(m.weight).__name__)
        """,
    ),
    Shown(
        "`Sequential` calls `forward`",
        "log",
        witness="""
            class M(lib.nn.Module):
                def forward(self, x):
                    return x
            s = lib.nn.Sequential(M())
            M.__call__ = lambda self, x: 3
            log.append(type(s(lib.ones(2))).__name__)
        """,
    ),
    Shown(
        "Optimizers have one implementation",
        "outcome",
        witness="""
            v0 = lib.ones(2, requires_grad=True)
            lib.optim.SGD([v0], lr=0.1, differentiable=True)
        """,
    ),
    Shown(
        "Singular samples of `Wishart` are drawn again",
        "log",
        witness="""
            import warnings
            seen = []
            with warnings.catch_warnings():
                warnings.showwarning = lambda *args: seen.append(args)
                warnings.simplefilter("always")
                lib.distributions.Wishart(3.0, lib.eye(2)).sample()
            log.append(len(seen))
        """,
    ),
    Shown(
        "An expanded `Multinomial` has its entropy",
        "outcome",
        witness="""
            v0 = lib.distributions.Multinomial(2, lib.ones(2)).expand((3,)).entropy()
        """,
    ),
]
