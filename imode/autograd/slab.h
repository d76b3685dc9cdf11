/* Memory of graph nodes: slabs of 2 MB that hold blocks of one size.
 *
 * A graph of a million nodes costs the system's page faults more than the nodes themselves, and the
 * garbage collector, which counts every new object, walks such a graph again and again while it
 * grows. Blocks from here come from huge pages and are not counted; the collector sees the nodes
 * like any others when it runs. Clearing fresh pages costs a third of a long graph's time, so empty
 * slabs are kept for the next graph; the system may take their pages when it needs them. Where the collector keeps no header before its objects, or without
 * mmap, the type keeps CPython's allocator. Thread rule: used with the GIL held. */
#include <string.h>
#if defined(__linux__) && !defined(Py_GIL_DISABLED)
#include <sys/mman.h>

#define SLAB ((size_t)1 << 21)
#define MAX_SPARE 256 /* half a gigabyte: two million nodes */
#define FIRST_BLOCK 128 /* the slab's own fields lie before; blocks begin with a cache line */
#define GC_HEAD (2 * sizeof(void *)) /* imode_use_slabs checks it */

typedef struct imode_slab {
    struct imode_slab *next, *before; /* in the list of those with room */
    void *free;                       /* blocks that were given back */
    char *fresh;                      /* from here on never used */
    size_t live;                      /* blocks in use */
} imode_slab;

static imode_slab *imode_slabs; /* those with room, the one to use first */
static void *imode_spare[MAX_SPARE]; /* empty slabs, whose content may vanish */
static int imode_n_spare;
static size_t imode_block;      /* size of a block: header of the collector, then the object */

/* The first slab is of small pages, so that a small program touches little memory. */
static imode_slab *imode_new_slab(void) {
    static int made;
    if (imode_n_spare > 0) {
        imode_slab *spare = (imode_slab *)imode_spare[--imode_n_spare];
        memset(spare, 0, sizeof(imode_slab));
        spare->fresh = (char *)spare + FIRST_BLOCK;
        return spare;
    }
    char *start = (char *)mmap(NULL, 2 * SLAB, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == (char *)MAP_FAILED) return NULL;
    char *aligned = (char *)(((size_t)start + SLAB - 1) & ~(SLAB - 1));
    if (aligned > start) munmap(start, aligned - start);
    munmap(aligned + SLAB, start + SLAB - aligned);
    if (made++) madvise(aligned, SLAB, MADV_HUGEPAGE);
    imode_slab *slab = (imode_slab *)aligned;
    slab->fresh = aligned + FIRST_BLOCK;
    return slab;
}

/* Keep an empty slab, or give it back where enough are kept. */
static void imode_end_slab(imode_slab *slab) {
#ifdef MADV_FREE
    if (imode_n_spare < MAX_SPARE && madvise(slab, SLAB, MADV_FREE) == 0) {
        imode_spare[imode_n_spare++] = slab;
        return;
    }
#endif
    munmap(slab, SLAB);
}

static inline int imode_slab_full(imode_slab *slab) {
    return slab->free == NULL && slab->fresh + imode_block > (char *)slab + SLAB;
}

static inline void imode_link_slab(imode_slab *slab) {
    slab->before = NULL;
    slab->next = imode_slabs;
    if (imode_slabs != NULL) imode_slabs->before = slab;
    imode_slabs = slab;
}

static inline void imode_unlink_slab(imode_slab *slab) {
    if (slab->before != NULL) slab->before->next = slab->next; else imode_slabs = slab->next;
    if (slab->next != NULL) slab->next->before = slab->before;
}

static PyObject *imode_slab_alloc(PyTypeObject *type, Py_ssize_t n) {
    imode_slab *slab = imode_slabs;
    if (slab == NULL) {
        if ((slab = imode_new_slab()) == NULL) return PyErr_NoMemory();
        imode_link_slab(slab);
    }
    char *block = (char *)slab->free;
    if (block != NULL) {
        slab->free = *(void **)block;
    } else {
        block = slab->fresh;
        slab->fresh += imode_block;
    }
    slab->live++;
    if (imode_slab_full(slab)) imode_unlink_slab(slab);
    memset(block, 0, imode_block);
    PyObject *self = PyObject_Init((PyObject *)(block + GC_HEAD), type);
    PyObject_GC_Track(self);
    return self;
}

static void imode_slab_free(void *self) {
    char *block = (char *)self - GC_HEAD;
    imode_slab *slab = (imode_slab *)((size_t)block & ~(SLAB - 1));
    if (PyObject_GC_IsTracked((PyObject *)self)) PyObject_GC_UnTrack(self);
    int was_full = imode_slab_full(slab);
    *(void **)block = slab->free;
    slab->free = block;
    if (was_full) imode_link_slab(slab);
    if (--slab->live == 0 && (slab->next != NULL || slab->before != NULL)) {
        imode_unlink_slab(slab); /* never the only one with room */
        imode_end_slab(slab);
    }
}

/* Let a final type of this size, with no other allocator's objects alive, take its memory here. */
static void imode_use_slabs(PyObject *cls, size_t header) {
    PyTypeObject *type = (PyTypeObject *)cls;
    if (header != GC_HEAD) return;
    imode_block = (type->tp_basicsize + GC_HEAD + 15) & ~(size_t)15;
    type->tp_alloc = imode_slab_alloc;
    type->tp_free = imode_slab_free;
}
#else
static void imode_use_slabs(PyObject *cls, size_t header) {}
#endif
