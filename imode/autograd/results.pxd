# The results of a custom function. See results.pyx for implementation details.
from cpython.object cimport PyObject
from imode.autograd.custom cimport FunctionNode

# Connect what `forward` returned to the node, keep what is to be saved, and give what `apply`
# returns. args: the call's arguments; separate: the context was filled by setup_context.
cdef object finish(FunctionNode ctx, PyObject** args, Py_ssize_t n_args, object result,
                   bint recorded, bint separate)
