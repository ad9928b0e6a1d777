/* turb/kiss: see kiss.h. */
#include "turb/kiss.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "turb/force_kern.h"

enum { N = TURB_NODES, LARGE = N / 2 };

/* ---- the generator ---- */

static uint64_t draw_bits(uint64_t s[4])
{
    const uint64_t t = (s[0] << 58) + s[3];
    if (s[0] >> 63 == t >> 63)
        s[3] = (s[0] >> 6) + (s[0] >> 63);
    else
        s[3] = (s[0] >> 6) + 1 - ((s[0] + t) >> 63);
    s[0] += t;
    s[1] ^= s[1] << 13;
    s[1] ^= s[1] >> 17;
    s[1] ^= s[1] << 43;
    s[2] = UINT64_C(6906969069) * s[2] + 1234567;
    return s[0] + s[1] + s[2];
}

/* In [0, 1). */
static double draw_real(uint64_t s[4])
{
    return (double)(draw_bits(s) & 0xfffffffffffffu) * 0x1p-52;
}

/* A normal deviate by the polar method, which throws the second one away. */
static double draw_normal(uint64_t s[4])
{
    double x, square;
    do {
        x = 2 * draw_real(s) - 1;
        const double y = 2 * draw_real(s) - 1;
        square = x * x + y * y;
    } while (square >= 1);
    return x * sqrt(-2 * log(square) / square);
}

/* ---- modes ---- */

static int wave(int i)
{
    return i > LARGE ? i - N : i;
}

/* Whether the mode is the conjugate of one that comes before it. */
static bool is_conjugate(const int k[3])
{
    for (int d = 2; d >= 0; d--) {
        if (k[d] > LARGE) return true;
        if (k[d] != 0 && k[d] != LARGE) return false;
    }
    return false;
}

static double weight_of(const struct turb_spectrum *s, const int k[3])
{
    return turb_weight(s, sqrt((double)(k[0] * k[0] + k[1] * k[1] + k[2] * k[2])), k);
}

static void list_modes(struct turb_kiss *o, const struct turb_spectrum *s)
{
    int room = 0, *index = mem_new(sizeof *index * N * N * N, "turbulence");
    for (int at = 0; at < N * N * N; at++) {
        const int k[3] = {at % N, at / N % N, at / (N * N)};
        const int x = wave(k[0]), y = wave(k[1]), z = wave(k[2]);
        index[at] = weight_of(s, (const int[3]){x, y, z}) != 0 ? o->n : -1;
        if (index[at] < 0) continue;
        MEM_ROOM(o->k, o->n, room, 64, "turbulence");
        memcpy(o->k[o->n++], k, sizeof k);
    }
    o->partner = mem_new(sizeof *o->partner * (size_t)o->n, "turbulence");
    o->weight = mem_new(sizeof *o->weight * (size_t)o->n, "turbulence");
    for (int i = 0; i < o->n; i++) {
        const int *k = o->k[i];
        const int other = ((N - k[2]) % N * N + (N - k[1]) % N) * N + (N - k[0]) % N;
        o->partner[i] = is_conjugate(k) ? index[other] : -1;
        o->weight[i] = weight_of(s, (const int[3]){wave(k[0]), wave(k[1]), wave(k[2])});
    }
    o->half = s->one;
    mem_free(index);
}

static bool is_own(const int k[3])
{
    return k[0] % LARGE == 0 && k[1] % LARGE == 0 && k[2] % LARGE == 0;
}

/* RAMSES takes the real part of a wave that has no conjugate: half of what a lattice of waves and
 * their conjugates has, with half its mean square. */
double turb_kiss_power(const struct turb_kiss *o)
{
    double squares = 0;
    for (int i = 0; i < o->n; i++) squares += o->weight[i] * o->weight[i];
    return sqrt(o->half ? 2 * squares : squares);
}

/* ---- the process ---- */

static void draw_mode(struct turb_kiss *o, int i, double g[3][2])
{
    double size[3], phase[3];
    for (int d = 0; d < 3; d++) size[d] = draw_normal(o->state);
    for (int d = 0; d < 3; d++) phase[d] = draw_real(o->state) * 2.0 * M_PI - 1.0;
    for (int d = 0; d < 3; d++) {
        g[d][0] = size[d] * cos(phase[d]) * sqrt(o->delta) * o->weight[i];
        g[d][1] = size[d] * sin(phase[d]) * sqrt(o->delta) * o->weight[i];
        if (is_own(o->k[i])) g[d][0] = hypot(g[d][0], g[d][1]), g[d][1] = 0;
    }
}

