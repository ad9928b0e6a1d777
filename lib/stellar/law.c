/* stellar/law: masses, lifetimes and positions of stellar objects. */
#include <math.h>

#include "base/cgs.h"
#include "base/rng.h"
#include "phys/stars.h"
#include "stellar/stellar.h"

enum { SEED_MASS = 0x696d66, SEED_PLACE = 0x736e78 };

struct stellar_law stellar_law(const struct params *par, const struct units *u)
{
    const struct param_stellar *p = &par->stellar;
    double sun = RAMSES_MSUN / u->mass;
    return (struct stellar_law){.threshold = p->stellar_msink_th * sun,
                                .low = p->imf_low * sun,
                                .high = p->imf_high * sun,
                                .index = p->imf_index,
                                .t0 = p->lt_t0 * CGS_MYR / u->time,
                                .m0 = p->lt_m0 * sun,
                                .a = p->lt_a,
                                .b = p->lt_b,
                                .dispersion = p->vdisp * CGS_KM / u->velocity,
                                .at_once = p->sn_direct,
                                .seed = star_seed(par, SEED_MASS),
                                .direction = star_seed(par, SEED_PLACE)};
}

/* Inverse of the cumulative mass function. */
double stellar_mass(const struct stellar_law *law, double u)
{
    double p = law->index + 1, from = pow(law->high, p), to = pow(law->low, p);
    return fmin(fmax(pow(from + (to - from) * u, 1 / p), law->low), law->high);
}

static uint64_t key_of(int64_t born_in, int64_t number)
{
    return rng_mix((uint64_t)born_in) + (uint64_t)number;
}

double stellar_draw(const struct stellar_law *law, int64_t born_in, int64_t number)
{
    struct rng g = rng_make(law->seed, key_of(born_in, number), 0);
    return stellar_mass(law, rng_uniform(&g));
}

/* A mass above lt_m0 has the lifetime lt_t0. */
double stellar_life(const struct stellar_law *law, double mass)
{
    return law->at_once ? 0 : law->t0 * exp(law->a * pow(fmax(log(law->m0 / mass), 0), law->b));
}

static bool periodic(const struct mesh *m, int d)
{
    return !m->bounded[2 * d] && !m->bounded[2 * d + 1];
}

/* A position beyond a boundary is mirrored at the sink, where the box is periodic it is wrapped. */
void stellar_place(const struct stellar_law *law, const struct stellar_object *o,
                   const struct mesh *m, const double x[3], double out[3])
{
    struct rng g = rng_make(law->direction, key_of(o->born_in, o->number), 0);
    double far = fmin(o->life * law->dispersion, 0.5 * m->boxlen), q[3], r2;
    do {
        r2 = 0;
        for (int d = 0; d < 3; d++) {
            q[d] = 2 * rng_uniform(&g) - 1;
            r2 += q[d] * q[d];
        }
    } while (r2 > 1);
    for (int d = 0; d < 3; d++) {
        out[d] = x[d] + far * q[d];
        bool outside = !(out[d] >= 0 && out[d] < m->boxlen);
        if (outside && !periodic(m, d)) out[d] = x[d] - far * q[d];
    }
    sink_wrap(m, out);
}
