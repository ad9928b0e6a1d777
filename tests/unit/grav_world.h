/* A small world with a ball of gas, for tests of lib/grav. */
#pragma once
#include <math.h>
#include <string.h>

#include "adapt/adapt.h"
#include "dom/domain.h"
#include "grav/grav.h"

static const double PI = 3.14159265358979323846;

struct world {
    struct comm c;
    struct domain *d;
    struct mesh m;
    /* centre of the refined spheres; cells of level l with a centre closer than radius[l] are
     * split */
    double centre[3];
    const double *radius;
    struct grav_source from; /* tfrac: 0 */
};

static inline struct grav_source world_source(const struct world *w, double tfrac)
{
    struct grav_source from = w->from;
    from.tfrac = tfrac;
    return from;
}

static void cell_at(const struct mesh *m, int l, lidx i, int k, double x[3])
{
    okey_cell_centre(m->lev[l].key[i], k, mesh_dx(m, l), x);
}

static double distance(const struct world *w, const double x[3], const double y[3])
{
    double r2 = 0;
    for (int d = 0; d < 3; d++) {
        double s = fabs(x[d] - y[d]), L = w->m.boxlen;
        if (!w->m.bounded[2 * d] && s > 0.5 * L) s = L - s;
        r2 += s * s;
    }
    return sqrt(r2);
}

/* Splits the cells of level l with a centre closer than radius. */
static void world_refine(struct world *w, int l, double radius)
{
    struct level *lv = &w->m.lev[l];
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) {
            double x[3];
            cell_at(&w->m, l, i, k, x);
            lv->flag[i][k] = distance(w, x, w->centre) < radius;
        }
    adapt_refine(&w->m, &w->c, w->d, l, NULL, NULL);
}

static inline void world_make(struct world *w, const struct comm *c, enum domain_kind kind,
                              int lmin, int lmax, double boxlen, bool isolated,
                              const double *radius)
{
    bool bounded[6];
    for (int f = 0; f < 6; f++) bounded[f] = isolated;
    *w = (struct world){
        .c = *c, .centre = {0.93 * boxlen, 0.52 * boxlen, 0.31 * boxlen}, .radius = radius};
    if (isolated)
        for (int d = 0; d < 3; d++) w->centre[d] = 0.5 * boxlen;
    w->d = domain_new(kind, c->size, lmax, bounded);
    mesh_init(&w->m, lmin, lmax, 5, true, 2, boxlen, bounded);
    adapt_build(&w->m, c, w->d);
    for (int l = lmin; l < lmax; l++) world_refine(w, l, radius[l - lmin] * boxlen);
    w->from = (struct grav_source){.fourpi = 4 * PI * boxlen};
}

static void world_free(struct world *w)
{
    mesh_fini(&w->m);
    domain_free(w->d);
}

/* Compact ball of mass 1: rho = rho_c (1 − s²)², s = r/R < 1. */
static const double BALL = 0.21;

static double ball_density(double r, double R)
{
    double s = r / R, q = 1 - s * s;
    return s < 1 ? 105.0 / (32 * PI * R * R * R) * q * q : 0;
}

static inline double ball_force(double r, double R)
{
    double s = fmin(r / R, 1);
    double mass = 105.0 / 8 *
                  (s * s * s / 3 - 2 * s * s * s * s * s / 5 + s * s * s * s * s * s * s / 7);
    return -mass / (r * r);
}

static inline void set_ball(struct world *w)
{
    struct mesh *m = &w->m;
    struct sum mean;
    sum_init(&mean);
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            for (int k = 0; k < 8; k++) {
                double x[3];
                cell_at(m, l, i, k, x);
                double rho = ball_density(distance(w, x, w->centre), BALL * m->boxlen);
                m->lev[l].fld[FLD_RHO][i][k] = rho;
                if (l == m->levelmin) sum_add(&mean, rho / pow(8, l));
            }
    w->from.far.mass = 1;
    memcpy(w->from.far.com, w->centre, sizeof w->centre);
    comm_sum(&w->c, &mean);
    w->from.rho_tot = m->bounded[0] ? 0 : sum_get(&mean);
}
