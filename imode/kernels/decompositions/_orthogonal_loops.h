/* The loops of _orthogonal.c. */
#include "_least_squares.h"

#include "_reflections.h"
