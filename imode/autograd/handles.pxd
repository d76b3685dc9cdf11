# Tables of hooks, their handles, and calling the hooks. See handles.pyx.
#
# A table is an OrderedDict from a handle's id to the callable, changed with the GIL held. The hooks
# are called from a copy of the table, since a hook may change it.

cdef object add_hook(object table, object hook)          # a RemovableHandle
cdef object call_hooks(object table, object gradient)    # each may replace the gradient
cdef object checked(object before, object result, object hook)   # the hook's result for `before`
