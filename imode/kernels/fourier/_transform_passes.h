/* The passes of Stockham's way, for one element type and one instruction set: included by
   _transform_lanes.h, under the same names. From x to y, m butterflies of each of s columns. */

INLINE C NAME(sum)(C a, C b) { return (C){{a.v[0] + b.v[0], a.v[1] + b.v[1]}}; }
INLINE C NAME(difference)(C a, C b) { return (C){{a.v[0] - b.v[0], a.v[1] - b.v[1]}}; }
INLINE C NAME(turned)(C a, const T *w)
{
    return (C){{a.v[0] * w[0] - a.v[1] * w[1], a.v[0] * w[1] + a.v[1] * w[0]}};
}
/* a + b * t, a * c and -i * a */
INLINE C NAME(plus)(C a, C b, T t) { return (C){{a.v[0] + b.v[0] * t, a.v[1] + b.v[1] * t}}; }
INLINE C NAME(times)(C a, T t) { return (C){{a.v[0] * t, a.v[1] * t}}; }
INLINE C NAME(quarter)(C a) { return (C){{a.v[1], -a.v[0]}}; }

/* Of four numbers, in place. */
INLINE void NAME(four_of)(C *a, C *b, C *c, C *d)
{
    const C ac = NAME(sum)(*a, *c), bd = NAME(sum)(*b, *d);
    const C ca = NAME(difference)(*a, *c), db = NAME(quarter)(NAME(difference)(*b, *d));
    *a = NAME(sum)(ac, bd);
    *b = NAME(sum)(ca, db);
    *c = NAME(difference)(ac, bd);
    *d = NAME(difference)(ca, db);
}

/* Of 16, in place, four by four: the one of k is then where 4 * (k % 4) + k / 4 is. */
INLINE void NAME(sixteen_of)(C *x)
{
    const T root = (T)0.707106781186547524400844362104849039;
    const T w1[2] = {(T)0.923879532511286756128183189396788287, (T)-0.382683432365089771728459984030398866};
    const T w2[2] = {root, -root}, w3[2] = {-w1[1], -w1[0]}, w6[2] = {-root, -root};
    const T w9[2] = {-w1[0], -w1[1]};
    UNROLL
    for (int j = 0; j < 4; j++)
        NAME(four_of)(x + j, x + 4 + j, x + 8 + j, x + 12 + j);
    x[5] = NAME(turned)(x[5], w1);
    x[6] = NAME(turned)(x[6], w2);
    x[7] = NAME(turned)(x[7], w3);
    x[9] = NAME(turned)(x[9], w2);
    x[10] = NAME(quarter)(x[10]);
    x[11] = NAME(turned)(x[11], w6);
    x[13] = NAME(turned)(x[13], w3);
    x[14] = NAME(turned)(x[14], w6);
    x[15] = NAME(turned)(x[15], w9);
    UNROLL
    for (int k = 0; k < 16; k += 4)
        NAME(four_of)(x + k, x + k + 1, x + k + 2, x + k + 3);
}

#define STORE(j, value) y[q + s * (r * p + j)] = turn && j ? NAME(turned)(value, w + 2 * (j - 1)) : value
#define EACH                                                                                      \
    for (long p = 0; p < m; p++, w += 2 * (r - 1))                                                \
        for (long q = 0; q < s; q++)
#define TAKE(k) x[q + s * (p + m * k)]

INLINE void NAME(two)(const int turn, long m, long s, const T *w, const C *x, C *y)
{
    const long r = 2;
    EACH {
        const C a = TAKE(0), b = TAKE(1);
        STORE(0, NAME(sum)(a, b));
        STORE(1, NAME(difference)(a, b));
    }
}

INLINE void NAME(three)(const int turn, long m, long s, const T *w, const C *x, C *y)
{
    const long r = 3;
    const T half = (T)-0.5, sine = (T)0.866025403784438646763723170752936183;
    EACH {
        const C a = TAKE(0), b = TAKE(1), c = TAKE(2);
        const C both = NAME(sum)(b, c), apart = NAME(times)(NAME(quarter)(NAME(difference)(b, c)), sine);
        const C mean = NAME(plus)(a, both, half);
        STORE(0, NAME(sum)(a, both));
        STORE(1, NAME(sum)(mean, apart));
        STORE(2, NAME(difference)(mean, apart));
    }
}

INLINE void NAME(four)(const int turn, long m, long s, const T *w, const C *x, C *y)
{
    const long r = 4;
    EACH {
        C a = TAKE(0), b = TAKE(1), c = TAKE(2), d = TAKE(3);
        NAME(four_of)(&a, &b, &c, &d);
        STORE(0, a);
        STORE(1, b);
        STORE(2, c);
        STORE(3, d);
    }
}