static void grow_mode(struct turb_kiss *o, int i)
{
    double g[3][2], n[3];
    double(*a)[2] = o->next[i];
    draw_mode(o, i, g);
    for (int d = 0; d < 3; d++) n[d] = abs(wave(o->k[i][d]));
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int d = 0; d < 3; d++) n[d] /= length;
    for (int c = 0; c < 2; c++) {
        const double dot = n[0] * g[0][c] + n[1] * g[1][c] + n[2] * g[2][c];
        for (int d = 0; d < 3; d++) {
            const double along = n[d] * dot;
            a[d][c] += along * o->along + (g[d][c] - along) * o->across;
        }
    }
}

static void grow(struct turb_kiss *o)
{
    for (int i = 0; i < o->n; i++) {
        const int j = o->partner[i];
        if (j < 0) grow_mode(o, i);
        for (int d = 0; d < 3 && j >= 0; d++) {
            o->next[i][d][0] = o->next[j][d][0];
            o->next[i][d][1] = -o->next[j][d][1];
        }
    }
}

void turb_kiss_step(struct turb_kiss *o)
{
    o->t_last = o->t_next;
    o->t_next = o->t_last + o->delta;
    memcpy(o->last, o->next, sizeof *o->last * (size_t)o->n);
    grow(o);
    for (int i = 0; i < o->n; i++)
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 2; c++) o->next[i][d][c] -= o->last[i][d][c] * o->decay;
}

/* ---- a run ---- */

void turb_kiss_seed(uint64_t seed, uint64_t state[4])
{
    enum { WARM = 10000 };
    for (int i = 0; i < 4; i++) state[i] = seed;
    for (int i = 0; i < WARM; i++) draw_bits(state);
}

static struct turb_kiss *at_rest(const struct turb_spectrum *s, const uint64_t state[4],
                                 double comp_frac)
{
    struct turb_kiss *o = mem_zero(sizeof *o, "turbulence");
    list_modes(o, s);
    o->last = mem_zero(sizeof *o->last * (size_t)o->n, "turbulence");
    o->next = mem_zero(sizeof *o->next * (size_t)o->n, "turbulence");
    memcpy(o->state, state, sizeof o->state);
    o->along = comp_frac, o->across = 1 - comp_frac;
    o->delta = 1;
    return o;
}

struct turb_kiss *turb_kiss_once(const struct turb_spectrum *s, double comp_frac, uint64_t state[4])
{
    struct turb_kiss *o = at_rest(s, state, comp_frac);
    grow(o);
    memcpy(o->last, o->next, sizeof *o->last * (size_t)o->n);
    memcpy(state, o->state, sizeof o->state);
    return o;
}

struct turb_kiss *turb_kiss_new(const struct param_turb *p, const struct turb_spectrum *s,
                                uint64_t seed, double t)
{
    enum { TIMES = 5 };
    uint64_t state[4];
    turb_kiss_seed(seed, state);
    struct turb_kiss *o = at_rest(s, state, p->comp_frac);
    o->before_2026 = strcmp(p->turb_rule, "ramses") == 0;
    o->delta = p->turb_t / p->turb_ndt;
    o->decay = o->delta / p->turb_t;
    o->t_next = t;
    grow(o);
    turb_kiss_step(o);
    /* RAMSES before 2026 leaves its clock one interval ahead after these steps: the field of the
     * first interval is extrapolated */
    for (int i = 0; p->instant_turb && i < TIMES * p->turb_ndt; i++) {
        turb_kiss_step(o);
        o->t_next = o->t_last;
        o->t_last = o->t_last - o->delta;
    }
    if (p->instant_turb && o->before_2026) o->t_last = o->t_next, o->t_next += o->delta;
    return o;
}

void turb_kiss_free(struct turb_kiss **out)
{
    struct turb_kiss *o = *out;
    if (!o) return;
    FREE(o->k);
    FREE(o->partner);
    FREE(o->weight);
    FREE(o->last);
    FREE(o->next);
    FREE(*out);
}
