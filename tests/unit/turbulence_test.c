/* turbulence_test: star formation from turbulence. Gradients of a linear flow, with velocities
 * weighted by density; multi-freefall models compared with the defining integral. Catches: a
 * difference across the wrong axis, a neighbour of another rank that is stale, turbulence that does
 * not decay or decays twice, a critical density without its square. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "check.h"
#include "dom/ghost.h"
#include "half_world.h"
#include "phys/turbulence.h"

enum { NVAR = 7, ALONG = 5, ACROSS = 6 };
static struct comm comm;
static struct params par;
static struct hydro_par hydro = {.nvar = NVAR, .gamma = 5.0 / 3, .smallc = 1e-10};
/* velocity gradients dv_i/dx_j */
static const double GRADIENT[3][3] = {{0.3, -1.1, 0.4}, {0.9, -0.7, 0.2}, {-0.5, 0.6, 1.3}};

static void world_make(struct world *w)
{
    half_world(w, &comm, NVAR, false);
    for (int l = LMIN; l <= LMAX; l++) {
        struct level *lv = &w->m.lev[l];
        double dx = mesh_dx(&w->m, l);
        for (lidx i = 0; i < 8 * lv->nown; i++) {
            int64_t q[3];
            double x[3];
            okey_coords(lv->key[i / 8] << 3 | (okey)(i % 8), q);
            for (int d = 0; d < 3; d++) x[d] = ((double)q[d] + 0.5) * dx - 0.5;
            for (int v = 0; v < NVAR; v++) lv->fld[FLD_U + v][i / 8][i % 8] = v == 4 ? 9 : 0;
            lv->fld[FLD_U][i / 8][i % 8] = 2;
            for (int d = 0; d < 3; d++)
                for (int j = 0; j < 3; j++)
                    lv->fld[FLD_U + 1 + d][i / 8][i % 8] += 2 * GRADIENT[d][j] * x[j];
        }
        ghost_fill_hydro(&comm, &w->m, l);
    }
}

static struct term_run run_of(struct world *w, int l)
{
    return (struct term_run){.par = &par,
                             .hydro = &hydro,
                             .comm = &comm,
                             .dom = w->d,
                             .mesh = &w->m,
                             .parts = &w->p,
                             .stage = TERM_LEVEL,
                             .level = l,
                             .dt = 0.03,
                             .aexp = 1,
                             .mass_sph = 1,
                             .units = units_at(&par.units, NULL, 1)};
}

/* Whether the cell is away from the boundary of the box and from other levels. */
static bool inner(const struct world *w, int l, lidx i)
{
    int64_t q[3], n = 1 << (l - 1);
    okey_coords(w->m.lev[l].key[i], q);
    bool in = true;
    for (int d = 0; d < 3; d++) in &= q[d] > 0 && q[d] < n - 1;
    for (int f = 0; f < 6; f++) in &= w->m.lev[l].nbr[i][f] >= 0;
    return in;
}

static double squares(bool along)
{
    double s = 0;
    for (int d = 0; d < 3; d++)
        for (int j = 0; j < 3; j++)
            if ((d == j) == along) s += GRADIENT[d][j] * GRADIENT[d][j];
    return s;
}

static void test_flow(double tdiss)
{
    struct world w;
    int64_t cells = 0;
    par.sf.sf_tdiss = tdiss;
    world_make(&w);
    for (int l = LMIN; l <= LMAX; l++) {
        struct term_run r = run_of(&w, l);
        double dx = mesh_dx(&w.m, l), d2 = dx * dx, want[2] = {0, 0};
        for (int turn = 0; turn < 2; turn++) {
            double keep = tdiss > 0 ? exp(-0.03 * sqrt(want[0] + want[1]) / (tdiss * dx)) : 0;
            for (int k = 0; k < 2; k++) want[k] = keep * want[k] + squares(k == 0) * d2;
            turbulence_update(&r);
        }
        for (lidx i = 0; i < w.m.lev[l].nown; i++)
            for (int c = 0; c < 8; c++) {
                if (!inner(&w, l, i) || w.m.lev[l].child[i][c] >= 0) continue;
                cells++;
                for (int k = 0; k < 2; k++) {
                    double got = w.m.lev[l].fld[FLD_U + (k ? ACROSS : ALONG)][i][c] / 2;
                    CHECK(fabs(got / want[k] - 1) < 1e-10, "level %d: %g, not %g", l, got, want[k]);
                }
            }
    }
    comm_add_i64(&comm, &cells, 1);
    CHECK(cells > 100);
    world_free(&w);
}

