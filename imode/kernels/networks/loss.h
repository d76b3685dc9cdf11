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

#endif
