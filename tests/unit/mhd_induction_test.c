/* The induction equation alone: velocities of the given flows, and magnetic diffusion. A sine of
 * the field decays at the rate of its differences on one level, at nearly η k² on a refined mesh;
 * div B stays zero, copies of faces agree to the last bit, the gas does not change, and bits depend
 * neither on tiles nor on threads.
 *
 * Examples of faults caught: a current of the wrong sign, forces of a fine level that do not reach
 * the coarse faces beside it, a flow about another axis.
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

enum { LEVEL = 4 };
static const double ETA = 0.01;

static struct hydro_par gas(void)
{
    return (struct hydro_par){.nvar = GAS_SCALARS,
                              .gamma = 5.0 / 3.0,
                              .smallr = 1e-10,
                              .smallc = 1e-10,
                              .courant_factor = 0.5,
                              .slope_type = SLOPE_MINMOD,
                              .interpol_type = 1};
}

static struct mhd_par field(const struct hydro_par *g)
{
    return (struct mhd_par){.gas = g, .interpol_mag = 3, .eta = ETA};
}

static bool in_ball(const double *x, int l, int levelmin)
{
    double r = 0.3 / (1 << (l - levelmin)), d2 = 0.0;
    for (int d = 0; d < gas_mesh_ndim; d++) d2 += (x[d] - 0.5) * (x[d] - 0.5);
    return d2 < r * r;
}

/* Mean of sin(2π x) over a cell; faces of coarse cells are then means of finer ones. */
static double wave_mean(int64_t cell, double dx)
{
    const double t = 2 * M_PI;
    return (cos(t * (double)cell * dx) - cos(t * (double)(cell + 1) * dx)) / (t * dx);
}

/* The component along axis `along` is 0.1 + sin(2π x) of the coordinate along axis d. */
static void fill(struct mesh *m, int d, int along)
{
    for (int l = 1; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++) {
            struct level *lv = &m->lev[l];
            int64_t o[3];
            okey_coords(lv->key[i], o);
            for (int c = 0; c < m->cells; c++) {
                const double b = 0.1 + wave_mean(2 * o[d] + (c >> d & 1), mesh_dx(m, l));
                for (int f = 0; f < 6; f++) level_magnetic(lv, f)[i][c] = f >> 1 == along ? b : 0;
                for (int v = 0; v < GAS_SCALARS; v++) level_gas(lv, v)[i][c] = 1 + 0.1 * v;
            }
            for (int f = FLD_MAGNETIC; f < FLD_U + GAS_SCALARS; f++)
                oct_repeat(m->cells, lv->fld[f][i]);
        }
}

static void build(struct mesh *m, int levelmax, const struct mhd_par *p, int d, int along)
{
    static const bool periodic[6] = {false};
    mesh_init(m, LEVEL, levelmax, GAS_SCALARS, true, false, 1.0, periodic);
    mesh_set_ndim(m, gas_mesh_ndim);
    mesh_set_magnetic(m, true);
    gas_mesh_fill(m, in_ball);
    fill(m, d, along);
    for (int l = levelmax - 1; l >= LEVEL; l--) mhd_restrict(m, l, p);
}

static void diffuse(struct mesh *m, double dt, const struct mhd_par *p)
{
    for (int l = m->levelmax; l >= LEVEL; l--) {
        if (l > LEVEL)
            reflux_begin(m, l, REFLUX_GAS, mhd_diffuse_nflux(m), m->ndim > 1 ? REFLUX_EDGES : 0);
        mhd_diffuse(m, l, dt, p);
        if (l == m->levelmax) continue;
        reflux_end(m, l + 1, REFLUX_GAS);
        mhd_restrict(m, l, p);
    }
}

/* ---- what must hold ---- */

struct state {
    double wave, divergence, copies; /* wave: amplitude of the sine */
    uint64_t digest, gas;
};

