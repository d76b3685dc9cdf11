/* Vectors of conditions: all bits of an element are set where one holds. Included after _padded_rows.h by what needs them. */

typedef __typeof__(__builtin_choose_expr(sizeof(T) == 4, (int32_t)0, (int64_t)0)) NAME(integer);
typedef NAME(integer) NAME(mask) __attribute__((vector_size(LANES * sizeof(T))));
#define I NAME(integer)
#define M NAME(mask)

INLINE V NAME(choose)(M mask, V yes, V no) { return (V)(((M)yes & mask) | ((M)no & ~mask)); }

INLINE V NAME(size)(V x) { return NAME(choose)(x < 0, -x, x); }

INLINE int NAME(any)(M mask)
{
    I found = 0;
    for (int i = 0; i < LANES; i++)
        found |= mask[i];
    return found != 0;
}
