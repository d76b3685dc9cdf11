/* Attention: one set of loops per element type and level, chosen when called. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "_attention.h"

#define LOOPS "_attention_loops.h"
#include "_levels.h"

int attention_forward(int wide, const attention_t *a)
{
    PICK(forward, (a))
}

int attention_backward(int wide, const attention_t *a)
{
    PICK(backward, (a))
}