static void cell_state(const struct mesh *m, int l, lidx i, int c, int along, struct state *t)
{
    const struct level *lv = &m->lev[l];
    double sum = 0;
    for (int f = 0; f < 2 * m->ndim; f++) {
        const int bit = 1 << (f >> 1);
        const lidx j = ((c & bit) != 0) == (f & 1) ? lv->nbr[i][f] : i;
        sum += (f & 1 ? 1 : -1) * level_magnetic(lv, f)[i][c];
        if (j < 0) continue;
        t->copies = fmax(t->copies,
                         fabs(level_magnetic(lv, f)[i][c] - level_magnetic(lv, f ^ 1)[j][c ^ bit]));
    }
    for (int d = m->ndim; d < 3; d++)
        if (level_magnetic(lv, 2 * d)[i][c] != level_magnetic(lv, 2 * d + 1)[i][c]) t->copies = 1;
    t->divergence = fmax(t->divergence, fabs(sum));
    const double b = level_magnetic(lv, 2 * along)[i][c] + level_magnetic(lv, 2 * along + 1)[i][c];
    t->wave += 0.5 * (0.5 * b - 0.1) * (0.5 * b - 0.1) * mesh_volume(m, l) * 4;
}

static struct state state_of(const struct mesh *m, int along)
{
    struct state t = {0, 0, 0, 1, 1};
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            for (int c = 0; c < m->cells; c++) {
                if (m->lev[l].child[i][c] < 0) cell_state(m, l, i, c, along, &t);
                for (int f = FLD_MAGNETIC; f < FLD_U + GAS_SCALARS; f++) {
                    uint64_t b;
                    memcpy(&b, &m->lev[l].fld[f][i][c], 8);
                    if (f < FLD_U) t.digest = rng_mix(t.digest ^ b);
                    if (f >= FLD_U) t.gas = rng_mix(t.gas ^ b);
                }
            }
    t.wave = sqrt(t.wave);
    return t;
}

static double cycle(const struct mesh *m)
{
    const double dx = mesh_dx(m, m->levelmax);
    return 0.05 * dx * dx / ETA;
}

/* On one level a sine is an eigenvector of the differences. */
static void test_level(int ndim, int d, int along)
{
    gas_mesh_ndim = ndim;
    const struct hydro_par g = gas();
    const struct mhd_par p = field(&g);
    struct mesh m;
    build(&m, LEVEL, &p, d, along);
    const struct state a = state_of(&m, along);
    const double dx = mesh_dx(&m, LEVEL), dt = cycle(&m), q = 2 / dx * sin(M_PI * dx);
    for (int k = 0; k < 10; k++) diffuse(&m, dt, &p);
    const struct state b = state_of(&m, along);
    const double ratio = b.wave / a.wave, right = pow(1 - ETA * dt * q * q, 10);
    printf("%d-D, B%c along %c: decay %.15g, of the differences %.15g, exp %.6g\n", ndim,
           "xyz"[along], "xyz"[d], ratio, right, exp(-ETA * 10 * dt * 4 * M_PI * M_PI));
    CHECK(fabs(ratio / right - 1) < 1e-13);
    CHECK(b.copies == 0 && b.divergence < 1e-15 && b.gas == a.gas);
    mesh_fini(&m);
}

static struct state refined(struct hydro_par g, int d, int along, double *rate)
{
    const struct mhd_par p = field(&g);
    struct mesh m;
    build(&m, LEVEL + 2, &p, d, along);
    const struct state a = state_of(&m, along);
    for (int k = 0; k < 40; k++) diffuse(&m, cycle(&m), &p);
    struct state b = state_of(&m, along);
    *rate = -log(b.wave / a.wave) / (40 * cycle(&m)) / (ETA * 4 * M_PI * M_PI);
    CHECK(b.copies == 0 && b.divergence < 1e-14 && b.gas == a.gas);
    mesh_fini(&m);
    return b;
}

static void test_refined(int ndim, int d, int along)
{
    struct hydro_par g = gas();
    double rate, again;
    gas_mesh_ndim = ndim;
    const struct state b = refined(g, d, along, &rate);
    printf("%d-D refined, B%c along %c: rate %.5f eta k^2, div B %.2g\n", ndim, "xyz"[along],
           "xyz"[d], rate, b.divergence);
    CHECK(fabs(rate - 1) < 0.02);
    g.tile_depth = 1;
    CHECK(refined(g, d, along, &again).digest == b.digest);
    omp_set_num_threads(3);
    CHECK(refined(g, d, along, &again).digest == b.digest);
    omp_set_num_threads(1);
}

