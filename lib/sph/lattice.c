/* sph/lattice: places of particles in blocks, and their energy (sph/setup.h). Close packing has its
 * rows at x = a (i + ½((j+k) mod 2)), y = a √3/2 (j + ⅓(k mod 2)), z = a √6/3 k. */
#include <math.h>

#include "base/rng.h"
#include "oct/gas_kern.h"
#include "sph/setup.h"

/* Limits of places along an axis and in a block, beyond any memory: their products and sums are
 * numbers. */
static const double MOST = 0x1p31, MOST_PLACES = 0x1p60;

void setup_steps(enum setup_lattice l, double step[3])
{
    step[0] = step[1] = step[2] = 1;
    if (l != SETUP_HCP) return;
    step[1] = sqrt(3.0) / 2;
    step[2] = sqrt(6.0) / 3;
}

int64_t setup_count(enum setup_lattice l, int axis, double length, double step)
{
    const bool even = l == SETUP_HCP && axis > 0;
    const double steps = fmin(length / step, MOST);
    int64_t n = even ? 2 * llround(steps / 2) : llround(steps);
    const int64_t least = even ? 2 : 1;
    return n > least ? n : least;
}

void setup_whole(struct setup *k, const double lo[3], const double side[3])
{
    double step[3];
    setup_steps(k->lattice, step);
    struct setup_block *b = &k->block[0];
    k->nblock = 1;
    for (int d = 0; d < 3; d++) {
        k->lo[d] = b->lo[d] = lo[d];
        k->side[d] = b->side[d] = side[d];
        b->n[d] = d == 0 ? k->par->npx
                         : setup_count(k->lattice, d, side[d], step[d] * side[0] / k->par->npx);
    }
    k->n = setup_places(b);
}

int64_t setup_places(const struct setup_block *b)
{
    const double n = (double)b->n[0] * (double)b->n[1] * (double)b->n[2];
    return n < MOST_PLACES ? b->n[0] * b->n[1] * b->n[2] : (int64_t)MOST_PLACES;
}

/* Rounding may lead to the upper side of a block, which belongs to the next one. */
static double within(const struct setup_block *b, int d, double part)
{
    double x = b->lo[d] + b->side[d] * part;
    return x < b->lo[d] + b->side[d] ? x : b->lo[d];
}

static void random_at(const struct setup *k, const struct setup_block *b, int64_t i, double x[3])
{
    enum { PURPOSE = 0x706c6163 }; /* 'plac' */
    struct rng r = rng_make(rng_mix((uint64_t)k->par->seed ^ PURPOSE), (uint64_t)i, 0);
    for (int d = 0; d < 3; d++) x[d] = within(b, d, rng_uniform(&r));
}

static void regular_at(const struct setup *k, const struct setup_block *b, int64_t i, double x[3])
{
    const int64_t c[3] = {i % b->n[0], i / b->n[0] % b->n[1], i / b->n[0] / b->n[1]};
    double shift[3] = {0.5, 0.5, 0.5};
    if (k->lattice == SETUP_HCP) {
        shift[0] = (double)((c[1] + c[2]) % 2) / 2;
        shift[1] = (double)(c[2] % 2) / 3;
        shift[2] = 0;
    }
    for (int d = 0; d < 3; d++) x[d] = within(b, d, ((double)c[d] + shift[d]) / (double)b->n[d]);
}

int setup_at(const struct setup *k, int64_t i, double x[3])
{
    int which = 0;
    int64_t in = i;
    while (in >= setup_places(&k->block[which])) {
        in -= setup_places(&k->block[which++]);
        BUG_ON(which == k->nblock);
    }
    if (k->lattice == SETUP_RANDOM)
        random_at(k, &k->block[which], i, x);
    else
        regular_at(k, &k->block[which], in, x);
    return which;
}

double setup_thickness(const struct setup *k, double volume)
{
    const struct smooth_par *eq = &k->s->eq;
    return 1.05 * 2 * smooth_support(eq->kernel) * eq->eta * cbrt(volume);
}

double setup_energy(const struct setup *k, double pressure, double rho)
{
    const struct smooth_par *eq = &k->s->eq;
    return eq->eos == SMOOTH_ADIABATIC ? gas_internal_of(pressure, eq->gamma) / rho : 0;
}
