/* Loops over losses; see _loss.c. */
#ifndef IMODE_LOSS_H
#define IMODE_LOSS_H

#define IMODE_LOSS_LOOPS(T, S)                                              \
    void imode_squared_##S(const T* x, const T* y, long n, T* out);         \
    void imode_smooth_##S(const T* x, const T* y, long n, T beta, T* out);  \
    void imode_huber_##S(const T* x, const T* y, long n, T delta, T* out);  \
    void imode_entropy_##S(const T* x, const T* y, long n, T* out);         \
    void imode_logits_##S(const T* x, const T* y, long n, T* out);          \
    double imode_total_##S(const T* x, long n);
IMODE_LOSS_LOOPS(float, f)
IMODE_LOSS_LOOPS(double, d)

/* smooth_l1 and squares of up to IMODE_LOSSES numbers of float16, rounded after each step, as in
   PyTorch. less: half of beta, rounded, too. */
enum { IMODE_LOSSES = 512 };
void imode_squared_e(const unsigned short* x, const unsigned short* y, long n,
                     unsigned short* out);
void imode_smooth_e(const unsigned short* x, const unsigned short* y, long n, float beta,
                    float less, unsigned short* out);

#endif
