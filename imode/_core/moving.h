/* Copies of elements from one layout to another: see _moving.c. */
#ifndef IMODE_MOVING_H
#define IMODE_MOVING_H

#include <stddef.h>

#define MOVE_DIMS 64

typedef struct {
    char *to;
    const char *from;
    ptrdiff_t item; /* bytes of an element */
    int nd;
    ptrdiff_t dims[MOVE_DIMS];
    ptrdiff_t to_steps[MOVE_DIMS], from_steps[MOVE_DIMS]; /* in bytes */
} imode_move;

/* Merge the dimensions and bring them into the order in which they are walked. */
void imode_plan_move(imode_move *m);

/* Of a planned move, make rows of a few small elements single ones. */
void imode_widen_move(imode_move *m);

/* Copy the part of a planned move whose first index is from `begin` up to `end`. */
void imode_run_move(const imode_move *m, ptrdiff_t begin, ptrdiff_t end);

#endif
