#include "pad.h"

#include "vmath.h"

/* A block that is written beyond a row, or a gap, is written over with what comes next. */
V_CLONES char *imode_pad_rows(char *to, const char *rows, ptrdiff_t n, ptrdiff_t size,
                              ptrdiff_t gap, const char *value) {
    for (ptrdiff_t r = 0; r < n; r++, rows += size) {
        for (ptrdiff_t k = 0; k < size; k += IMODE_PAD_BLOCK)
            memcpy(to + k, rows + k, IMODE_PAD_BLOCK);
        to += size;
        for (ptrdiff_t k = 0; k < gap; k += IMODE_PAD_BLOCK)
            memcpy(to + k, value, IMODE_PAD_BLOCK);
        to += gap;
    }
    return to;
}
