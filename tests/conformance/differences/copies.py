"""Copying, saving and loading."""

from . import Shown

RULES = [
    Shown(
        "Pickled tensors that share memory share it again",
        "shares_memory_with",
        witness="""
            v0 = lib.ones(2)
            v1, v2 = pickle.loads(pickle.dumps([v0, v0[:1]]))
        """,
    ),
    Shown(
        "`save` writes what the tensors span",
        "storage_offset",
        witness="""
            import io
            file = io.BytesIO()
            lib.save(lib.ones(4, 2)[2], file)
            file.seek(0)
            v0 = lib.load(file)
        """,
    ),
    Shown(
        "Copies of sparse tensors require grad as they do",
        "log",
        witness="""
            import copy
            log.append(copy.copy(lib.eye(2).to_sparse().requires_grad_()).requires_grad)
        """,
    ),
]
