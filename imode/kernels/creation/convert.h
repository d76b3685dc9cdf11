/* Conversions of contiguous elements that NumPy does slowly. */
#ifndef IMODE_CONVERT_H
#define IMODE_CONVERT_H

#include <stddef.h>

typedef void (*imode_converter)(char *to, const char *from, ptrdiff_t n);

void imode_half_to_float(char *to, const char *from, ptrdiff_t n);
void imode_float_to_half(char *to, const char *from, ptrdiff_t n);
void imode_half_to_brain(char *to, const char *from, ptrdiff_t n);
void imode_brain_to_half(char *to, const char *from, ptrdiff_t n);
void imode_brain_to_float(char *to, const char *from, ptrdiff_t n);
void imode_float_to_brain(char *to, const char *from, ptrdiff_t n);
void imode_half_to_double(char *to, const char *from, ptrdiff_t n);
void imode_brain_to_double(char *to, const char *from, ptrdiff_t n);
void imode_narrow_to_truth(char *to, const char *from, ptrdiff_t n); /* of both */
/* By way of float, as PyTorch rounds. */
void imode_double_to_half(char *to, const char *from, ptrdiff_t n);
void imode_double_to_brain(char *to, const char *from, ptrdiff_t n);
void imode_truth_to_half(char *to, const char *from, ptrdiff_t n);
void imode_truth_to_brain(char *to, const char *from, ptrdiff_t n);
void imode_byte_to_half(char *to, const char *from, ptrdiff_t n);
void imode_byte_to_brain(char *to, const char *from, ptrdiff_t n);
void imode_int32_to_half(char *to, const char *from, ptrdiff_t n);
void imode_int32_to_brain(char *to, const char *from, ptrdiff_t n);
void imode_int64_to_half(char *to, const char *from, ptrdiff_t n);
void imode_int64_to_brain(char *to, const char *from, ptrdiff_t n);

/* Beyond an integer's range: what the processor gives. */
void imode_half_to_byte(char *to, const char *from, ptrdiff_t n);
void imode_brain_to_byte(char *to, const char *from, ptrdiff_t n);
void imode_half_to_int32(char *to, const char *from, ptrdiff_t n);
void imode_brain_to_int32(char *to, const char *from, ptrdiff_t n);
void imode_half_to_int64(char *to, const char *from, ptrdiff_t n);
void imode_brain_to_int64(char *to, const char *from, ptrdiff_t n);
void imode_float_to_byte(char *to, const char *from, ptrdiff_t n);
void imode_double_to_byte(char *to, const char *from, ptrdiff_t n);
void imode_float_to_int32(char *to, const char *from, ptrdiff_t n);
void imode_float_to_int64(char *to, const char *from, ptrdiff_t n);
void imode_double_to_int32(char *to, const char *from, ptrdiff_t n);
void imode_double_to_int64(char *to, const char *from, ptrdiff_t n);

/* NumPy's are as exact, but run on one thread. */
void imode_byte_to_float(char *to, const char *from, ptrdiff_t n);
void imode_byte_to_double(char *to, const char *from, ptrdiff_t n);
void imode_byte_to_int64(char *to, const char *from, ptrdiff_t n);
void imode_float_to_double(char *to, const char *from, ptrdiff_t n);
void imode_double_to_float(char *to, const char *from, ptrdiff_t n);
void imode_int32_to_float(char *to, const char *from, ptrdiff_t n);
void imode_int64_to_float(char *to, const char *from, ptrdiff_t n);
void imode_int64_to_double(char *to, const char *from, ptrdiff_t n);
void imode_truth_to_int64(char *to, const char *from, ptrdiff_t n);
void imode_truth_to_float(char *to, const char *from, ptrdiff_t n);
void imode_float_to_truth(char *to, const char *from, ptrdiff_t n);
void imode_double_to_truth(char *to, const char *from, ptrdiff_t n);
void imode_int64_to_truth(char *to, const char *from, ptrdiff_t n);

#endif
