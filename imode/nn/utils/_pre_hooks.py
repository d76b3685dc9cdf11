"""The hooks before `forward` that keep a computed tensor up to date."""


def pre_hooks(module):
    """{key: hook} of a module's hooks before forward."""
    hooks = module._hooks
    return {} if hooks is None else {key: entry[0] for key, entry in hooks.forward_pre.items()}


def drop_pre_hook(module, key):
    """Remove a hook; gives it."""
    return module._hooks.forward_pre.pop(key)[0]
