/* galaxy/disc: discs of gas, after the patch merger of RAMSES by D. Chapon.
 *
 * At distance r from the axis and height z the density is rho0 R(r) Z(z), with R = exp(-r/a) or
 * 1/sqrt(1 + r²/a²) and Z = exp(-z²/2h²) or exp(-|z|/h), cut off at radius C and height H. Of a
 * cell that the edge cuts, the weight w is the part of r ± dx/2 inside, and r moves to the middle
 * of this part; z has a weight of the same form, but does not move. The gas is isothermal with
 * 1e4 K; its speed about the axis is w sqrt(Vcirc² - 3 cs² - cs² |dlnR/dlnr|), the last two terms
 * being RAMSES's correction for pressure. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "galaxy/galaxy.h"

/* of the gas in the discs (K), around them (hydrogen nuclei/cm³ and K) */
static const double T2_DISC = 1e4, N_OUTSIDE = 1e-6, T2_OUTSIDE = 1e7;
static const double SOLAR = 0.02; /* mass fraction of metals of the Sun in RAMSES */

struct units merger_units(void)
{
    const double density = 1e9 * RAMSES_MSUN /
                           (RAMSES_KPC_GALAXY * RAMSES_KPC_GALAXY * RAMSES_KPC_GALAXY);
    return units_of(RAMSES_KPC_GALAXY, density, 1 / sqrt(RAMSES_G_GALAXY * density));
}

/* ---- profiles ---- */

static double radial(const struct merger *g, const struct disc *s, double r)
{
    return g->toomre ? 1 / sqrt(1 + r * r / (s->a * s->a)) : exp(-r / s->a);
}

static double vertical(const struct merger *g, const struct disc *s, double z)
{
    return g->gaussian ? exp(-0.5 * (z / s->h) * (z / s->h)) : exp(-z / s->h);
}

/* Density at the centre of a disc of a mass. */
static double central_density(const struct merger *g, const struct disc *s)
{
    const double x = s->cut / s->a, y = s->cut_h / s->h, pi = acos(-1.0);
    const double r = g->toomre ? sqrt(1 + x * x) - 1 : 1 - exp(-x) * (1 + x);
    const double z = g->gaussian ? sqrt(pi / 2) * erf(y / sqrt(2.0)) : 1 - exp(-y);
    return s->mass / (4 * pi * s->a * s->a * s->h * (r * z));
}

/* ---- cells ---- */

