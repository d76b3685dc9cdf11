#include "convert.h"

#include "wide.h"

void imode_half_to_float(char *to, const char *from, ptrdiff_t n) {
    from_half((float *)to, from, 2, n);
}

void imode_float_to_half(char *to, const char *from, ptrdiff_t n) {
    to_half(to, (const float *)from, 2, n);
}

void imode_brain_to_float(char *to, const char *from, ptrdiff_t n) {
    from_brain((float *)to, from, 2, n);
}

void imode_float_to_brain(char *to, const char *from, ptrdiff_t n) {
    to_brain(to, (const float *)from, 2, n);
}

#define CONVERT(A, B, TO, BY)                                                                         \
    V_CLONES void imode_##A##_to_##B(char *to, const char *from, ptrdiff_t n) {                    \
        for (ptrdiff_t i = 0; i < n; i++)                                                          \
            ((TO *)to)[i] = (TO)(BY)((const A *)from)[i];                                             \
    }

CONVERT(float, byte, uint8_t, int32_t)
CONVERT(double, byte, uint8_t, int32_t)
CONVERT(float, int32, int32_t, int32_t)
CONVERT(float, int64, int64_t, int64_t)
CONVERT(double, int32, int32_t, int32_t)
CONVERT(double, int64, int64_t, int64_t)
