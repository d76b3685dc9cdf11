# The engine: runs the graph. See engine.pyx for implementation details.
from imode.autograd.node cimport Node

# roots: (node, result) pairs; grads: the gradient to start each from.
# wanted: None, and leaves accumulate; or (node, result) pairs, None for what nothing leads to.
# accumulate: the wanted nodes run, as backward(inputs=...) asks; else their gradients come back.
cdef list run(list roots, list grads, bint keep_graph, bint create_graph, object wanted,
              bint accumulate)
cdef Node running_node()      # the node that backward runs in this thread; None: none
