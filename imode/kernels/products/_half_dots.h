/* Products of a few rows with many columns of 16-bit numbers, which are read once, as they lie in
   memory. For each column and row a vector of sums runs over the depth.

   Included once per dtype and instruction set, with
     VECTOR, LANES    of floats
     COLUMNS          of a register tile
     ZERO, TOTAL(v), LOAD(p), ADD(sum, row, column)
     LOAD_COLUMN(p)   a vector from as many 16-bit numbers
     NAME(x)          x with a suffix for the combination */

INLINE void NAME(dots_tile)(const int rows, const int cols, long depth, const float *a, long lda,
                            const uint16_t *b, long ldb, float *out, long ldo)
{
    VECTOR sum[4][COLUMNS];
    const long whole = depth / LANES * LANES;
    UNROLL
    for (int i = 0; i < rows; i++)
        UNROLL
        for (int j = 0; j < cols; j++)
            sum[i][j] = ZERO;
    for (long k = 0; k < whole; k += LANES)
        UNROLL
        for (int j = 0; j < cols; j++)
            UNROLL
            for (int i = 0; i < rows; i++)
                sum[i][j] = ADD(sum[i][j], LOAD(a + i * lda + k), LOAD_COLUMN(b + j * ldb + k));
    if (whole < depth)
        UNROLL
        for (int j = 0; j < cols; j++) {
            uint16_t end[LANES] = {0};
            memcpy(end, b + j * ldb + whole, (depth - whole) * sizeof *end);
            UNROLL
            for (int i = 0; i < rows; i++)
                sum[i][j] = ADD(sum[i][j], LOAD(a + i * lda + whole), LOAD_COLUMN(end));
        }
    UNROLL
    for (int i = 0; i < rows; i++)
        UNROLL
        for (int j = 0; j < cols; j++)
            out[i * ldo + j] = TOTAL(sum[i][j]);
}

/* out (n, m) = a (n, depth) @ b (depth, m), the columns of b ldb apart. The rows of a are filled up
   with zeros to a multiple of LANES. */
static void NAME(dots)(long n, long depth, long m, const float *a, long lda, const uint16_t *b,
                       long ldb, float *out, long ldo)
{
    for (; m > 0; m -= COLUMNS, b += COLUMNS * ldb, out += COLUMNS) {
        const float *row = a;
        float *to = out;
        long rows = n;
        if (m < COLUMNS) {
            for (long j = 0; j < m; j++)
                for (long i = 0; i < n; i++)
                    NAME(dots_tile)(1, 1, depth, a + i * lda, lda, b + j * ldb, ldb,
                                    out + i * ldo + j, ldo);
            return;
        }
        for (; rows >= 4; rows -= 4, row += 4 * lda, to += 4 * ldo)
            NAME(dots_tile)(4, COLUMNS, depth, row, lda, b, ldb, to, ldo);
        for (; rows >= 2; rows -= 2, row += 2 * lda, to += 2 * ldo)
            NAME(dots_tile)(2, COLUMNS, depth, row, lda, b, ldb, to, ldo);
        if (rows)
            NAME(dots_tile)(1, COLUMNS, depth, row, lda, b, ldb, to, ldo);
    }
}

#undef LOAD_COLUMN
#undef SUFFIX
