#include "_least_squares.h"
#include "_reflections.h"
