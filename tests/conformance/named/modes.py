"""The guards: both tables of the rules, nesting, parameters and buffers, threads."""

PROGRAMS = {
    # ---- inside: the first table of the rules, every cell ----
    "inside: functional, on normal and inference tensors": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = lib.ones(2, 3)
        with lib.inference_mode():
            v2 = v0 + v1
            v3 = v2 * v2
            v4 = lib.ones(2, requires_grad=True)
            v5 = v4 * 2
    """,
    "inside: views of normal tensors are normal": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2
        with lib.inference_mode():
            v2 = v0.view(-1)
            v3 = v1[0]
            v4 = v3[1:]
            v5, v6 = v1.unbind(0)
        v7 = v2 * 2
        v8 = v3 * 2
        v3.add_(1)
        v2.add_(1)
        v5.add_(1)
    """,
    "inside: views of inference tensors are inference tensors": """
        with lib.inference_mode():
            v0 = lib.ones(2, 3)
            v1 = v0.view(-1)
            v2 = v1[1:]
        v3 = v0[0]
        v4 = v3 + 1
        v3.add_(1)
        v0._version
    """,
    "inside: in-place bumps normal tensors only": """
        v0 = lib.ones(2, 3); v1 = lib.ones(2, 3, requires_grad=True); v2 = v1 * 2
        with lib.inference_mode():
            v0.add_(1)
            v1.add_(1)
            v2.add_(1)
            v3 = lib.ones(2, 3)
            v3.add_(1)
            v3[0] = 5
            v0[0] = 5
        v2.sum().backward()
    """,
    "inside: out= into normal and inference tensors": """
        v0 = lib.ones(3); v1 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v2 = lib.zeros(3)
            lib.add(v0, v1, out=v2)
            lib.add(v2, v2, out=v0)
            lib.add(v0, v0, out=v1)
        lib.add(v0, v0, out=v2)
    """,
    # ---- outside: the second table ----
    "outside: functional that saves nothing": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v1 = lib.ones(3)
        v2 = v1 + 1
        v3 = v0 + v1
        v4 = v1 * 2
        v3.sum().backward()
    """,
    "outside: functional that must save": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v1 = lib.ones(3)
        v2 = v0 * v1
        v2 = v1 * v0
        v3 = lib.addcmul(v0, v1, v1)
        v4 = lib.where(v1 > 0, v0, v1)
        v5 = v0.detach() * v1
        v6 = v1.clone() * v0
    """,
    "outside: views are allowed and not recorded": """
        with lib.inference_mode():
            v0 = lib.ones(2, 3)
        v1 = v0.view(-1)
        v2 = v0[0]
        v3, v4 = v0.unbind(0)
        v5 = v0.t()
        v6 = v0.detach()
        v7 = v0.data
    """,
    "outside: in-place, out=, requires_grad_, version": """
        v0 = lib.ones(3)
        with lib.inference_mode():
            v1 = lib.ones(3)
        v1.add_(1)
        v1[0] = 1
        v1.copy_(v0)
        lib.add(v0, v0, out=v1)
        v1.requires_grad_()
        v1.requires_grad = True
        v1._version
        v1.requires_grad_(False)
        v1.t_()
        v1.detach_()
        v1.zero_()
    """,
    "outside: clone gives a normal tensor": """
        with lib.inference_mode():
            v0 = lib.ones(3)
            v1 = v0.clone()
        v2 = v0.clone()
        v2.requires_grad_()
        v3 = (v2 * v2).sum()
        v3.backward()
    """,
    "outside: no_grad with inference tensors": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v1 = lib.ones(3)
        with lib.no_grad():
            v2 = v0 * v1
            v1.add_(1)
            v3 = v1[0]
        v2.requires_grad_()
    """,
    "an inference tensor that requires grad is resized as any": """
        with lib.inference_mode():
            v0 = lib.ones(2, 3, requires_grad=True)
            v0.resize_(3, 2)
        v0.resize_(3, 2)
        v0.resize_(6)
    """,
    # ---- nesting, numbers, threads ----
    "nested on and off": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v1 = v0 * 2
            with lib.inference_mode(False):
                v2 = v0 * 2
                v3 = v0 * v1
                v1.add_(1)
                with lib.inference_mode():
                    v4 = v0 * v1
            with lib.enable_grad():
                v5 = v0 * 2
            with lib.no_grad():
                v6 = v0 * 2
        v7 = v0 * 2
        v2.sum().backward()
    """,
    "no_grad and enable_grad around each other": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.no_grad():
            v1 = v0 * 2
            with lib.enable_grad():
                v2 = v0 * 2
                with lib.set_grad_enabled(False):
                    v3 = v0 * 2
            with lib.inference_mode():
                v4 = v0 * 2
            v5 = v0 * 2
    """,
    "set_grad_enabled as a function": """
        v0 = lib.ones(3, requires_grad=True)
        v1 = lib.set_grad_enabled(False)
        v2 = v0 * 2
        v1 = lib.set_grad_enabled(True)
        v3 = v0 * 2
    """,
    "a number beside an inference tensor that requires grad is recorded": """
        with lib.inference_mode():
            v0 = lib.ones(3, requires_grad=True)
        v1 = v0 + 0
        v2 = v0 * 2
        v3 = v0 + v0
        with lib.no_grad():
            v5 = v0 + 1
    """,
    "threads start in the default state": """
        v0 = lib.ones(3, requires_grad=True)
        with lib.inference_mode():
            v1 = thread(lambda: v0 * 2)
            v2 = thread(lambda: lib.ones(2))
            v3 = thread(lambda: (lib.is_grad_enabled(), lib.is_inference_mode_enabled()))
            thread(lambda: v1.sum().backward())
        with lib.no_grad():
            v4 = thread(lambda: v0 * 2)
        thread(lambda: lib.set_grad_enabled(False))
        v5 = v0 * 2
    """,
    # ---- parameters and buffers ----
    "parameters from inference tensors": """
        with lib.inference_mode():
            v0 = lib.ones(3)
            v1 = lib.nn.Parameter(lib.ones(3))
            v2 = v1 * 2
        v3 = lib.nn.Parameter(v0)
        v4 = v1 * v1
        v5 = v3 * v3
    """,
    "buffers and state dicts in each mode": """
        v0 = lib.ones(3)
        with lib.inference_mode():
            v1 = lib.ones(3)
        M.register_buffer('b', v0)
        with lib.inference_mode():
            M.b.add_(1)
        M.b.add_(1)
        with lib.no_grad():
            M.load_state_dict({'b': v1}, strict=False)
        v2 = M.b * 2
        M.p = lib.nn.Parameter(lib.ones(3))
        M.load_state_dict({'p': v1}, strict=False)
        v3 = M.p * M.b
        v3.sum().backward()
        v4 = M.p
    """,
    "grad mode on inside of inference mode records nothing: out= is judged as in the mode": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2; v2 = v1.t(); v3 = lib.tensor([0, 1])
        v4 = lib.zeros(3, 3); v5 = lib.zeros(4, requires_grad=True)
        with lib.inference_mode(), lib.enable_grad():
            lib.index_select(v2, 0, v3, out=v1)
            lib.cat([v1, v0], out=v1)
            lib.vstack([v0], out=v1)
            lib.diff(v0, out=v4)
            lib.tensordot(v0, v0, 1, out=v4)
            lib.tensordot(v0, v2, 1, out=v5)
            lib.arange(v0[0, 0], out=v5)
            lib.matmul(v2, v0, out=v4)
            lib.matmul(v2.detach(), v0.detach(), out=v4)
    """,
    "a factory's out= is a view that was made in a mode": """
        v0 = lib.ones(3, 3, requires_grad=True); v1 = v0 * 2
        with lib.inference_mode():
            v2 = v1[1:]; v3, v4 = v1.split([2, 1])
        with lib.no_grad():
            v5 = v1[1:]
            lib.zeros(2, 3, out=v2)
            lib.ones(2, 3, out=v3, requires_grad=True)
            lib.full((2, 3), 4.0, out=v5)
        v5.add_(1)
        with lib.inference_mode():
            lib.zeros(2, 3, out=v2)
        v1.sum().backward()
    """,
}
