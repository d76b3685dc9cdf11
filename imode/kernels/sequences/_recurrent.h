/* Steps of recurrent layers; see _recurrent_loops.h. */
#ifndef IMODE_RECURRENT_H
#define IMODE_RECURRENT_H

enum recurrent_cell { CELL_RELU, CELL_TANH, CELL_LSTM, CELL_GRU };

/* Columns of a panel of a packed operand: whole vectors. */
long recurrent_panel(int wide);

/* How many elements a packed right operand (depth, cols) has; and packing b[k, j] =
   from[k * sk + j * sj]. `wide`: double, else float. */
long recurrent_packed(int wide, long depth, long cols);
void recurrent_pack(int wide, long depth, long cols, const void *from, long sk, long sj, void *to);

/* out (rows, cols), of which a row has ldo elements, = or += a (rows, depth), contiguous, @ packed
   b */
void recurrent_product(int wide, long rows, long cols, long depth, const void *a, const void *b,
                       void *out, long ldo, int add);

/* One step of `rows` rows, of which it does n hidden units from `first` on. x: the input's part of
   the gates, (rows, gates * hidden); s: the state's part of these units, (rows, gates * n); bias:
   (gates * hidden). h: the state before, (rows, hidden); out: the state after. c: the cell, written
   to. gates and extra: what backward needs: the gates after their functions, and the cell (LSTM) or
   the new gate's part from the state (GRU); rows of all rows, or, unless `keep`, of one. */
void recurrent_step(int wide, int cell, long rows, long hidden, long first, long n, const void *x,
                    const void *s, const void *bias, const void *h, void *c, void *out,
                    void *gates, void *extra, int keep);

/* Its gradients. grad: of out, or NULL; dh, dc: of the state after the step, and, written, of the
   one before it, but for what comes through the gates. before: the state before; cells: the cell
   before (LSTM). dx, ds: of the gates' two parts; the same but for GRU, where ds is written. */
void recurrent_step_back(int wide, int cell, long rows, long hidden, long first, long n,
                         const void *grad, const void *out, const void *before,
                         const void *cells, const void *gates, const void *extra, void *dh,
                         void *dc, void *dx, void *ds);

#endif
