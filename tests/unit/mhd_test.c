/* Laws of the step of gas with a magnetic field, in one to three dimensions: div B stays zero and
 * both copies of a face agree to the last bit on a refined mesh, mass, momentum and energy are
 * conserved, bits do not depend on tiles or threads, and waves converge.
 *
 * test: tier=quick */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "gas_mesh.h"
#include "mhd/mhd.h"
#include "patch/reflux.h"

static struct hydro_par gas(void)
{
    struct hydro_par p = {.nvar = GAS_SCALARS + 1,
                          .gamma = 5.0 / 3.0,
                          .smallr = 1e-10,
                          .smallc = 1e-10,
                          .courant_factor = 0.6,
                          .slope_type = SLOPE_MINMOD,
                          .slope_theta = 1.5,
                          .interpol_type = 1};
    gas_vars_init(&p.vars);
    gas_vars_add(&p.vars, NULL);
    return p;
}

static struct mhd_par field(const struct hydro_par *g)
{
    return (struct mhd_par){.gas = g,
                            .riemann = MHD_HLLD,
                            .riemann2d = MHD_EDGE_HLLD,
                            .switch_b = 1e20,
                            .switch_ratio = 1e20,
                            .switch_density = 1e-20,
                            .slope_mag = g->slope_type,
                            .interpol_mag = g->interpol_type,
                            .err_grad_b2 = -1,
                            .err_grad_b = {-1, -1, -1}};
}

static bool in_ball(const double *x, int l, int levelmin)
{
    double r = 0.36 / (1 << (l - levelmin)), d2 = 0.0;
    for (int d = 0; d < gas_mesh_ndim; d++)
        d2 += (x[d] - (0.52 + 0.03 * d)) * (x[d] - (0.52 + 0.03 * d));
    return d2 < r * r && (l == levelmin || d2 > 0.25 * r * r);
}

/* Vector potential along z (and, in three dimensions, y), whose curl is the field. */
static double potential(int axis, const double x[3])
{
    const double t = 2 * M_PI;
    if (axis == 2) return 0.3 * cos(t * x[0]) / t + 0.2 * sin(2 * t * x[1]) / t;
    if (axis == 1)
        return gas_mesh_ndim > 2 ? 0.25 * sin(t * x[2]) / t + 0.3 * cos(t * x[0]) / t : 0;
    return gas_mesh_ndim > 2 ? 0.2 * cos(t * x[1]) / t : 0;
}

/* Field on face f of the cell at y: circulation of the potential around it; along a missing axis a
 * function of the place. */
static double face_field(const double y[3], double dx, int f)
{
    const int d = f >> 1, b = (d + 1) % 3, c = (d + 2) % 3;
    double sum = 0;
    if (d >= gas_mesh_ndim) return 0.3 + 0.1 * sin(2 * M_PI * y[0]);
    if (gas_mesh_ndim < 2) return 0.5; /* checked by test_refined */
    for (int s = 0; s < 2; s++) {
        double x[3] = {y[0], y[1], y[2]};
        x[d] += (f & 1 ? 0.5 : -0.5) * dx;
        double on_c[3] = {x[0], x[1], x[2]}, on_b[3] = {x[0], x[1], x[2]};
        on_c[b] += (s ? 0.5 : -0.5) * dx;
        on_b[c] += (s ? 0.5 : -0.5) * dx;
        for (int a = 0; a < 3; a++) on_c[a] -= floor(on_c[a]), on_b[a] -= floor(on_b[a]);
        sum += (s ? 1 : -1) * (potential(c, on_c) - potential(b, on_b));
    }
    return 0.4 * (d == 0) + sum / dx;
}

static void fill_cell(struct mesh *m, int l, lidx i, int c, const struct hydro_par *p)
{
    struct level *lv = &m->lev[l];
    const double dx = mesh_dx(m, l), t = 2 * M_PI;
    int64_t o[3];
    double y[3], b[3], u[6];
    okey_coords(lv->key[i], o);
    for (int d = 0; d < 3; d++)
        y[d] = d < m->ndim ? ((double)(2 * o[d] + (c >> d & 1)) + 0.5) * dx : 0;
    for (int f = 0; f < 6; f++) lv->fld[FLD_MAGNETIC + f][i][c] = face_field(y, dx, f);
    for (int d = 0; d < 3; d++)
        b[d] = 0.5 *
               (lv->fld[FLD_MAGNETIC + 2 * d][i][c] + lv->fld[FLD_MAGNETIC + 2 * d + 1][i][c]);
    u[0] = 1.0 + 0.3 * sin(t * y[0]) * cos(t * y[1]);
    u[1] = u[0] * (0.7 + 0.4 * sin(t * y[1] + t * y[0]));
    u[2] = u[0] * (0.3 * cos(t * y[0]) - 0.2);
    u[3] = u[0] * (0.5 + 0.2 * sin(t * y[2] + t * y[0]));
    u[4] = gas_total_by_parts(0.6 / (p->gamma - 1), u[0], u[1], u[2], u[3]) +
           gas_magnetic(b[0], b[1], b[2]);
    u[5] = u[0] * (0.5 + 0.2 * cos(t * y[0]));
    for (int v = 0; v < 6; v++) lv->fld[FLD_U + v][i][c] = u[v];
}

