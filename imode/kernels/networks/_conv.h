/* The C interface of the convolution kernels. Arrays are contiguous, (batch, channel, z, y, x); an
   image is a volume of depth 1. Every function returns 0, or -1 if there is no memory for its
   scratch. `wide`: doubles, not floats. */

#ifndef IMODE_CONV_H
#define IMODE_CONV_H

typedef struct {
    long n, c, d, h, w;                         /* input: batch, channels, depth, height, width */
    long oc, kd, kh, kw;                        /* output channels; the kernel's size */
    long od, oh, ow;                            /* the output's size */
    long sd, sh, sw;                            /* stride */
    long front, back, top, bottom, left, right; /* zero padding; negative: cropping */
    long dd, dh, dw;                            /* dilation */
    long groups;
} conv_t;

/* The output is computed in units that may be shared between threads: every group of every image, or of all
   images if they are small, in up to `parts` parts. */
long conv_groups(const conv_t *p);
long conv_units(const conv_t *p, long parts);
int conv_forward(const conv_t *p, int wide, const void *x, const void *w, const void *b, void *out,
                 long parts, long begin, long end);

/* With stride 1 the gradient of the input is the convolution `q` of grad with the turned weight. */
int conv_is_flat(const conv_t *p);
void conv_turned(const conv_t *p, conv_t *q);
void conv_turn_weight(const conv_t *p, int wide, const void *w, void *turned);
/* Otherwise. */
int conv_grad_input(const conv_t *p, int wide, const void *grad, const void *w, void *out);

/* Units of the weight's gradient: every group, in up to `parts` parts of its output channels. */
long conv_weight_units(const conv_t *p, long parts);
int conv_grad_weight(const conv_t *p, int wide, const void *grad, const void *x, void *out, long parts,
                     long begin, long end);

#endif
