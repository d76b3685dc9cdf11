"""NumPy's classes of single elements of the dtypes that it lacks, where pickles find them."""

from imode._core import dtype

bfloat16, float8_e4m3fn, float8_e5m2 = (
    kind.type for kind in (dtype.bfloat16, dtype.float8_e4m3fn, dtype.float8_e5m2)
)
