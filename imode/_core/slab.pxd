# Slabs: memory for the objects of long graphs. See slab.h for implementation details.
# Thread rule: with the GIL held.

# Let a final class, of which no object exists yet, take its memory from slabs.
cdef void use_slabs(object cls)
# Give the empty slabs that are kept for the next graph back to the system.
cdef void drop_spare_slabs() noexcept
