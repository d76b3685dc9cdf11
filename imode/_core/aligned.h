/* Arrays whose memory begins at a cache line: a vector of the widest kind then never lies in two.
 *
 * Processors compare the lowest twelve bits of addresses to see whether a read must wait for a
 * write. Where a result lies a line or two behind an operand, by these bits, the next reads wait
 * for the last writes: a third of the time of a sum. So what is larger begins at multiples of FAR.
 *
 * A handler of NumPy's for the data of arrays. The word before a block says where its memory
 * begins. While another handler than NumPy's own is set, it is asked. */
#ifndef IMODE_ALIGNED_H
#define IMODE_ALIGNED_H
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <numpy/arrayobject.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

enum {
    IMODE_LINE = 64,
    IMODE_FAR = 512,
    IMODE_SMALL = 1 << 14,      /* bytes of arrays that begin at any line */
    IMODE_HUGE = 1 << 22,       /* bytes of which NumPy, too, asks for huge pages */
    IMODE_NUMPYS_DOMAIN = 389047 /* of tracemalloc */
};

static size_t imode_step(size_t size) { return size > IMODE_SMALL ? IMODE_FAR : IMODE_LINE; }

static char *imode_place_line(char *memory, size_t size) {
    const uintptr_t step = imode_step(size);
    char *block = (char *)(((uintptr_t)memory + step) & ~(step - 1));
    memcpy(block - sizeof memory, &memory, sizeof memory);
    return block;
}

static char *imode_line_memory(const void *block) {
    char *memory;
    memcpy(&memory, (const char *)block - sizeof memory, sizeof memory);
    return memory;
}

static void imode_ask_huge(char *block, size_t size) {
#if defined(MADV_HUGEPAGE)
    if (size >= IMODE_HUGE) {
        char *page = (char *)(((uintptr_t)block + 4095) & ~(uintptr_t)4095);
        madvise(page, size - (size_t)(page - block), MADV_HUGEPAGE);
    }
#else
    (void)block, (void)size;
#endif
}

static void *imode_line_malloc(void *ctx, size_t size) {
    char *memory = size > SIZE_MAX - IMODE_FAR ? NULL : malloc(size + imode_step(size));
    (void)ctx;
    if (memory == NULL)
        return NULL;
    char *block = imode_place_line(memory, size);
    imode_ask_huge(block, size);
    return block;
}

static void *imode_line_calloc(void *ctx, size_t n, size_t item) {
    (void)ctx;
    if (item && n > (SIZE_MAX - IMODE_FAR) / item)
        return NULL;
    char *memory = calloc(1, n * item + imode_step(n * item));
    if (memory == NULL)
        return NULL;
    char *block = imode_place_line(memory, n * item);
    imode_ask_huge(block, n * item);
    return block;
}

static void imode_line_free(void *ctx, void *block, size_t size) {
    (void)ctx;
    (void)size;
    if (block != NULL)
        free(imode_line_memory(block));
}

static void *imode_line_realloc(void *ctx, void *block, size_t size) {
    if (block == NULL)
        return imode_line_malloc(ctx, size);
    if (size > SIZE_MAX - IMODE_FAR)
        return NULL;
    char *memory = imode_line_memory(block);
    const ptrdiff_t before = (char *)block - memory;
    /* For whichever of the two steps: realloc keeps what the smaller size holds, wherever it lay. */
    memory = realloc(memory, size + IMODE_FAR);
    if (memory == NULL)
        return NULL;
    const uintptr_t step = imode_step(size);
    const ptrdiff_t after = (ptrdiff_t)(step - ((uintptr_t)memory & (step - 1)));
    if (after != before)
        memmove(memory + after, memory + before, size);
    return imode_place_line(memory, size);
}

static PyDataMem_Handler imode_line_handler = {
    "imode_aligned", 1,
    {NULL, imode_line_malloc, imode_line_calloc, imode_line_realloc, imode_line_free}};

/* A new array of `size` bytes: zeros, or undefined values. */
static PyObject *imode_new_aligned(PyArray_Descr *descr, int nd, npy_intp *dims, size_t size,
                                   int zeros) {
    static PyObject *handler;
    PyObject *array, *set = PyDataMem_GetHandler();
    void *block = NULL;
    if (set == NULL)
        return NULL;
    Py_DECREF(set);
    if (handler == NULL && !(handler = PyCapsule_New(&imode_line_handler, "mem_handler", NULL)))
        return NULL;
    if (set == PyDataMem_DefaultHandler)
        block = zeros ? imode_line_calloc(NULL, 1, size) : imode_line_malloc(NULL, size);
    Py_INCREF(descr);
    if (block == NULL) /* from the other handler; or NumPy says how much memory there is not */
        return zeros ? PyArray_Zeros(nd, dims, descr, 0) : PyArray_Empty(nd, dims, descr, 0);
    array = PyArray_NewFromDescr(&PyArray_Type, descr, nd, dims, NULL, block, NPY_ARRAY_CARRAY,
                                 NULL);
    if (array == NULL) {
        imode_line_free(NULL, block, size);
        return NULL;
    }
    PyTraceMalloc_Track(IMODE_NUMPYS_DOMAIN, (uintptr_t)block, size);
    Py_INCREF(handler);
    ((PyArrayObject_fields *)array)->mem_handler = handler;
    ((PyArrayObject_fields *)array)->flags |= NPY_ARRAY_OWNDATA;
    return array;
}
#endif
