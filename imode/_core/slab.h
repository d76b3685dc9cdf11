/* Memory for the objects of long graphs: slabs of 2 MB that hold blocks of one size.
 *
 * In a graph of a million nodes, page faults cost more than the nodes themselves; and the garbage
 * collector, which counts every new object, traverses the graph again and again while it grows.
 * Blocks from here lie in huge pages and are not counted, though the collector sees the objects as
 * any others when it runs. Clearing new pages takes a third of a long graph's time, so empty slabs
 * are kept for the next graph, for blocks of any size, until a full garbage collection; the system
 * may take back their pages when it needs them. If the collector's header has another size, or
 * there is no mmap, types keep CPython's allocator. Thread rule: used with the GIL held. */
#include <string.h>
#if defined(__linux__) && !defined(Py_GIL_DISABLED)
#include <sys/mman.h>

#define SLAB ((size_t)1 << 21)
#define MAX_SPARE 256 /* half a gigabyte: two million nodes */
#define FIRST_BLOCK 128 /* after the slab's own fields; at the start of a cache line */
#define GC_HEAD (2 * sizeof(void *)) /* imode_use_slabs checks it */
#define MAX_BLOCK 512

typedef struct imode_slab {
    struct imode_slab *next, *before; /* in the list of slabs with room */
    void *free;                       /* freed blocks, linked */
    char *unused;                     /* memory from here on has never been used */
    size_t live;                      /* blocks in use */
    size_t block;                     /* size of a block, with the collector's header */
} imode_slab;

static imode_slab *imode_slabs[MAX_BLOCK / 16]; /* by block size: slabs with room, current first */
static void *imode_spare[MAX_SPARE]; /* empty slabs, whose content may vanish */
static int imode_n_spare;

static void *imode_map_slab(void) {
    char *start = (char *)mmap(NULL, 2 * SLAB, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == (char *)MAP_FAILED) return NULL;
    char *aligned = (char *)(((size_t)start + SLAB - 1) & ~(SLAB - 1));
    if (aligned > start) munmap(start, aligned - start);
    munmap(aligned + SLAB, start + SLAB - aligned);
    return aligned;
}

/* The first slab of a size uses small pages, so that a small program touches little memory. */
static imode_slab *imode_new_slab(size_t block) {
    static char made[MAX_BLOCK / 16];
    imode_slab *slab;
    if (imode_n_spare > 0) {
        slab = (imode_slab *)imode_spare[--imode_n_spare];
        memset(slab, 0, sizeof(imode_slab));
    } else {
        if ((slab = (imode_slab *)imode_map_slab()) == NULL) return NULL;
        if (made[block / 16]) madvise(slab, SLAB, MADV_HUGEPAGE);
        made[block / 16] = 1;
    }
    slab->unused = (char *)slab + FIRST_BLOCK;
    slab->block = block;
    return slab;
}

/* Keep an empty slab, or give it back to the system if enough are kept. */
static void imode_end_slab(imode_slab *slab) {
#ifdef MADV_FREE
    if (imode_n_spare < MAX_SPARE && madvise(slab, SLAB, MADV_FREE) == 0) {
        imode_spare[imode_n_spare++] = slab;
        return;
    }
#endif
    munmap(slab, SLAB);
}

static void imode_drop_spare(void) {
    while (imode_n_spare > 0) munmap(imode_spare[--imode_n_spare], SLAB);
}

static inline int imode_slab_full(imode_slab *slab) {
    return slab->free == NULL && slab->unused + slab->block > (char *)slab + SLAB;
}

static inline void imode_link_slab(imode_slab *slab) {
    imode_slab **first = &imode_slabs[slab->block / 16];
    slab->before = NULL;
    slab->next = *first;
    if (*first != NULL) (*first)->before = slab;
    *first = slab;
}

static inline void imode_unlink_slab(imode_slab *slab) {
    if (slab->before != NULL) slab->before->next = slab->next;
    else imode_slabs[slab->block / 16] = slab->next;
    if (slab->next != NULL) slab->next->before = slab->before;
}

/* A cleared block; `size` is a multiple of 16. */
static inline char *imode_take_block(size_t size) {
    imode_slab *slab = imode_slabs[size / 16];
    if (slab == NULL) {
        if ((slab = imode_new_slab(size)) == NULL) return NULL;
        imode_link_slab(slab);
    }
    char *block = (char *)slab->free;
    if (block != NULL) {
        slab->free = *(void **)block;
        for (size_t at = 0; at < size; at += 64) /* the block after this one */
            __builtin_prefetch((char *)slab->free + at);
    } else {
        block = slab->unused;
        slab->unused += size;
    }
    slab->live++;
    if (imode_slab_full(slab)) imode_unlink_slab(slab);
    memset(block, 0, size);
    return block;
}

static inline void imode_give_block(char *block) {
    imode_slab *slab = (imode_slab *)((size_t)block & ~(SLAB - 1));
    int was_full = imode_slab_full(slab);
    *(void **)block = slab->free;
    slab->free = block;
    if (was_full) imode_link_slab(slab);
    if (--slab->live == 0 && (slab->next != NULL || slab->before != NULL)) {
        imode_unlink_slab(slab); /* others have room */
        imode_end_slab(slab);
    }
}

static inline size_t imode_block_size(PyTypeObject *type, size_t header) {
    return (type->tp_basicsize + header + 15) & ~(size_t)15;
}

static PyObject *imode_alloc_tracked(PyTypeObject *type, Py_ssize_t n) {
    (void)n; /* these types have no variable part */
    char *block = imode_take_block(imode_block_size(type, GC_HEAD));
    if (block == NULL) return PyErr_NoMemory();
    PyObject *self = PyObject_Init((PyObject *)(block + GC_HEAD), type);
    PyObject_GC_Track(self);
    return self;
}

static void imode_free_tracked(void *self) {
    if (PyObject_GC_IsTracked((PyObject *)self)) PyObject_GC_UnTrack(self);
    imode_give_block((char *)self - GC_HEAD);
}

static PyObject *imode_alloc_untracked(PyTypeObject *type, Py_ssize_t n) {
    (void)n;
    char *block = imode_take_block(imode_block_size(type, 0));
    return block == NULL ? PyErr_NoMemory() : PyObject_Init((PyObject *)block, type);
}

static void imode_free_untracked(void *self) { imode_give_block((char *)self); }

static void imode_use_slabs(PyObject *cls, size_t header) {
    PyTypeObject *type = (PyTypeObject *)cls;
    int tracked = PyType_IS_GC(type);
    if (header != GC_HEAD || imode_block_size(type, tracked ? GC_HEAD : 0) >= MAX_BLOCK) return;
    type->tp_alloc = tracked ? imode_alloc_tracked : imode_alloc_untracked;
    type->tp_free = tracked ? imode_free_tracked : imode_free_untracked;
}
#else
static void imode_use_slabs(PyObject *cls, size_t header) { (void)cls, (void)header; }
static void imode_drop_spare(void) {}
#endif
