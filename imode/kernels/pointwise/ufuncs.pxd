# Makes ufunc objects from a C table of inner loops; see _loops.h for the table. Both are immutable.

from numpy cimport (
    PyUFunc_FromFuncAndDataAndSignature,
    PyUFunc_None,
    PyUFuncGenericFunction,
)

cdef extern from "_loops.h":
    ctypedef struct imode_ufunc:
        const char* name
        const char* signature            # NULL: elementwise
        int nin
        int ntypes
        const char* types
        PyUFuncGenericFunction* loops
        void** data


# Put every ufunc of the table into the module's namespace; return their names. Tables are static:
# NumPy keeps pointers into them.
cdef inline list make_all(const imode_ufunc* table, dict namespace):
    cdef list names = []
    while table.name != NULL:
        name = table.name.decode()
        namespace[name] = PyUFunc_FromFuncAndDataAndSignature(
            table.loops, table.data, <char*> table.types, table.ntypes, table.nin, 1,
            PyUFunc_None, <char*> table.name, "", 0, <char*> table.signature)
        names.append(name)
        table += 1
    return names
