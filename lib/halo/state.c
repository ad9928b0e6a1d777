/* halo/state: see state.h. */
#include "halo/state.h"

#include <math.h>

#include "base/mem.h"
#include "oct/fields.h"

struct halo_point halo_particle(int family, int64_t id, double m, const double x[3],
                                const double v[3], const bool periodic[3])
{
    struct halo_point b = {.m = m, .id = id, .kind = family_species(family)};
    for (int k = 0; k < 3; k++) {
        b.x[k] = periodic[k] ? x[k] - floor(x[k]) : x[k];
        if (periodic[k] && b.x[k] >= 1) b.x[k] = 0; /* one below 0 by less than rounding */
        b.v[k] = v[k];
    }
    return b;
}

struct halo_point halo_cell(int l, okey key, int cell, double mass)
{
    struct halo_point b = {.m = mass, .kind = SPECIES_GAS};
    int64_t at[3];
    okey_coords(key << 3 | (okey)cell, at);
    for (int k = 0; k < 3; k++) b.x[k] = ((double)at[k] + 0.5) * ldexp(1, -l);
    return b;
}

static void put_particles(struct halo_points *b, const struct parts *q, double box,
                          const bool periodic[3])
{
    for (int64_t i = 0; i < q->n; i++) {
        const double x[3] = {q->x[0][i] / box, q->x[1][i] / box, q->x[2][i] / box};
        const double v[3] = {q->v[0][i], q->v[1][i], q->v[2][i]};
        if (!family_has_mass(q->family[i])) continue;
        struct halo_point p = halo_particle(q->family[i], q->id[i], q->m[i], x, v, periodic);
        halo_points_add(b, &p);
    }
}

static void put_gas(struct halo_points *b, const struct mesh *m, int l)
{
    const struct level *lv = &m->lev[l];
    double volume = pow(ldexp(1, -l) * m->boxlen, 3);
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            if (lv->child[i][c] >= 0) continue;
            struct halo_point p = halo_cell(l, lv->key[i], c,
                                            level_gas(lv, GAS_DENSITY)[i][c] * volume);
            halo_points_add(b, &p);
        }
}

struct halo_points halo_state(const struct mesh *m, const struct parts *p, const bool periodic[3])
{
    struct halo_points b = {.bad = false};
    put_particles(&b, p, m->boxlen, periodic);
    for (int l = m->levelmin; l <= m->levelmax && m->hydro; l++) put_gas(&b, m, l);
    return b;
}
