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
    int guard_id;         /* place where inference mode, else where no_grad was entered; 0: unknown */
    int operator_id;      /* the operator called last: what makes the next tensor, for messages */
    int plain_numbers;    /* a formula or a composite operator runs; Note [Numbers in formulas] */
    uint64_t hops;        /* kernels entered */
    uint64_t nodes;       /* graph nodes made */
    uint64_t sequence;    /* the number of the next graph node */
    uint64_t views;       /* view records made */
    uint64_t bumps;       /* version bumps */
    PyObject *guard_top;  /* the innermost guard that is on, a guard.Guard; NULL: none */
    PyObject *trace;      /* list that the dispatch trace appends to; NULL: off */
    PyObject *task;       /* the call of backward that runs here, autograd's Task; NULL: none */
    PyObject *saving;     /* default hooks of saved tensors, autograd's Defaults; NULL: none */
    int depth;            /* how many calls of backward are under way here, one in another */
    int single_threaded;  /* set_multithreading_enabled(False); accepted, changes nothing */
    int inference_at;     /* place where inference mode was entered last; 0: never */
} imode_tls;
#endif
