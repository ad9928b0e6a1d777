/* phys/turbulence: see turbulence.h. Gradients are differences between opposite faces of a cell. On
 * a face velocity and force are density-weighted means of both cells; if this level has no cell
 * beyond, the inner cell counts alone. */
#include "phys/turbulence.h"

#include <math.h>

static const double FORCING = 0.3;              /* compressive fraction without a force */
static const double PHI_T = 0.49;               /* Federrath & Klessen (2012), table 3: hydro, */
static const double PHI_X = 0.19, THETA = 0.97; /* multi-freefall KM and PN */
static const double FREE_FALL = 0.5427; /* sqrt(3 pi/32): free-fall time in units of (G rho)^-1/2 */

/* ---- models ---- */

/* Variance of ln rho (Federrath & Klessen 2012, equation 4), with b from the compressive fraction
 * of the forcing (Federrath et al. 2010, equation 23). */
static double log_width(const struct turbulent_cell *t)
{
    double p = t->compressive, z = 0.5;
    if (3 * p - 1 != 0) z = ((p - 1) + sqrt(2 * p * (1 - p))) / (3 * p - 1);
    double b = 1 + (1 / 3.0 - 1) * z;
    return log(1 + b * b * (t->sigma2 / t->cs2));
}

/* Multi-freefall fraction of the gas denser than the critical density (Hennebelle & Chabrier 2011;
 * Federrath & Klessen 2012, equation 41). critical: in units of the mean density. */
static double multi_freefall(const struct turbulent_cell *t, double critical)
{
    double s = log_width(t);
    if (!(s > 0)) return critical < 1 ? PHI_T : 0;
    return 0.5 * PHI_T * exp(3 * s / 8) * erfc((log(critical) - s) / sqrt(2 * s));
}

double turbulence_model(int model, const struct turbulent_cell *t)
{
    double mach2 = t->sigma2 / t->cs2, d2 = t->dx * t->dx;
    double virial = 5 * t->sigma2 / (M_PI * t->G * t->rho * d2); /* sphere of the cell's width */
    double time = FREE_FALL / sqrt(t->G * t->rho), alpha;
    switch (model) {
    case 1: /* Krumholz & McKee 2005 */
        return multi_freefall(t, M_PI * M_PI / 5 * (PHI_X * PHI_X) * virial * mach2);
    case 2: /* Padoan & Nordlund 2011 */
        return multi_freefall(t, 0.067 / (THETA * THETA) * virial * mach2);
    case 3: /* bound gas at a density maximum */
        alpha = (t->shear2 - t->cs2 * t->laplacian / t->rho) / (4 * M_PI * t->G * t->rho);
        return alpha < 1 && t->laplacian < 0;
    case 4: /* Padoan et al. 2012 */
        return exp(-1.6 * time * 2 * sqrt(t->sigma2 + t->cs2) / t->dx);
    case 5: /* Hopkins et al. 2013 */
        return 0.5 * (t->divergence2 + t->curl2) / (t->G * t->rho) < 1;
    default:
        return 1;
    }
}

/* ---- a cell and its six neighbours ---- */

struct faces {
    double rho[6];      /* densities of the neighbours */
    double dv[3][3];    /* [axis][component] differences over the cell */
    double power[3][3]; /* [axis][component] differences of rho v f */
};

/* Cell beyond face f (−x, +x, …) of a cell; the cell itself if this level has none. */
static lidx beyond(const struct level *lv, lidx i, int c, int f, int *cell)
{
    int bit = 1 << (f >> 1);
    bool inside = ((c & bit) != 0) != (f & 1);
    *cell = c ^ bit;
    if (inside) return i;
    lidx j = lv->nbr[i][f];
    if (j >= 0) return j;
    *cell = c;
    return i;
}

static struct faces faces_of(const struct level *lv, lidx i, int c)
{
    struct faces o = {0};
    double rho = level_gas(lv, GAS_DENSITY)[i][c];
    for (int f = 0; f < 6; f++) {
        int n, axis = f >> 1;
        lidx j = beyond(lv, i, c, f, &n);
        double other = level_gas(lv, GAS_DENSITY)[j][n], sign = f & 1 ? 1 : -1;
        o.rho[f] = other;
        for (int d = 0; d < 3; d++) {
            double v = (level_gas(lv, GAS_MOMENTUM + d)[j][n] +
                        level_gas(lv, GAS_MOMENTUM + d)[i][c]) /
                       (other + rho);
            o.dv[axis][d] += sign * v;
            if (!level_force(lv, d)) continue;
            double force = (other * level_force(lv, d)[j][n] + rho * level_force(lv, d)[i][c]) /
                           (other + rho);
            o.power[axis][d] += sign * (0.5 * (other + rho) * v * force);
        }
    }
    return o;
}

