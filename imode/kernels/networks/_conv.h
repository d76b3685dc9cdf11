/* The C interface of the convolution kernels. Arrays are contiguous, (batch, channel, y, x). Every
   function returns 0, or -1 if there is no memory for its scratch. `wide`: doubles, not floats. */

#ifndef IMODE_CONV_H
#define IMODE_CONV_H

typedef struct {
    long n, c, h, w;               /* input: batch, channels, height, width */
    long oc, kh, kw;               /* output channels; kernel height, width */
    long oh, ow;                   /* output height, width */
    long sh, sw;                   /* stride */
    long top, bottom, left, right; /* zero padding; negative: cropping */
    long dh, dw;                   /* dilation */
    long groups;
} conv_t;

int conv_forward(const conv_t *p, int wide, const void *x, const void *w, const void *b, void *out);
int conv_grad_input(const conv_t *p, int wide, const void *grad, const void *w, void *out);
int conv_grad_weight(const conv_t *p, int wide, const void *grad, const void *x, void *out);

#endif
