/* mhd/dev: gas with a magnetic field on the emulated device has the bits of the CPU in one to three
 * dimensions: levels with coarse-fine boundaries at faces, edges and corners, boundaries of every
 * kind, gravity, pressure_fix and a passive scalar, several seeds of the orders of the device; time
 * steps, totals, div B, restriction, flags of gradients. The state is rough, and its field has a
 * divergence, which the scheme carries along unchanged.
 *
 * test: tier=quick */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "gas_mesh.h"
#include "mhd/interp_kern.h"
#include "mhd/mhd_dev.h"
#include "patch/reflux.h"
#include "test_device.h"

enum { NVAR = 6 };
static int ndim, coarse, finest;

struct setting {
    struct hydro_par gas;
    struct mhd_par par;
    bool gravity, bounded[6];
};

static struct setting base_setting(void)
{
    struct setting s = {.gas = {.nvar = NVAR,
                                .gamma = 1.4,
                                .smallr = 1e-8,
                                .smallc = 1e-6,
                                .courant_factor = 0.5,
                                .slope_type = SLOPE_MONCEN,
                                .slope_theta = 1.5,
                                .interpol_type = 1,
                                .beta_fix = 0.5,
                                .err_grad_d = 0.6,
                                .err_grad_p = -1,
                                .err_grad_u = 0.7},
                        .par = {.riemann = MHD_HLLD,
                                .riemann2d = MHD_EDGE_HLLD,
                                .slope_mag = SLOPE_MONCEN,
                                .interpol_mag = 1,
                                .err_grad_b2 = 0.8,
                                .err_grad_b = {-1, 0.6, -1}}};
    return s;
}

/* ---- meshes and states ---- */

/* Two balls that touch at a corner and the wall at 0: edges of every kind are beside them. */
static bool wanted(const double *x, int l, int levelmin)
{
    double a = 0, b = 0, r = l == levelmin ? 0.3 : 0.17;
    for (int d = 0; d < ndim; d++) {
        a += (x[d] - 0.15) * (x[d] - 0.15);
        b += (x[d] - 0.6) * (x[d] - 0.6);
    }
    return a < r * r || b < r * r;
}

/* Field on the lower face of a cell, by its position: the same in both cells. */
static double face_value(const struct mesh *m, int l, const int64_t x[3], int axis)
{
    const int64_t n = (int64_t)1 << l;
    struct rng r = rng_make((uint64_t)(l + 32 * axis), (uint64_t)(x[0] & (n - 1)),
                            (uint64_t)((x[1] & (n - 1)) * n + (x[2] & (n - 1))));
    return rng_uniform(&r) - 0.4;
}

static void set_cell(struct mesh *m, int l, lidx i, int c, struct rng *r)
{
    const struct level *lv = &m->lev[l];
    double b[LAW_FACES], q[NVAR];
    int64_t x[3];
    okey_coords(lv->key[i], x);
    for (int d = 0; d < 3; d++) x[d] = d < m->ndim ? 2 * x[d] + (c >> d & 1) : 0;
    for (int f = 0; f < LAW_FACES; f++) {
        int64_t y[3] = {x[0], x[1], x[2]};
        if (f < 2 * m->ndim) y[f >> 1] += f & 1;
        b[f] = level_magnetic(lv, f)[i][c] = face_value(m, l, y, f >> 1);
    }
    for (int v = 0; v < NVAR; v++) q[v] = 0.3 + rng_uniform(r);
    for (int d = 1; d <= 3; d++) q[d] = 2 * q[d] - 1.6;
    for (int v = 0; v < NVAR; v++) level_gas(lv, v)[i][c] = v ? q[0] * q[v] : q[0];
    level_gas(lv, GAS_ENERGY)[i][c] = q[4] / 0.4 + mhd_not_internal(q[0], q[0] * q[1], q[0] * q[2],
                                                                    q[0] * q[3], b);
    for (int d = 0; m->gravity && d < 3; d++)
        level_force(lv, d)[i][c] = d < m->ndim ? rng_uniform(r) - 0.5 : 0;
}