/* Tests which densities form stars in the flow of test_flow: the criterion changes in between. */
static void test_criteria(void)
{
    const struct {
        int model;
        double G; /* gravitational constant for which the virial parameter is 1 */
    } rows[] = {{3, (squares(true) + squares(false)) / (4 * M_PI * 2)},
                {5, 0.5 * (0.9 * 0.9 + 0.4 * 0.4 + 0.9 * 0.9 + 2.0 * 2.0) / 2}};
    struct world w;
    par.sf.sf_tdiss = 0;
    for (int k = 0; k < 2; k++)
        for (int above = 0; above < 2; above++) {
            world_make(&w);
            par.physics.sf_model = rows[k].model;
            struct term_run r = run_of(&w, LMAX);
            struct star_law law = {.G = rows[k].G * (above ? 1.001 : 0.999)};
            struct level *lv = &w.m.lev[LMAX];
            turbulence_update(&r);
            for (lidx i = 0; i < lv->nown; i++) {
                if (!inner(&w, LMAX, i)) continue;
                double rho = lv->fld[FLD_U][i][0], share = 1 + 1e-9;
                for (int v = 0; v < 5; v++) lv->fld[FLD_U + v][i][0] *= share; /* a maximum */
                bool got = turbulence_efficiency(&r, &law, i, 0) > 0;
                CHECK(got == above || rows[k].model == 3, "model %d", rows[k].model);
                if (rows[k].model == 3 && above) CHECK(got, "a bound maximum forms no stars");
                for (int v = 0; v < 5; v++) lv->fld[FLD_U + v][i][0] /= share;
                lv->fld[FLD_U][i][0] = 0.999 * rho; /* a minimum */
                if (rows[k].model == 3) CHECK(turbulence_efficiency(&r, &law, i, 0) == 0);
                lv->fld[FLD_U][i][0] = rho;
            }
            world_free(&w);
        }
}

/* Gas of density e^s forms stars in its local free-fall time if it exceeds the critical density:
 * mean over a log-normal distribution (Federrath & Klessen 2012, equation 8). */
static double mean_rate(double width, double critical)
{
    double sum = 0, h = 1e-4, low = log(critical);
    for (double s = low + h / 2; s < low + 40; s += h)
        sum += h * exp(1.5 * s - (s + width / 2) * (s + width / 2) / (2 * width)) /
               sqrt(2 * M_PI * width);
    return sum;
}

static void test_models(void)
{
    struct turbulent_cell t = {
        .rho = 3, .dx = 0.2, .G = 1.5, .sigma2 = 0.04, .cs2 = 0.003, .compressive = 0.3};
    double virial = 5 * 0.04 / (M_PI * 1.5 * 3 * 0.04), mach2 = 0.04 / 0.003;
    double z = (-0.7 + sqrt(2 * 0.3 * 0.7)) / (0.9 - 1), b = 1 - 2.0 / 3 * z;
    double width = log(1 + b * b * mach2);
    double km = 0.49 * mean_rate(width, M_PI * M_PI / 5 * 0.19 * 0.19 * virial * mach2);
    double pn = 0.49 * mean_rate(width, 0.067 / (0.97 * 0.97) * virial * mach2);
    CHECK(fabs(turbulence_model(1, &t) / km - 1) < 1e-5, "%g, not %g", turbulence_model(1, &t), km);
    CHECK(fabs(turbulence_model(2, &t) / pn - 1) < 1e-5, "%g, not %g", turbulence_model(2, &t), pn);
    double tff = sqrt(3 * M_PI / (32 * 1.5 * 3)), tdyn = 0.2 / (2 * sqrt(0.043));
    CHECK(fabs(turbulence_model(4, &t) / exp(-1.6 * tff / tdyn) - 1) < 1e-3);
    CHECK(turbulence_model(0, &t) == 1);
    t.sigma2 = 0; /* without turbulence: all or no gas forms stars, no NaN */
    CHECK(turbulence_model(1, &t) == 0.49 && turbulence_model(2, &t) == 0.49);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    param_init(&par);
    par.physics.sf_virial = par.sf.sf_compressive = true;
    hydro.vars.at[SCALAR_METAL] = hydro.vars.at[SCALAR_DELAYED] = -1;
    hydro.vars.at[SCALAR_TURBULENCE] = ALONG;
    hydro.vars.at[SCALAR_SOLENOIDAL] = ACROSS;
    test_flow(0);
    test_flow(0.7);
    test_criteria();
    test_models();
    if (comm.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed > 0;
}
