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

/* The gradient of the input: of its places that leave the same rest when divided by the stride, a
   part, it is the convolution `q`, of stride 1, of grad with those taps, turned, that meet them. */
typedef struct {
    conv_t q; /* its channels: groups, rests, the channels of a group; no taps if none meets them */
    long stride[3], first[3], rests[3]; /* by axis; the first of the rests, and how many */
    long weight; /* where its weight begins among the turned ones, in elements */
} conv_part_t;

typedef struct {
    long parts, across; /* across: parts that differ in columns alone follow each other */
    long taps, result;  /* result: most elements of a part's output, of an image */
    conv_part_t *part;
    long *tap; /* where they are in the kernel: of part after part, of its rests in turn */
} conv_plan_t;

int conv_plan(const conv_t *p, conv_plan_t *plan); /* allocates `part`, to be freed */
long conv_turn_units(const conv_t *p);
void conv_turn_weight(const conv_t *p, const conv_plan_t *plan, int wide, const void *w,
                      void *turned, long begin, long end);
/* Whether the weight is read where it lies, and the parts' outputs, `apart` elements from each
   other, are one work on all images, shared out as the turning is. */
int conv_reads_weight(const conv_t *p, const conv_plan_t *plan, int wide);
int conv_grad_input(const conv_t *p, const conv_plan_t *plan, int wide, const void *grad,
                    const void *w, void *out, long apart, long begin, long end);
/* Write channels of images, from the outputs, `apart` elements from each other, of parts across. */
void conv_place(const conv_t *p, const conv_plan_t *plan, const conv_part_t *part, int wide,
                const void *result, long apart, void *out, long begin, long end);

/* Units of the weight's gradient: every group, in up to `parts` parts of its output channels. */
long conv_weight_units(const conv_t *p, long parts);
int conv_grad_weight(const conv_t *p, int wide, const void *grad, const void *x, void *out, long parts,
                     long begin, long end);

#endif
