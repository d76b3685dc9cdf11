# Recurrent layers over ndarrays, see recurrent.pyx; the loops are in _recurrent_loops.h.

cdef extern from "_recurrent.h" nogil:
    enum Cell "recurrent_cell":
        CELL_RELU
        CELL_TANH
        CELL_LSTM
        CELL_GRU

    long recurrent_panel(int wide)
    long recurrent_packed(int wide, long depth, long cols)
    void recurrent_pack(int wide, long depth, long cols, const void* source, long sk, long sj,
                        void* to)
    void recurrent_product(int wide, long rows, long cols, long depth, const void* a,
                           const void* b, void* out, long ldo, int add)
    void recurrent_step(int wide, int cell, long rows, long hidden, long first, long n,
                        const void* x, const void* s, const void* bias, const void* h, void* c,
                        void* out, void* gates, void* extra, int keep)
    void recurrent_step_back(int wide, int cell, long rows, long hidden, long first, long n,
                             const void* grad, const void* out, const void* before,
                             const void* cells, const void* gates, const void* extra, void* dh,
                             void* dc, void* dx, void* ds)
