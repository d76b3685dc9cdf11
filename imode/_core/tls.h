/* The dispatcher's state of one thread. All-zero bytes are the default: the sets are stored as the
 * difference from it. One module owns the variable; see Note [One owner of the thread state]. */
#ifndef IMODE_TLS_H
#define IMODE_TLS_H
#include <stdint.h>
#include <Python.h>

typedef struct {
    uint64_t included;    /* keys added to every call, XOR the default {ADInplaceOrView} */
    uint64_t excluded;    /* keys removed from every call */
    int no_grad;          /* grad mode is off */
    int guard_id;         /* line that entered inference mode, else no_grad; 0: unknown */
    int operator_id;      /* the operator called last; see Note [Who made a tensor] */
    int numbers_are_scalars; /* a formula or composite runs; see Note [Numbers in formulas] */
    uint64_t hops;        /* kernels entered */
    uint64_t nodes;       /* graph nodes made */
    uint64_t sequence;    /* the number of the next graph node */
    uint64_t views;       /* view records made */
    uint64_t bumps;       /* version bumps */
    PyObject *guard_top;  /* the innermost guard that is on, a guard.Guard; NULL: none */
    PyObject *watcher;    /* the innermost watcher of kernels, a dispatch.Watcher, owned; NULL: none */
    PyObject *task;       /* the call of backward that runs here, autograd's Task; NULL: none */
    PyObject *saving;     /* default hooks of saved tensors, autograd's Defaults; NULL: none */
    PyObject *devices;    /* a list: the default device or None, then those of `with` blocks, owned;
                             NULL: none */
    int depth;            /* how many nested calls of backward run here */
    int single_threaded;  /* set_multithreading_enabled(False); has no effect */
    int inference_at;     /* line that entered inference mode last; 0: none */
} imode_tls;
#endif