static void build(struct mesh *m, const struct setting *s)
{
    struct rng r = rng_make(7, 1, 1);
    mesh_init(m, coarse, finest, NVAR, true, s->gravity, 1.0, s->bounded);
    mesh_set_magnetic(m, true);
    mesh_set_ndim(m, ndim);
    gas_mesh_fill(m, wanted);
    CHECK(m->lev[finest].nown > 0);
    for (int l = 1; l <= finest; l++) {
        const struct level *lv = &m->lev[l];
        for (lidx i = 0; i < lv->noct; i++) {
            for (int c = 0; c < m->cells; c++) set_cell(m, l, i, c, &r);
            for (int f = 0; f < FLD_MAX; f++)
                if (lv->fld[f]) oct_repeat(m->cells, lv->fld[f][i]);
        }
    }
    for (int l = finest - 1; l >= 1; l--) mhd_restrict(m, l, &s->par);
}

/* ---- steps ---- */

struct there {
    struct test_mirror on;
    struct mhd_dev *field;
};

/* Results of a run in addition to its mesh. */
struct numbers {
    double dt, divergence;
    struct sum sum[7];
    unsigned char flags[1 << 16];
};

static struct mhd_sums sums_of(struct numbers *x)
{
    return (struct mhd_sums){
        {&x->sum[0], &x->sum[1], &x->sum[2], &x->sum[3]}, &x->sum[6], &x->divergence};
}

static void home(struct there *t, struct mesh *m)
{
    CHECK(mirror_home(&t->on.mirror, m, true) == OK);
}

/* t: NULL: on the CPU. r: some levels are there, others here. */
static void step(struct there *t, struct mesh *m, int l, double dt, const struct mhd_par *p,
                 struct rng *r)
{
    const struct mhd_expansion none = {0, 1, 1};
    const bool finer = l < m->levelmax, here = !t || (r && rng_word(r) % 3 == 0);
    if (finer && t)
        CHECK(mhd_dev_reflux_begin(t->field, m, l + 1, p) == OK);
    else if (finer)
        reflux_begin(m, l + 1, REFLUX_GAS, mhd_nflux(m, p), m->ndim > 1 ? REFLUX_EDGES : 0);
    for (int k = 0; k < 2 && finer; k++) step(t, m, l + 1, 0.5 * dt, p, r);
    if (here && t) home(t, m);
    if (here)
        mhd_update(m, l, dt, none, p, NULL, NULL);
    else
        CHECK(mhd_dev_update(t->field, m, l, dt, 0, p) == OK, "%s", err_message());
    if (finer && t) CHECK(mirror_forget_reflux(&t->on.mirror, l + 1, REFLUX_GAS) == OK);
    if (finer) reflux_end(m, l + 1, REFLUX_GAS);
    if (finer && t)
        CHECK(mhd_dev_restrict(t->field, m, l, p) == OK);
    else if (finer)
        mhd_restrict(m, l, p);
}

static void numbers_here(struct mesh *m, const struct mhd_par *p, struct numbers *x)
{
    const struct mhd_sums s = sums_of(x);
    for (int k = 0; k < 7; k++) sum_init(&x->sum[k]);
    x->dt = mhd_courant(m, finest, p, &s);
    unsigned char(*ok)[8] = mem_zero(8 * (size_t)m->lev[finest].nown + 1, "test");
    mhd_flag(m, finest, p, ok);
    for (lidx i = 0; i < m->lev[finest].nown && i < (lidx)sizeof x->flags; i++)
        for (int c = 0; c < 8; c++) x->flags[i] |= (unsigned char)(ok[i][c] << c);
    FREE(ok);
}

static void numbers_there(struct there *t, struct mesh *m, const struct mhd_par *p,
                          struct numbers *x)
{
    const struct mhd_sums s = sums_of(x);
    CHECK(m->lev[finest].nown <= (lidx)sizeof x->flags);
    CHECK(mhd_dev_courant_begin(t->field, m, finest, p, true, t->on.stream) == OK);
    CHECK(mhd_dev_courant(t->field, m, finest, p, &x->dt, &s) == OK);
    CHECK(mhd_dev_steep(t->field, m, finest, p, x->flags) == OK);
}

/* Digest of gas and field. */
static uint64_t digest(const struct mesh *m)
{
    uint64_t h = 1469598103934665603u;
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (int f = 0; f < FLD_MAX; f++)
            for (lidx i = 0; f >= FLD_MAGNETIC && m->lev[l].fld[f] && i < m->lev[l].nown; i++)
                for (int c = 0; c < 8; c++) {
                    uint64_t b;
                    CHECK(isfinite(m->lev[l].fld[f][i][c]));
                    memcpy(&b, &m->lev[l].fld[f][i][c], sizeof b);
                    h = (h ^ b) * 1099511628211u;
                    h ^= h >> 31;
                }
    return h;
}

