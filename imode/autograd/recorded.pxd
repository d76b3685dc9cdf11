# Nodes of operators from the table. See recorded.pyx for implementation details.
# Thread rule: classes are added with the GIL held, and stay.
from imode.autograd.derivative cimport Derivative
from imode.autograd.node cimport Node

cdef Node new_node(Derivative derivative)    # without edges yet, counted as recorded
cdef object shown(object node)               # a node as Python sees it
