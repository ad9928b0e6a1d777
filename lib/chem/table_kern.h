/* chem/table_kern: tables of rates by temperature and their interpolation, in vectors of cells or,
 * in device kernels, for single cells (vec/vec.h). For files of the module alone. */
#pragma once
#ifndef VEC_REGISTER
#define VEC_REGISTER /* a sub-step has more vectors than there are registers */
#endif
#include "vec/vec.h"

#if defined(__AVX512F__) && !defined(VEC_ONE)
#include <immintrin.h>
#define CHEM_AVX512
#endif

/* Rates that are always multiplied by the same densities are one channel. Cooling of an ion: by its
 * collisional ionisation and excitation, and, of HII, HeII and HeIII, by recombination and
 * bremsstrahlung, with case A and B, of HeII also dielectronic. */
enum chem_channel {
    CHEM_ALPHA_HII,   /* recombination, case A, cm³/s */
    CHEM_ALPHA_HII_B, /* case B; the same order for the next ones */
    CHEM_BETA_HI,     /* collisional ionisation, cm³/s */
    CHEM_COOL_HI,     /* erg cm³/s */
    CHEM_COOL_HII,
    CHEM_COOL_HII_B,
    CHEM_ALPHA_HEII,
    CHEM_ALPHA_HEII_B,
    CHEM_ALPHA_HEIII,
    CHEM_ALPHA_HEIII_B,
    CHEM_BETA_HEI,
    CHEM_BETA_HEII,
    CHEM_COOL_HEI,
    CHEM_COOL_HEII,
    CHEM_COOL_HEII_B,
    CHEM_COOL_HEIII,
    CHEM_COOL_HEIII_B,
    CHEM_DUST_H2,  /* formation of H2 on dust, cm³/s */
    CHEM_GAS_H2,   /* in the gas, by H⁻, cm³/s */
    CHEM_THREE_H2, /* by three bodies, cm⁶/s */
    CHEM_BREAK_HI, /* collisional dissociation of H2 by HI, by H2, cm³/s */
    CHEM_BREAK_H2,
    CHEM_COOL_H2HI, /* cooling by H2 that HI, H2 excites, erg cm³/s */
    CHEM_COOL_H2H2,
    CHEM_CHANNELS
};

enum { CHEM_NODES = 1001, CHEM_NODE = 4 * CHEM_CHANNELS, CHEM_METALS = 91 };
static const double CHEM_LOG_MIN = -2, CHEM_LOG_MAX = 9; /* log10 T */

/* Coefficients of the cubic polynomials in the distance to the lower node, in log10 T, and of the
 * power laws above the last node: log2 of the rate there, exponent. Cooling by metals is linear
 * between nodes of its own. */
struct chem_tables {
    double node[CHEM_NODES - 1][CHEM_CHANNELS][4];
    double above[CHEM_CHANNELS][2];
    double metal[CHEM_METALS][3]; /* log10 T, log10 of the cooling rate of metals, its slope */
};

#define CHEM_LOG10_2 0.30102999566398119521
#define CHEM_LN10 2.30258509299404568402
#define CHEM_LOG2_E 1.44269504088896340736

/* Most constants of RAMSES have single precision, which shows where cases A and B almost cancel. */
#define SINGLE(x) ((double)x##f)

/* e^x for x ≤ 690, 0 where it is tiny. */
VEC_INLINE vec chem_exp(vec x)
{
    return vec_exp2(vec_max(x * CHEM_LOG2_E, vec_of(-1000)));
}

/* vec_any by one instruction. */
VEC_INLINE bool chem_any(vec_bits mask)
{
#ifdef CHEM_AVX512
    return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#else
    return vec_any(mask);
#endif
}

/* Element k of the vector is p[at[k]]. */
VEC_INLINE vec chem_gather(const double *p, const int at[VEC])
{
#ifdef VEC_ONE
    return p[at[0]];
#elif defined(CHEM_AVX512)
    return (vec)_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)at), p, 8);
#elif defined(__AVX__)
    return (vec){p[at[0]], p[at[1]], p[at[2]], p[at[3]]};
#else
    return (vec){p[at[0]], p[at[1]]};
#endif
}

/* Positions of temperatures in the tables. */
struct chem_place {
    const struct chem_tables *table;
    vec y, up, inv; /* distance to the lower node, and to the last one; 1/(T ln 10) */
    vec log2;       /* of T */
    vec_bits hot;   /* above the last node */
    bool any_hot;
    int at[VEC]; /* index of the lower node's coefficients */
};

VEC_INLINE struct chem_place chem_place(const struct chem_tables *t, vec T)
{
    const double per = (CHEM_NODES - 1) / (CHEM_LOG_MAX - CHEM_LOG_MIN);
    struct chem_place p;
    double at[VEC];
    p.table = t;
    p.log2 = vec_log2(T);
    vec log = vec_max(p.log2 * CHEM_LOG10_2, vec_of(CHEM_LOG_MIN));
    vec low = vec_round((log - CHEM_LOG_MIN) * per - 0.5);
    low = vec_max(vec_min(low, vec_of(CHEM_NODES - 2)), vec_of(0));
    p.y = log - (CHEM_LOG_MIN + low / per);
    p.up = log - CHEM_LOG_MAX;
    p.inv = 1 / (T * CHEM_LN10);
    p.hot = (vec_bits)(log > CHEM_LOG_MAX);
    p.any_hot = chem_any(p.hot);
    vec_store(at, low * (double)CHEM_NODE);
    for (int k = 0; k < VEC; k++) p.at[k] = (int)at[k];
    return p;
}

VEC_INLINE vec chem_above(const struct chem_place *p, int channel)
{
    const double *above = p->table->above[channel];
    return vec_exp2(above[0] + (above[1] / CHEM_LOG10_2) * p->up);
}

/* A rate, not negative. */
VEC_INLINE vec chem_rate(const struct chem_place *p, int channel)
{
    const double *c = p->table->node[0][channel];
    vec y = p->y, rate = chem_gather(c, p->at) +
                         y * (chem_gather(c + 1, p->at) +
                              y * (chem_gather(c + 2, p->at) + y * chem_gather(c + 3, p->at)));
    rate = vec_max(rate, vec_of(0));
    return p->any_hot ? vec_pick(p->hot, chem_above(p, channel), rate) : rate;
}

/* A rate, and *slope: its derivative by T. */
VEC_INLINE vec chem_rate_slope(const struct chem_place *p, int channel, vec *slope)
{
    const double *c = p->table->node[0][channel];
    vec y = p->y, c0 = chem_gather(c, p->at), c1 = chem_gather(c + 1, p->at),
        c2 = chem_gather(c + 2, p->at), c3 = chem_gather(c + 3, p->at);
    vec rate = vec_max(c0 + y * (c1 + y * (c2 + y * c3)), vec_of(0));
    *slope = (c1 + y * (2 * c2 + y * (3 * c3))) * p->inv;
    if (!p->any_hot) return rate;
    vec hot = chem_above(p, channel);
    *slope = vec_pick(p->hot, hot * (p->table->above[channel][1] * CHEM_LN10) * p->inv, *slope);
    return vec_pick(p->hot, hot, rate);
}