/* Sums of the squared differences: *along of components along their axis, *across of the others. */
static void dispersions(const struct faces *o, double *along, double *across)
{
    *along = *across = 0;
    for (int a = 0; a < 3; a++)
        for (int d = 0; d < 3; d++) *(a == d ? along : across) += o->dv[a][d] * o->dv[a][d];
}

/* Compressive fraction of the work of the force. */
static double compressive_share(const struct faces *o)
{
    double along = 0, all = 0;
    for (int a = 0; a < 3; a++)
        for (int d = 0; d < 3; d++) {
            if (a == d) along += fmax(o->power[a][d], 0);
            all += a == d ? fmax(o->power[a][d], 0) : fabs(o->power[a][d]);
        }
    return all > 0 ? along / all : FORCING;
}

/* ---- the level ---- */

struct scalars { /* fields of the scalars; -1: none */
    int along, across;
};

static struct scalars scalars_of(const struct term_run *r)
{
    const int *at = r->hydro->vars.at;
    return (struct scalars){at[SCALAR_TURBULENCE], at[SCALAR_SOLENOIDAL]};
}

/* Updates the turbulence scalars of a cell: the old values decay, and new ones are added. */
static void renew(const struct term_run *r, const struct level *lv, lidx i, int c)
{
    struct scalars k = scalars_of(r);
    double rho = level_gas(lv, GAS_DENSITY)[i][c], keep = 0, along, across,
           tdiss = r->par->sf.sf_tdiss;
    double *a = &level_gas(lv, k.along)[i][c],
           *b = k.across >= 0 ? &level_gas(lv, k.across)[i][c] : NULL;
    struct faces o = faces_of(lv, i, c);
    dispersions(&o, &along, &across);
    double old = (fmax(*a, 0) + (b ? fmax(*b, 0) : 0)) / rho;
    if (tdiss > 0) keep = exp(-r->dt * sqrt(old) / (tdiss * mesh_dx(r->mesh, r->level)));
    *a = keep * fmax(*a, 0) + rho * (b ? along : along + across);
    if (b) *b = keep * fmax(*b, 0) + rho * across;
}

void turbulence_update(const struct term_run *r)
{
    const struct level *lv = &r->mesh->lev[r->level];
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++)
            if (lv->child[i][c] < 0) renew(r, lv, i, c);
}

/* Square of the sound speed, P/rho, without the pressure of the floor. */
static double sound2(const struct term_run *r, const struct star_law *law, const struct level *lv,
                     lidx i, int c)
{
    double floor = floor_T2(&law->floor, level_gas(lv, GAS_DENSITY)[i][c] * r->units.hydrogen);
    double min = r->hydro->smallc * r->hydro->smallc;
    return fmax((star_T2(r, lv, i, c) - floor) / r->units.temperature, min);
}

double turbulence_efficiency(const struct term_run *r, const struct star_law *law, lidx i, int c)
{
    const struct level *lv = &r->mesh->lev[r->level];
    struct faces o = faces_of(lv, i, c);
    struct scalars k = scalars_of(r);
    double along, across, dx = mesh_dx(r->mesh, r->level);
    struct turbulent_cell t = {.rho = level_gas(lv, GAS_DENSITY)[i][c],
                               .dx = dx,
                               .G = law->G,
                               .cs2 = sound2(r, law, lv, i, c),
                               .compressive = compressive_share(&o)};
    dispersions(&o, &along, &across);
    t.shear2 = (along + across) / (dx * dx);
    t.sigma2 = level_gas(lv, k.along)[i][c] / t.rho;
    if (k.across >= 0) t.sigma2 += level_gas(lv, k.across)[i][c] / t.rho;
    double div = 0, laplacian = 0;
    for (int a = 0; a < 3; a++) {
        int y = (a + 1) % 3, z = (a + 2) % 3;
        double curl = (o.dv[y][z] - o.dv[z][y]) / dx;
        t.curl2 += curl * curl;
        div += o.dv[a][a] / dx;
        laplacian += 0.5 * (o.rho[2 * a] + o.rho[2 * a + 1]) - t.rho;
    }
    t.divergence2 = div * div;
    t.laplacian = laplacian / (0.25 * dx * dx);
    return turbulence_model(r->par->physics.sf_model, &t);
}