static void test_cycles(void)
{
    struct mesh m;
    const struct hydro_par g = gas();
    const struct mhd_par p = field(&g);
    gas_mesh_ndim = 1;
    build(&m, LEVEL + 1, &p, 0, 1);
    CHECK(mhd_diffuse_cycles(&m, LEVEL + 1, 0.5 * cycle(&m), &p) == 1);
    CHECK(mhd_diffuse_cycles(&m, LEVEL + 1, 3.5 * cycle(&m), &p) == 4);
    CHECK(mhd_diffuse_cycles(&m, LEVEL, 3.5 * cycle(&m), &p) == 1);
    mesh_fini(&m);
}

/* ---- flows ---- */

static void test_flows(void)
{
    double v[3], w[3];
    mhd_velocity(FLOW_ABC, (double[3]){0.25, 0, 0.125}, 1, v);
    CHECK(fabs(v[0] - 1 - sqrt(0.5)) < 1e-14 && fabs(v[1] - 1 - sqrt(0.5)) < 1e-14);
    CHECK(fabs(v[2]) < 1e-14);
    mhd_velocity(FLOW_PONOMARENKO, (double[3]){4 + 0.6, 4 - 0.7, 3}, 8, v);
    CHECK(fabs(v[0] * 0.6 - v[1] * 0.7) < 1e-15 && v[0] > 0 && v[1] > 0);
    CHECK(fabs(v[2] / (hypot(v[0], v[1]) / hypot(0.6, 0.7)) - 1.3) < 1e-5);
    mhd_velocity(FLOW_PONOMARENKO, (double[3]){4 + 0.8, 4 - 0.7, 3}, 8, w);
    CHECK(w[0] == 0 && w[1] == 0 && w[2] == 0);
}

static void test_impose(int ndim)
{
    gas_mesh_ndim = ndim;
    const struct hydro_par g = gas();
    struct mhd_par p = field(&g);
    struct mesh m;
    double worst = 0;
    p.flow = FLOW_ABC;
    build(&m, LEVEL + 1, &p, 0, 1);
    mhd_impose(&m, LEVEL, false, &p);
    double(*const *u)[8] = m.lev[LEVEL].fld + FLD_U;
    for (lidx i = 0; i < m.lev[LEVEL].nown; i++)
        for (int c = 0; c < 8; c++) {
            const struct level *lv = &m.lev[LEVEL];
            const double b = 0.5 * (level_magnetic(lv, 2)[i][c] + level_magnetic(lv, 3)[i][c]);
            double e = 1 + 0.5 * b * b;
            for (int d = 0; d < 3; d++) e += 0.5 * u[1 + d][i][c] * u[1 + d][i][c];
            worst = fmax(worst, fabs(u[GAS_ENERGY][i][c] - e) + fabs(u[0][i][c] - 1));
            for (int d = ndim; d < 3; d++) CHECK(u[1 + d][i][c] == 0);
        }
    CHECK(worst < 1e-14);
    const double y = ndim > 1 ? 0.5 / 16 : 0; /* of the first cell */
    CHECK(fabs(u[1][0][0] - cos(2 * M_PI * y) - (ndim > 2 ? sin(2 * M_PI * y) : 0)) < 1e-14);
    CHECK(level_gas(&m.lev[LEVEL + 1], 0)[0][0] == 1.0 &&
          level_gas(&m.lev[LEVEL + 1], 1)[0][0] == 1.1);
    mesh_fini(&m);
}

int main(void)
{
    test_level(1, 0, 1);
    test_level(1, 0, 2);
    test_level(2, 0, 1);
    test_level(2, 1, 0);
    test_level(2, 1, 2);
    for (int d = 0; d < 3; d++) test_level(3, d, (d + 1) % 3);
    test_level(3, 0, 2);
    test_refined(1, 0, 1);
    test_refined(2, 0, 1);
    test_refined(2, 1, 2);
    for (int d = 0; d < 3; d++) test_refined(3, d, (d + 1) % 3);
    test_cycles();
    test_flows();
    for (int ndim = 1; ndim <= 3; ndim++) test_impose(ndim);
    printf("mhd_induction_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
