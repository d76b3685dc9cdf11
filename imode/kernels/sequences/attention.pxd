# Scaled dot product attention over ndarrays, see attention.pyx and _attention_loops.h.

cdef extern from "_attention.h" nogil:
    ctypedef struct attention_t:
        long group
        long nq, nk, d, dv
        const void* q
        const void* k
        const void* v
        long q_head, q_row, k_row, v_row
        void* out
        long out_head, out_row
        const void* mask
        int boolean, causal
        long mask_head, mask_row, mask_column
        double scale
        void* lse
        const void* grad
        void* grad_q
        void* grad_k
        void* grad_v
        long grad_q_head, grad_q_row, grad_k_row, grad_v_row

    int attention_forward(int wide, const attention_t*)
    int attention_backward(int wide, const attention_t*)
    bint attention_takes_brains()
    int attention_of_brains(const attention_t*)
