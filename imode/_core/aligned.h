/* Memory of arrays that begins where a line of the cache does: loops over vectors then read and
 * write each line once. C libraries give 16 bytes, and large blocks lie 16 bytes behind a line.
 *
 * Processors compare the lowest twelve bits of addresses to see whether a read must wait for a
 * write. Where a result lies a line or two behind an operand, by these bits, the next reads wait
 * for the last writes: a third of the time of a sum. So what is larger begins at multiples of FAR.
 *
 * A handler of NumPy's, for arrays that are made here; what is made elsewhere has NumPy's own.
 * Before the memory stands where the block begins and how long it is. */
#ifndef IMODE_ALIGNED_H
#define IMODE_ALIGNED_H
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <numpy/arrayobject.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

enum { IMODE_LINE = 64, IMODE_FAR = 512, IMODE_SMALL = 1 << 14 };
enum { IMODE_TRACED = 389047 /* by tracemalloc, as NumPy's */ };

typedef struct {
    char *block;
    size_t size;
} imode_aligned_head;

static imode_aligned_head *imode_aligned_head_of(void *data) {
    return (imode_aligned_head *)data - 1;
}

static size_t imode_alignment(size_t size) { return size > IMODE_SMALL ? IMODE_FAR : IMODE_LINE; }

static void *imode_aligned_in(char *block, size_t size) {
    const uintptr_t by = imode_alignment(size);
    const uintptr_t first = (uintptr_t)block + sizeof(imode_aligned_head) + by - 1;
    char *data = block + (first / by * by - (uintptr_t)block);
    imode_aligned_head_of(data)->block = block;
    imode_aligned_head_of(data)->size = size;
    return data;
}

static void *imode_aligned_malloc(void *ctx, size_t size) {
    const size_t more = sizeof(imode_aligned_head) + imode_alignment(size);
    char *block = size <= SIZE_MAX - more ? malloc(size + more) : NULL;
    (void)ctx;
    if (block == NULL)
        return NULL;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (size >= 1u << 22) { /* as NumPy does */
        const size_t skipped = 4096 - (uintptr_t)block % 4096;
        madvise(block + skipped, size - skipped, MADV_HUGEPAGE);
    }
#endif
    return imode_aligned_in(block, size);
}

static void *imode_aligned_calloc(void *ctx, size_t n, size_t item) {
    void *data = item && n > SIZE_MAX / item ? NULL : imode_aligned_malloc(ctx, n * item);
    return data == NULL ? NULL : memset(data, 0, n * item);
}

static void imode_aligned_free(void *ctx, void *data, size_t size) {
    (void)ctx, (void)size;
    if (data != NULL)
        free(imode_aligned_head_of(data)->block);
}

static void *imode_aligned_realloc(void *ctx, void *data, size_t size) {
    void *made = imode_aligned_malloc(ctx, size);
    if (made != NULL && data != NULL) {
        const size_t before = imode_aligned_head_of(data)->size;
        memcpy(made, data, before < size ? before : size);
        imode_aligned_free(ctx, data, 0);
    }
    return made;
}

static PyDataMem_Handler imode_aligned_handler = {
    "imode_aligned", 1,
    {NULL, imode_aligned_malloc, imode_aligned_calloc, imode_aligned_realloc, imode_aligned_free}};
static PyObject *imode_aligned_capsule;

/* A new array of so many bytes; values undefined. */
static PyObject *imode_new_aligned(PyArray_Descr *descr, int nd, npy_intp *dims, npy_intp bytes) {
    PyObject *array;
    void *data;
    if (imode_aligned_capsule == NULL) {
        imode_aligned_capsule = PyCapsule_New(&imode_aligned_handler, "mem_handler", NULL);
        if (imode_aligned_capsule == NULL)
            return NULL;
    }
    data = imode_aligned_malloc(NULL, bytes);
    Py_INCREF(descr); /* of which the call takes a reference; without memory it raises */
    array = PyArray_NewFromDescr(&PyArray_Type, descr, nd, dims, NULL, data, NPY_ARRAY_CARRAY,
                                 NULL);
    if (array == NULL || data == NULL) {
        imode_aligned_free(NULL, data, bytes);
        return array;
    }
    Py_INCREF(imode_aligned_capsule);
    ((PyArrayObject_fields *)array)->mem_handler = imode_aligned_capsule;
    PyArray_ENABLEFLAGS((PyArrayObject *)array, NPY_ARRAY_OWNDATA);
    PyTraceMalloc_Track(IMODE_TRACED, (uintptr_t)data, bytes);
    return array;
}
#endif
