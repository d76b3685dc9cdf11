# The engine: runs the graph. See engine.pyx for implementation details.
from imode.autograd.node cimport Node

# roots: (node, result) pairs; grads: the gradient to start each from.
# wanted: None: leaves accumulate; or (node, result) pairs, with None for an input without a node.
# accumulate: the wanted nodes run, as in backward(inputs=...); else their gradients are returned.
cdef list run(list roots, list grads, bint keep_graph, bint create_graph, object wanted,
              bint accumulate)