static uint64_t run(struct setting *s, const uint64_t *seed, struct numbers *x)
{
    struct mesh m;
    struct there t = {.field = NULL};
    s->par.gas = &s->gas;
    memset(x, 0, sizeof *x);
    build(&m, s);
    const double dt = 0.3 * mhd_courant(&m, coarse, &s->par, NULL);
    struct rng r = rng_make(seed ? *seed : 0, 18, 1);
    if (seed) {
        CHECK(test_mirror_open(&t.on, &m, *seed, 0) == OK);
        CHECK(mhd_dev_new(&t.field, &t.on.mirror) == OK);
    }
    for (int k = 0; k < 2; k++)
        step(seed ? &t : NULL, &m, coarse, dt, &s->par, seed && *seed % 3 ? &r : NULL);
    if (seed) {
        numbers_there(&t, &m, &s->par, x);
        home(&t, &m);
        CHECK(dev_wait(t.on.stream) == OK);
        mhd_dev_free(&t.field);
        CHECK(test_mirror_close(&t.on) == 0);
    } else
        numbers_here(&m, &s->par, x);
    const uint64_t all = digest(&m);
    mesh_fini(&m);
    return all;
}

static void test_same(struct setting s, int seeds, const char *what)
{
    static struct numbers here, there;
    const uint64_t cpu = run(&s, NULL, &here);
    for (uint64_t seed = 0; seed < (uint64_t)seeds; seed++) {
        CHECK(run(&s, &seed, &there) == cpu, "%d-D, %s, seed %d", ndim, what, (int)seed);
        CHECK(here.dt == there.dt && here.divergence == there.divergence, "%d-D, %s", ndim, what);
        for (int k = 0; k < 7; k++)
            CHECK(sum_get(&here.sum[k]) == sum_get(&there.sum[k]), "%d-D, %s: sum %d", ndim, what,
                  k);
        CHECK(memcmp(here.flags, there.flags, sizeof here.flags) == 0, "%d-D, %s", ndim, what);
    }
}

static void test_all(int dimensions, int base, int top)
{
    struct setting s = base_setting();
    ndim = dimensions, coarse = base, finest = top;
    test_same(s, 4, "periodic");
    s.gravity = s.gas.pressure_fix = true;
    s.gas.interpol_var = 1;
    for (int f = 0; f < 2 * ndim; f++) s.bounded[f] = f != 2 && f != 3;
    s.gas.bound[0] = BOUND_REFLECT;
    s.gas.bound[1] = s.gas.bound[4] = BOUND_OUTFLOW;
    s.gas.bound[2 * ndim - 1] = ndim == 2 ? BOUND_PERIODIC : BOUND_IMPOSED;
    for (int f = 0; f < 6; f++) s.gas.bound_state[f][0] = s.gas.bound_state[f][4] = 1;
    for (int f = 0; f < 6; f++) s.par.bound_b[f][1] = 0.3;
    test_same(s, 2, "walls, gravity");
    s.gas.slope_type = SLOPE_POSITIVE;
    s.par.slope_mag = SLOPE_MINMOD;
    s.par.riemann = MHD_ROE;
    s.par.riemann2d = MHD_EDGE_ROE;
    test_same(s, 1, "Roe");
    s.gas.slope_type = SLOPE_VANLEER;
    s.par.riemann = MHD_HLL;
    s.par.riemann2d = MHD_EDGE_HLLA;
    s.par.switches = s.par.switches_edge = true;
    s.par.switch_b = s.par.switch_ratio = 1.5;
    s.par.switch_density = 0.5;
    test_same(s, 1, "switches");
}

static void test_lacks(void)
{
    struct setting s = base_setting();
    s.par.gas = &s.gas;
    CHECK(!mhd_dev_lacks(&s.par));
    s.gas.energy.n = 1;
    CHECK(mhd_dev_lacks(&s.par));
    s.gas.energy.n = 0;
    s.par.eta = 1;
    CHECK(mhd_dev_lacks(&s.par));
    s.par.eta = 0;
    s.par.flow = FLOW_ABC;
    CHECK(mhd_dev_lacks(&s.par));
}

int main(void)
{
    test_lacks();
    test_all(1, 4, 6);
    test_all(2, 3, 5);
    test_all(3, 3, 5);
    CHECK(mem_now() == 0, "%zu bytes are left", mem_now());
    printf("mhd_dev_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
