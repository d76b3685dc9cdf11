/* Attention over tiles of the scores; see _attention_loops.h. */
#ifndef IMODE_ATTENTION_H
#define IMODE_ATTENTION_H

/* One head of the keys and values, and the heads of queries that look at it. Strides in elements;
   the last dimension of each is contiguous. */
typedef struct {
    long group;            /* heads of queries */
    long nq, nk, d, dv;    /* queries, keys, sizes of queries and keys, of values */
    const void *q, *k, *v;
    long q_head, q_row, k_row, v_row;
    void *out;             /* of queries, written; in backward as it was */
    long out_head, out_row;
    const void *mask;      /* NULL; or `boolean`, of bytes, else added, of the element type */
    int boolean, causal;
    long mask_head, mask_row, mask_column;
    double scale;
    void *lse;             /* (group, nq): the logarithms of the sums of exp */
    const void *grad;      /* backward alone: of out, contiguous (group, nq, dv) */
    void *grad_q, *grad_k, *grad_v; /* the last two are zeros at first */
    long grad_q_head, grad_q_row, grad_k_row, grad_v_row;
} attention_t;

/* 0, or -1 where there is no memory. `wide`: double, else float. */
int attention_forward(int wide, const attention_t *a);
int attention_backward(int wide, const attention_t *a);

/* Of bfloat16, by instructions for it: whether there are such; a mask that is added and the
   logarithms are of float. */
int attention_takes_brains(void);
int attention_of_brains(const attention_t *a);

#endif