/* Part of the interval x ± dx/2 below an edge; 1 for the whole. */
static double part_below(double x, double dx, double edge)
{
    return (fmin(x + dx / 2, edge) - (x - dx / 2)) / dx;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The galaxy whose space has a point. */
static const struct disc *owner(const struct merger *g, const double x[3])
{
    double from[3];
    if (g->n == 1) return &g->disc[0];
    for (int d = 0; d < 3; d++) from[d] = x[d] - g->disc[0].center[d];
    return &g->disc[dot(g->to, from) < g->share ? 0 : 1];
}

static double rotation_speed(const struct merger *g, const struct disc *s, double r)
{
    const double v = curve_at(&s->curve, r),
                 slope = g->toomre ? r * r / (r * r + s->a * s->a) : r / s->a;
    return sqrt(fmax(v * v - 3 * g->cs2 - slope * g->cs2, 0));
}

/* A cell in a disc: x from its centre; flat: the part across the axis, of length r; z: height. */
static struct merger_cell disc_cell(const struct merger *g, const struct disc *s, double dx,
                                    const double flat[3], double r, double z)
{
    const double *n = s->axis,
                 across[3] = {n[1] * flat[2] - n[2] * flat[1], n[2] * flat[0] - n[0] * flat[2],
                              n[0] * flat[1] - n[1] * flat[0]};
    double w = part_below(r, dx, s->cut);
    struct merger_cell c = {0};
    if (w != 1) r += (w - 1) * dx / 2;
    if (r < 0) r = 0; /* a cell wider than the disc */
    const double speed = rotation_speed(g, s, r), inside = w * part_below(z, dx, s->cut_h);
    c.d = fmax(inside * (s->rho * radial(g, s, r) * vertical(g, s, z)), g->rho_min);
    c.p = g->cs2 * c.d;
    c.z = g->metals * pow(10, 0.5 - r / s->cut);
    for (int d = 0; d < 3; d++) c.v[d] = (r > 0 ? inside * speed * across[d] / r : 0) + s->v[d];
    return c;
}

struct merger_cell merger_cell(const struct merger *g, const double x[3], double dx)
{
    const struct disc *s = owner(g, x);
    double from[3], flat[3];
    for (int d = 0; d < 3; d++) from[d] = x[d] - s->center[d];
    const double along = dot(from, s->axis);
    for (int d = 0; d < 3; d++) flat[d] = from[d] - along * s->axis[d];
    const double r = sqrt(dot(flat, flat)), z = fabs(along);
    if (s->mass > 0 && r - dx / 2 < s->cut && z - dx / 2 < s->cut_h)
        return disc_cell(g, s, dx, flat, r, z);
    struct merger_cell c = {.d = g->outside[0], .p = g->outside[1]};
    memcpy(c.v, s->v, sizeof c.v);
    return c;
}

/* ---- parameters ---- */

/* The parameters of one galaxy. */
struct given {
    const double *center, *v;
    double mass, a, cut, h, cut_h;
    const char *curve;
};

static struct given given_of(const struct param_merger *p, int k)
{
    return k == 0
               ? (struct given){p->gal_center1, p->vgal1,       p->mgas_disk1,  p->typ_radius1,
                                p->cut_radius1, p->typ_height1, p->cut_height1, p->vcirc_dat_file1}
               : (struct given){p->gal_center2, p->vgal2,       p->mgas_disk2,  p->typ_radius2,
                                p->cut_radius2, p->typ_height2, p->cut_height2, p->vcirc_dat_file2};
}

static enum err check_place(const struct given *q, int k, double boxlen)
{
    for (int d = 0; d < 3; d++)
        if (fabs(q->center[d]) > boxlen / 2)
            FAIL(ERR_PARAM,
                 "merger_params/gal_center%d: the centre %g, %g, %g of the galaxy is outside of "
                 "the box: it is relative to the centre of the box, and may reach %g (boxlen/2)",
                 k + 1, q->center[0], q->center[1], q->center[2], boxlen / 2);
    return OK;
}

enum err merger_axis(const struct params *par, int k, double axis[3])
{
    const double *given = k == 0 ? par->merger.gal_axis1 : par->merger.gal_axis2;
    for (int d = 0; d < 3; d++) axis[d] = given[d] < DBL_MAX ? given[d] : d == 2;
    const double norm = sqrt(dot(axis, axis));
    if (!(norm > 0))
        FAIL(ERR_PARAM, "merger_params/gal_axis%d is 0, 0, 0: give the axis of rotation", k + 1);
    for (int d = 0; d < 3 && norm != 1; d++) axis[d] = axis[d] / norm;
    return OK;
}

static enum err take_curve(struct disc *s, const struct given *q, int k, const struct units *u)
{
    char name[40];
    snprintf(name, sizeof name, "merger_params/Vcirc_dat_file%d", k + 1);
    TRY(err_of_param(curve_read(q->curve, u->length, u->velocity, &s->curve), name));
    const double last = s->curve.r[s->curve.n - 1] * u->length / RAMSES_KPC_GALAXY;
    if (last < q->cut)
        FAIL(ERR_PARAM,
             "%s: its last row has a radius of %g kpc, but the disc reaches cut_radius%d=%g kpc: "
             "the table must reach as far as the disc",
             q->curve, last, k + 1, q->cut);
    if (last > 200 * q->cut)
        log_info(" %s reaches a radius of %g kpc, many times that of the disc, %g: radii are in "
                 "kpc, as RAMSES reads them; are these pc?",
                 q->curve, last, q->cut);
    return OK;
}

static enum err take_disc(struct merger *g, const struct params *par, int k, const struct units *u)
{
    struct disc *s = &g->disc[k];
    const struct given q = given_of(&par->merger, k);
    const double kpc = RAMSES_KPC_GALAXY / u->length;
    TRY(check_place(&q, k, par->amr.boxlen));
    TRY(merger_axis(par, k, s->axis));
    for (int d = 0; d < 3; d++) {
        s->center[d] = q.center[d] + par->amr.boxlen / 2;
        s->v[d] = q.v[d] * 1e5 / u->velocity;
    }
    s->mass = q.mass * 1e9 * RAMSES_MSUN / u->mass;
    s->a = q.a * kpc;
    s->cut = q.cut * kpc;
    s->h = q.h * kpc;
    s->cut_h = q.cut_h * kpc;
    s->rho = central_density(g, s);
    return s->mass > 0 ? take_curve(s, &q, k, u) : OK;
}

/* The plane between two galaxies, and the lower density at the edges of their discs. */
static enum err take_pair(struct merger *g)
{
    const struct disc *a = &g->disc[0], *b = &g->disc[1];
    double between[3];
    for (int d = 0; d < 3; d++) between[d] = b->center[d] - a->center[d];
    const double square = dot(between, between);
    if (square == 0)
        FAIL(ERR_PARAM, "merger_params: both galaxies have one centre, gal_center1 = gal_center2; "
                        "for a single galaxy set Mgas_disk2=0");
    for (int d = 0; d < 3; d++) g->to[d] = between[d] / square;
    g->share = a->mass / (a->mass + b->mass);
    return OK;
}

static enum err check_masses(const struct param_merger *p)
{
    if (p->mgas_disk2 > p->mgas_disk1)
        FAIL(ERR_PARAM,
             "merger_params: Mgas_disk2=%g is above Mgas_disk1=%g: galaxy 1 must have the more "
             "massive disc",
             p->mgas_disk2, p->mgas_disk1);
    return OK;
}

enum err merger_open(struct merger *g, const struct params *par, const struct units *u, bool metal)
{
    const struct param_merger *p = &par->merger;
    *g = (struct merger){.n = p->mgas_disk2 > 0 ? 2 : 1,
                         .toomre = strcmp(p->rad_profile, "Toomre") == 0,
                         .gaussian = strcmp(p->z_profile, "gaussian") == 0,
                         .cs2 = T2_DISC / u->temperature,
                         .metals = metal ? par->physics.z_ave * SOLAR : 0};
    g->outside[0] = N_OUTSIDE / u->hydrogen;
    g->outside[1] = T2_OUTSIDE / u->temperature * g->outside[0];
    TRY(check_masses(p));
    double edge = INFINITY;
    for (int k = 0; k < g->n; k++) {
        const struct disc *s = &g->disc[k];
        TRY(take_disc(g, par, k, u));
        edge = fmin(edge, s->rho * radial(g, s, s->cut) * vertical(g, s, s->cut_h));
    }
    g->rho_min = p->ig_density_factor * edge;
    return g->n == 2 ? take_pair(g) : OK;
}

void merger_close(struct merger *g)
{
    for (int k = 0; k < 2; k++) curve_free(&g->disc[k].curve);
}
