/* Rows with a border between them. */
#ifndef IMODE_PAD_H
#define IMODE_PAD_H

#include <stddef.h>

#define IMODE_PAD_BLOCK 32 /* bytes that are copied at once */

/* Write rows of `size` bytes, at least a block, each followed by `gap` bytes of the value, a block
   of which is given. Up to a block is read and written beyond the last. Returns where it ends. */
char *imode_pad_rows(char *to, const char *rows, ptrdiff_t n, ptrdiff_t size, ptrdiff_t gap,
                     const char *value);

#endif