INLINE void NAME(five)(const int turn, long m, long s, const T *w, const C *x, C *y)
{
    const long r = 5;
    const T c1 = (T)0.309016994374947424102293417182819059;
    const T c2 = (T)-0.809016994374947424102293417182819059;
    const T s1 = (T)0.951056516295153572116439333379382143;
    const T s2 = (T)0.587785252292473129168705954639072769;
    EACH {
        const C a = TAKE(0), b = TAKE(1), c = TAKE(2), d = TAKE(3), e = TAKE(4);
        const C be = NAME(sum)(b, e), cd = NAME(sum)(c, d);
        const C eb = NAME(quarter)(NAME(difference)(b, e)), dc = NAME(quarter)(NAME(difference)(c, d));
        const C near = NAME(plus)(NAME(plus)(a, be, c1), cd, c2);
        const C far = NAME(plus)(NAME(plus)(a, be, c2), cd, c1);
        const C near_turn = NAME(plus)(NAME(times)(eb, s1), dc, s2);
        const C far_turn = NAME(plus)(NAME(times)(eb, s2), dc, -s1);
        STORE(0, NAME(sum)(NAME(sum)(a, be), cd));
        STORE(1, NAME(sum)(near, near_turn));
        STORE(2, NAME(sum)(far, far_turn));
        STORE(3, NAME(difference)(far, far_turn));
        STORE(4, NAME(difference)(near, near_turn));
    }
}

INLINE void NAME(eight)(const int turn, long m, long s, const T *w, const C *x, C *y)
{
    const long r = 8;
    const T root = (T)0.707106781186547524400844362104849039;
    EACH {
        const C a = TAKE(0), b = TAKE(1), c = TAKE(2), d = TAKE(3);
        const C e = TAKE(4), f = TAKE(5), g = TAKE(6), h = TAKE(7);
        /* four of the even ones, of the odd ones */
        const C ae = NAME(sum)(a, e), cg = NAME(sum)(c, g), bf = NAME(sum)(b, f), dh = NAME(sum)(d, h);
        const C ea = NAME(difference)(a, e), gc = NAME(quarter)(NAME(difference)(c, g));
        const C fb = NAME(difference)(b, f), hd = NAME(quarter)(NAME(difference)(d, h));
        const C even0 = NAME(sum)(ae, cg), even2 = NAME(difference)(ae, cg);
        const C even1 = NAME(sum)(ea, gc), even3 = NAME(difference)(ea, gc);
        const C odd0 = NAME(sum)(bf, dh), odd2 = NAME(quarter)(NAME(difference)(bf, dh));
        const C p1 = NAME(sum)(fb, hd), p3 = NAME(difference)(fb, hd);
        const C odd1 = {{(p1.v[0] + p1.v[1]) * root, (p1.v[1] - p1.v[0]) * root}};
        const C odd3 = {{(p3.v[1] - p3.v[0]) * root, -(p3.v[0] + p3.v[1]) * root}};
        STORE(0, NAME(sum)(even0, odd0));
        STORE(1, NAME(sum)(even1, odd1));
        STORE(2, NAME(sum)(even2, odd2));
        STORE(3, NAME(sum)(even3, odd3));
        STORE(4, NAME(difference)(even0, odd0));
        STORE(5, NAME(difference)(even1, odd1));
        STORE(6, NAME(difference)(even2, odd2));
        STORE(7, NAME(difference)(even3, odd3));
    }
}

/* Any odd radix; `roots`: cos and sin of 2 pi k / r. */
static void NAME(odd)(long r, long m, long s, const T *w, const T *roots, const C *x, C *y)
{
    const int turn = 1;
    const long half = r / 2;
    C both[MAX_RADIX / 2 + 1], apart[MAX_RADIX / 2 + 1];
    EACH {
        const C a = TAKE(0);
        C all = a;
        for (long k = 1; k <= half; k++) {
            const C b = TAKE(k), c = TAKE((r - k));
            both[k] = NAME(sum)(b, c);
            apart[k] = NAME(quarter)(NAME(difference)(b, c));
            all = NAME(sum)(all, both[k]);
        }
        STORE(0, all);
        for (long j = 1; j <= half; j++) {
            C even = a, odd = {{{0}, {0}}};
            for (long k = 1, at = j; k <= half; k++, at = at + j < r ? at + j : at + j - r) {
                even = NAME(plus)(even, both[k], roots[2 * at]);
                odd = NAME(plus)(odd, apart[k], roots[2 * at + 1]);
            }
            STORE(j, NAME(sum)(even, odd));
            STORE((r - j), NAME(difference)(even, odd));
        }
    }
}

#define PASS(name)                                                                                \
    if (m > 1)                                                                                    \
        NAME(name)(1, m, s, w, x, y);                                                             \
    else                                                                                          \
        NAME(name)(0, m, s, w, x, y);                                                             \
    break

/* All passes; returns x or y, where the result is. */
static C *NAME(passes)(const imode_plan *plan, C *x, C *y)
{
    const T *w = plan->twiddles, *roots = plan->roots;
    long m = plan->n, s = 1;
    for (const int *radix = plan->radices; *radix; radix++) {
        const long r = *radix;
        m /= r;
        switch (r) {
        case 2: PASS(two);
        case 3: PASS(three);
        case 4: PASS(four);
        case 5: PASS(five);
        case 8: PASS(eight);
        default: NAME(odd)(r, m, s, w, roots, x, y); roots += 2 * r;
        }
        w += 2 * (r - 1) * m;
        s *= r;
        C *other = x;
        x = y;
        y = other;
    }
    return x;
}

#undef STORE
#undef EACH
#undef TAKE
#undef PASS
