/* Steps of recurrent layers; see _recurrent_loops.h. */
#ifndef IMODE_RECURRENT_H
#define IMODE_RECURRENT_H

enum recurrent_cell { CELL_RELU, CELL_TANH, CELL_LSTM, CELL_GRU };

/* How many elements a packed right operand (depth, cols) has; and packing b[k, j] =
   from[k * sk + j * sj]. `wide`: double, else float. */
long recurrent_packed(int wide, long depth, long cols);
void recurrent_pack(int wide, long depth, long cols, const void *from, long sk, long sj, void *to);

/* out (rows, cols), contiguous, = or += a (rows, depth), contiguous, @ packed b */
void recurrent_product(int wide, long rows, long cols, long depth, const void *a, const void *b,
                       void *out, int add);

/* One step of `rows` rows. x: the input's part of the gates, (rows, gates * hidden); s: the state's
   part; bias: (gates * hidden). h and c, (rows, hidden), are the state, written to; out: a copy of
   h. gates and extra: what backward needs: the gates after their functions, and the cell (LSTM) or
   the new gate's part from the state (GRU); rows of all rows, or, unless `keep`, of one. */
void recurrent_step(int wide, int cell, long rows, long hidden, const void *x, const void *s,
                    const void *bias, void *h, void *c, void *out, void *gates, void *extra,
                    int keep);

/* Its gradients. grad: of out, or NULL; dh, dc: of the state after the step, and, written, of the
   one before it, but for what comes through the gates. before: the state before; cells: the cell
   before (LSTM). dx, ds: of the gates' two parts; the same but for GRU, where ds is written. */
void recurrent_step_back(int wide, int cell, long rows, long hidden, const void *grad,
                         const void *out, const void *before, const void *cells,
                         const void *gates, const void *extra, void *dh, void *dc, void *dx,
                         void *ds);

#endif