static void fill(struct mesh *m, const struct mhd_par *p)
{
    for (int l = 1; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++) {
            for (int c = 0; c < m->cells; c++) fill_cell(m, l, i, c, p->gas);
            for (int f = FLD_MAGNETIC; f < FLD_U + p->gas->nvar; f++)
                oct_repeat(m->cells, m->lev[l].fld[f][i]);
        }
    for (int l = m->levelmax - 1; l >= 1; l--) mhd_restrict(m, l, p);
}

static void build(struct mesh *m, int levelmin, int levelmax, const struct mhd_par *p,
                  const bool *bounded)
{
    mesh_init(m, levelmin, levelmax, p->gas->nvar, true, false, 1.0, bounded);
    mesh_set_ndim(m, gas_mesh_ndim);
    mesh_set_magnetic(m, true);
    gas_mesh_fill(m, in_ball);
    fill(m, p);
}

static void advance(struct mesh *m, int l, double dt, const struct mhd_par *p)
{
    bool finer = l < m->levelmax && m->lev[l + 1].noct > 0;
    if (finer) {
        reflux_begin(m, l + 1, REFLUX_GAS, mhd_nflux(m, p), m->ndim > 1 ? REFLUX_EDGES : 0);
        advance(m, l + 1, 0.5 * dt, p);
        advance(m, l + 1, 0.5 * dt, p);
    }
    mhd_update(m, l, dt, (struct mhd_expansion){0.1, 1, 1}, p, NULL, NULL);
    if (finer) reflux_end(m, l + 1, REFLUX_GAS);
    if (finer) mhd_restrict(m, l, p);
}

/* ---- what must hold ---- */

struct total {
    double of[GAS_SCALARS + 1], divergence, copies;
    uint64_t digest;
};

static void cell_total(const struct mesh *m, int l, lidx i, int c, struct total *t)
{
    const struct level *lv = &m->lev[l];
    double sum = 0, b2 = 0;
    for (int v = 0; v < GAS_SCALARS + 1; v++)
        t->of[v] += lv->fld[FLD_U + v][i][c] * mesh_volume(m, l);
    for (int d = 0; d < 3; d++) {
        const double lo = lv->fld[FLD_MAGNETIC + 2 * d][i][c],
                     hi = lv->fld[FLD_MAGNETIC + 2 * d + 1][i][c];
        if (d < m->ndim) sum += hi - lo;
        b2 += 0.25 * (hi + lo) * (hi + lo);
        if (d >= m->ndim && lo != hi) t->copies = 1;
        if (m->ndim < 2 && d == 0 && lo != 0.5) t->copies = 1;
    }
    t->divergence = fmax(t->divergence, fabs(sum) / sqrt(b2));
    for (int f = 0; f < 2 * m->ndim; f++) {
        const int bit = 1 << (f >> 1);
        const lidx j = ((c & bit) != 0) == (f & 1) ? lv->nbr[i][f] : i;
        if (j < 0) continue;
        t->copies = fmax(t->copies, fabs(lv->fld[FLD_MAGNETIC + f][i][c] -
                                         lv->fld[FLD_MAGNETIC + (f ^ 1)][j][c ^ bit]));
    }
}

static struct total total_of(const struct mesh *m)
{
    struct total t = {{0}, 0, 0, 1};
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            for (int c = 0; c < m->cells; c++) {
                if (m->lev[l].child[i][c] < 0) cell_total(m, l, i, c, &t);
                for (int f = FLD_MAGNETIC; f < FLD_U + m->nvar; f++) {
                    uint64_t b;
                    memcpy(&b, &m->lev[l].fld[f][i][c], 8);
                    t.digest = rng_mix(t.digest ^ b);
                }
            }
    return t;
}

static struct total run_of(struct mhd_par p, const bool *bounded, int steps, struct total *first)
{
    struct mesh m;
    build(&m, 4, 6, &p, bounded);
    if (first) *first = total_of(&m);
    for (int k = 0; k < steps; k++) {
        double dt = HUGE_VAL;
        for (int l = 4; l <= 6; l++) dt = fmin(dt, mhd_courant(&m, l, &p, NULL) * (1 << (l - 4)));
        advance(&m, 4, dt, &p);
    }
    struct total t = total_of(&m);
    mesh_fini(&m);
    return t;
}

static void test_refined(int ndim)
{
    static const bool periodic[6] = {false};
    gas_mesh_ndim = ndim;
    struct hydro_par g = gas();
    struct total a, b = run_of(field(&g), periodic, 6, &a);
    printf(
        "%d-D: div B %g, copies %g; change of mass %g, momentum %g %g %g, energy %g, scalar %g\n",
        ndim, b.divergence, b.copies, b.of[0] / a.of[0] - 1, b.of[1] - a.of[1], b.of[2] - a.of[2],
        b.of[3] - a.of[3], b.of[4] / a.of[4] - 1, b.of[5] / a.of[5] - 1);
    CHECK(a.copies == 0 && b.copies == 0);
    CHECK(b.divergence < 1e-13);
    for (int v = 0; v < GAS_SCALARS + 1; v++) CHECK(fabs(b.of[v] - a.of[v]) < 4e-14);
    g.tile_depth = 1;
    CHECK(run_of(field(&g), periodic, 6, NULL).digest == b.digest);
    g.tile_depth = 3;
    CHECK(run_of(field(&g), periodic, 6, NULL).digest == b.digest);
    omp_set_num_threads(3);
    CHECK(run_of(field(&g), periodic, 6, NULL).digest == b.digest);
    omp_set_num_threads(1);
}

int main(void)
{
    for (int ndim = 1; ndim <= 3; ndim++) test_refined(ndim);
    printf("mhd_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
