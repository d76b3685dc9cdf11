# Slabs: memory for the objects that long graphs are made of. See slab.h for implementation details.
# Thread rule: with the GIL held.

# Let a final class, of which no object is alive yet, take its memory from slabs.
cdef void use_slabs(object cls)
# Give the empty slabs, which are kept for the next graph, back to the system.
cdef void drop_spare_slabs() noexcept
