/* Memory that the system gives only when it is touched: for tensors without elements. See
 * Note [Shapes without elements] in elsewhere.pyx.
 *
 * A handler of NumPy's for the data of arrays. From LAZY bytes on a block is address space alone;
 * 64 bytes before it say how long it is, and a mark that the array's memory is of this kind. */
#ifndef IMODE_LAZY_H
#define IMODE_LAZY_H
#include <Python.h>
#include <stdlib.h>
#include <string.h>
#include <numpy/arrayobject.h>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#define IMODE_MAPS 1
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif
#endif

enum { IMODE_LAZY = 1 << 16, IMODE_LAZY_HEAD = 64, IMODE_PAGE = 1 << 16 };

static size_t *imode_head(void *block) { return (size_t *)((char *)block - IMODE_LAZY_HEAD); }

static void *imode_lazy_calloc(void *ctx, size_t n, size_t item) {
    size_t size = n * item;
    char *block;
    if (item && size / item != n)
        return NULL;
    if (size > SIZE_MAX - IMODE_LAZY_HEAD)
        return NULL;
#ifdef IMODE_MAPS
    if (size >= IMODE_LAZY) {
        block = mmap(NULL, size + IMODE_LAZY_HEAD, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (block == MAP_FAILED)
            return NULL;
        *(size_t *)block = size;
        return block + IMODE_LAZY_HEAD;
    }
#endif
    block = calloc(1, size + IMODE_LAZY_HEAD);
    if (block == NULL)
        return NULL;
    *(size_t *)block = size;
    return block + IMODE_LAZY_HEAD;
}

static void *imode_lazy_malloc(void *ctx, size_t size) { return imode_lazy_calloc(ctx, 1, size); }

static void imode_lazy_free(void *ctx, void *block, size_t size) {
    if (block == NULL)
        return;
#ifdef IMODE_MAPS
    if (*imode_head(block) >= IMODE_LAZY) {
        munmap(imode_head(block), *imode_head(block) + IMODE_LAZY_HEAD);
        return;
    }
#endif
    free(imode_head(block));
}

static void *imode_lazy_realloc(void *ctx, void *block, size_t size) {
    void *made = imode_lazy_calloc(ctx, 1, size);
    if (made != NULL && block != NULL) {
        memcpy(made, block, *imode_head(block) < size ? *imode_head(block) : size);
        imode_lazy_free(ctx, block, 0);
    }
    return made;
}

static PyDataMem_Handler imode_lazy_handler = {
    "imode_lazy", 1,
    {NULL, imode_lazy_malloc, imode_lazy_calloc, imode_lazy_realloc, imode_lazy_free}};

static PyObject *imode_lazy_capsule(void) {
    return PyCapsule_New(&imode_lazy_handler, "mem_handler", NULL);
}

/* Make the memory of an array that owns it zeros again; large blocks are given back. */
static void imode_make_zero(PyArrayObject *array) {
    PyObject *handler = PyArray_HANDLER(array);
    char *data = PyArray_BYTES(array);
    if (!PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA))
        return; /* a view over memory of unknown length */
    if (handler != NULL && PyCapsule_GetPointer(handler, "mem_handler") == &imode_lazy_handler) {
        size_t size = *imode_head(data);
#ifdef IMODE_MAPS
        if (size >= IMODE_LAZY) {
            char *head = (char *)imode_head(data);
            memset(data, 0, IMODE_PAGE - IMODE_LAZY_HEAD);    /* the head's own pages stay */
            madvise(head + IMODE_PAGE, size + IMODE_LAZY_HEAD - IMODE_PAGE, MADV_DONTNEED);
            return;
        }
#endif
        memset(data, 0, size);
    } else {
        memset(data, 0, PyArray_NBYTES(array));
    }
}
#endif
