/* Laws of classical tracers (lib/tracer/drift) in given flows on a refined mesh, in one to three
 * dimensions, also on 2, 3 and 5 ranks, which must find the same bits as one rank. Comments on
 * checks name the faults that they catch. Last line: N passed, N failed. */
#include "part_world.h"

#include "tracer/tracer.h"

typedef void flow(const double x[3], double u[3]);

static struct params par;
static struct hydro_par hydro = {.smallr = 1e-10};

/* world_mesh with gas. */
static void gas_world(struct world *w, struct comm c, int lmax, const bool bounded[6])
{
    memset(w, 0, sizeof *w);
    w->c = c;
    mesh_init(&w->m, LMIN, lmax, 5, true, true, 1, bounded);
    mesh_set_ndim(&w->m, dims);
    w->d = balanced_domain(&w->m, &c, DOMAIN_KSECTION);
    adapt_build(&w->m, &w->c, w->d);
    for (int l = LMIN; l < lmax; l++) {
        struct level *lv = &w->m.lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < w->m.cells; k++)
                lv->flag[i][k] = want_split(&w->m, l, lv->key[i], k);
        adapt_refine(&w->m, &w->c, w->d, l, NULL, NULL);
    }
    part_init(&w->p);
    w->p.tracers = true;
}

/* The density varies, so that momenta alone are no velocities. */
static void set_flow(struct mesh *m, flow *f)
{
    for (int l = 1; l <= m->levelmax; l++) {
        struct level *lv = &m->lev[l];
        for (lidx i = 0; i < lv->noct; i++)
            for (int k = 0; k < 8; k++) {
                double x[3], u[3];
                cell_centre(m, l, lv->key[i], k, x);
                f(x, u);
                const double rho = 1.5 + x[0] * x[0];
                level_gas(lv, GAS_DENSITY)[i][k] = rho;
                for (int d = 0; d < 3; d++) level_gas(lv, GAS_MOMENTUM + d)[i][k] = rho * u[d];
            }
    }
}

static void make_tracers(struct world *w, int64_t n)
{
    world_particles(w, n, 0);
    for (int64_t i = 0; i < w->p.n; i++) w->p.family[i] = FAM_GAS_TRACER;
}

/* ---- flows ---- */

static void flow_uniform(const double x[3], double u[3])
{
    u[0] = 0.4, u[1] = -0.3, u[2] = 0.25;
}

static void flow_linear(const double x[3], double u[3])
{
    for (int d = 0; d < 3; d++)
        u[d] = 0.1 * d - 0.3 + 0.5 * x[0] - 0.4 * x[1] + 0.1 * (d + 1) * x[2];
}

static void flow_rotation(const double x[3], double u[3])
{
    u[0] = 0.5 - x[1], u[1] = x[0] - 0.5, u[2] = 0;
}

/* Differs from cell to cell. */
static void flow_noise(const double x[3], double u[3])
{
    const int64_t at = (int64_t)(x[0] * 256) + 256 * (int64_t)(x[1] * 256) +
                       65536 * (int64_t)(x[2] * 256);
    for (int d = 0; d < 3; d++) u[d] = 0.9 * (uniform(at, (uint64_t)d) - 0.5);
}

/* ---- steps ---- */

static struct tracer_run run_of(struct world *w, const double *dt)
{
    return (struct tracer_run){.par = &par,
                               .hydro = &hydro,
                               .comm = &w->c,
                               .dom = w->d,
                               .mesh = &w->m,
                               .parts = &w->p,
                               .dt = dt};
}

/* Largest difference of the last drift from Heun's method in an exact linear flow, over tracers
 * that are away from the faces of the box. */
static double heun_off;

static void check_heun(const struct world *w, int64_t n, double (*x)[3], double dt)
{
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = w->p.first[0] + k;
        double u[3], v[3], y[3];
        bool inside = true;
        for (int d = 0; d < dims; d++) inside &= x[k][d] > 0.2 && x[k][d] < 0.8;
        if (!inside) continue;
        flow_linear(x[k], u);
        for (int d = 0; d < 3; d++) y[d] = d < dims ? x[k][d] + dt * u[d] : 0;
        flow_linear(y, v);
        for (int d = 0; d < dims; d++)
            heun_off = fmax(heun_off, fabs(w->p.x[d][i] - (x[k][d] + 0.5 * dt * (u[d] + v[d]))));
    }
}

static void drift_checked(struct world *w, struct tracer_run *r, int l, bool heun)
{
    const int64_t first = w->p.first[l], n = w->p.first[l + 1] - first;
    double(*x)[3] = mem_new(sizeof *x * (size_t)n + 1, "test");
    for (int64_t k = 0; k < n; k++)
        for (int d = 0; d < 3; d++) x[k][d] = w->p.x[d][first + k];
    tracers_drift(r, l);
    struct world here = *w;
    here.p.first[0] = first;
    if (heun) check_heun(&here, n, x, r->dt[l]);
    mem_free(x);
}

static void advance(struct world *w, int l, double dt, bool heun)
{
    double steps[LEVEL_MAX + 2] = {[0] = 0};
    struct tracer_run r = run_of(w, steps);
    steps[l] = dt;
    part_enter(&w->p, &w->m, &w->c, w->d, l);
    part_hand_down(&w->p, &w->m, &w->c, w->d, l);
    tracers_aim(&r, l);
    for (int k = 0; k < 2 && l < w->m.levelmax; k++) advance(w, l + 1, 0.5 * dt, heun);
    drift_checked(w, &r, l, heun);
    if (l < w->m.levelmax) part_merge(&w->p, &w->m, l);
}

static void begin(struct world *w, struct comm c, int lmax, flow *f, int64_t n)
{
    gas_world(w, c, lmax, periodic_box);
    set_flow(&w->m, f);
    make_tracers(w, n);
}

/* ---- checks ---- */

static void test_uniform(void)
{
    struct world w;
    const int steps = 25;
    const double dt = 0.9 / 16 / 0.4;
    double off = 0, u[3], zero[3] = {0};
    begin(&w, all, LMAX, flow_uniform, 2000);
    struct parts *p = &w.p;
    flow_uniform(zero, u);
    for (int k = 0; k < steps; k++) advance(&w, LMIN, dt, false);
    part_enter(p, &w.m, &w.c, w.d, LMIN);
    for (int64_t i = 0; i < p->n; i++)
        for (int d = 0; d < dims; d++) {
            double at = uniform(p->id[i], (uint64_t)d), narrow = d == 0   ? 0.05
                                                                 : d == 1 ? 0.5
                                                                          : 0.45;
            if (p->id[i] % 2) at = narrow + 0.3 * (at - 0.5);
            double s = p->x[d][i] - (at + steps * dt * u[d]);
            off = fmax(off, fabs(s - rint(s)));
        }
    int64_t n = p->n;
    comm_add_i64(&w.c, &n, 1);
    check(n == 2000, "tracers are conserved");
    check(off < 1e-12, "in a uniform flow tracers move with it"); /* step of another level */
    world_free(&w);
}

static void test_linear(void)
{
    struct world w;
    begin(&w, all, LMAX, flow_linear, 4000);
    heun_off = 0;
    for (int k = 0; k < 3; k++) advance(&w, LMIN, 0.9 / 16 / 0.7, true);
    check(heun_off < 1e-14, "a linear flow is exact up to the step"); /* a wrong cell or level */
    world_free(&w);
}

/* Whether every cell of the cloud at x exists on level l (on the mesh of one rank). */
static bool cloud_exists(const struct mesh *m, int l, const double x[3])
{
    const int64_t n = (int64_t)1 << l;
    for (int c = 0; c < m->cells; c++) {
        uint64_t q[3] = {0};
        for (int d = 0; d < m->ndim; d++) {
            const int64_t cell = (int64_t)floor(x[d] / mesh_dx(m, l) - 0.5) + (c >> d & 1);
            q[d] = (uint64_t)(cell & (n - 1)) >> 1;
        }
        if (mesh_find(&m->lev[l], okey_make(q[0], q[1], q[2])) < 0) return false;
    }
    return true;
}

/* Velocities that tell the level, and steps of almost a cell. */
static void set_levels(struct mesh *m)
{
    set_flow(m, flow_uniform);
    for (int l = 1; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].noct; i++)
            for (int k = 0; k < 8; k++)
                for (int d = 0; d < 3; d++)
                    level_gas(&m->lev[l], GAS_MOMENTUM + d)[i][k] =
                        (d < dims ? l : 0) * level_gas(&m->lev[l], GAS_DENSITY)[i][k];
}

static void test_levels(void)
{
    struct world w, whole;
    int64_t wrong = 0, coarser = 0;
    begin(&w, all, LMAX, flow_uniform, 20000);
    gas_world(&whole, alone, LMAX, periodic_box);
    set_levels(&w.m);
    for (int l = LMIN; l <= LMAX; l++) {
        double dt[LEVEL_MAX + 2] = {[0] = 0};
        struct tracer_run r = run_of(&w, dt);
        struct parts *p = &w.p;
        dt[l] = 0.9 * mesh_dx(&w.m, l) / l;
        part_enter(p, &w.m, &w.c, w.d, l);
        part_hand_down(p, &w.m, &w.c, w.d, l);
        tracers_aim(&r, l);
        double(*x)[3] = mem_new(sizeof *x * (size_t)p->n + 1, "test");
        for (int64_t i = p->first[l]; i < p->first[l + 1]; i++)
            for (int d = 0; d < 3; d++) x[i][d] = p->x[d][i];
        for (int64_t i = p->first[l]; i < p->first[l + 1]; i++) {
            const bool fine = cloud_exists(&whole.m, l, x[i]);
            wrong += fabs(p->v[0][i] - (fine ? l : l - 1)) > 1e-12;
            coarser += !fine;
            for (int d = 0; d < 3; d++) x[i][d] += dt[l] * p->v[d][i];
        }
        tracers_drift(&r, l);
        for (int64_t i = p->first[l]; i < p->first[l + 1]; i++)
            wrong += fabs(p->v[0][i] - (cloud_exists(&whole.m, l, x[i]) ? l : l - 1)) > 1e-12;
        mem_free(x);
    }
    comm_add_i64(&w.c, &coarser, 1);
    check(wrong == 0, "a cloud is on the level of the step if all its cells exist");
    check(coarser > 0, "some clouds reach beyond their level");
    world_free(&w);
    world_free(&whole);
}

/* Largest error after one turn of a solid rotation in this many steps. */
static double turn_error(int steps)
{
    struct world w;
    double off = 0;
    begin(&w, all, LMIN, flow_rotation, 1000);
    struct parts *p = &w.p;
    double(*from)[3] = mem_new(sizeof *from * 1000, "test");
    for (int64_t id = 0; id < 1000; id++)
        for (int d = 0; d < 2; d++) {
            double at = uniform(id, (uint64_t)d), narrow = d == 0 ? 0.05 : 0.5;
            from[id][d] = id % 2 ? narrow + 0.3 * (at - 0.5) : at;
        }
    for (int k = 0; k < steps; k++) advance(&w, LMIN, 2 * M_PI / steps, false);
    for (int64_t i = 0; i < p->n; i++) {
        const double *x = from[p->id[i]];
        if (hypot(x[0] - 0.5, x[1] - 0.5) > 0.3) continue;
        off = fmax(off, hypot(p->x[0][i] - x[0], p->x[1][i] - x[1]));
    }
    comm_max_f64(&w.c, &off, 1);
    mem_free(from);
    world_free(&w);
    return off;
}

static void test_order(void)
{
    const double second = turn_error(64) / turn_error(128);
    check(second > 3.8 && second < 4.2, "after a turn the error is of order two in time");
    snprintf(par.tracer.tracer_scheme, sizeof par.tracer.tracer_scheme, "first");
    const double first = turn_error(64) / turn_error(128);
    check(first > 1.8 && first < 2.4, "tracer_scheme='first' is of order one");
    snprintf(par.tracer.tracer_scheme, sizeof par.tracer.tracer_scheme, "second");
}

static void test_same_bits(void)
{
    struct world w, ref;
    begin(&w, all, LMAX, flow_noise, 3000);
    begin(&ref, alone, LMAX, flow_noise, 3000);
    for (int k = 0; k < 8; k++) advance(&w, LMIN, 1.0 / 16, false);
    for (int k = 0; k < 8; k++) advance(&ref, LMIN, 1.0 / 16, false);
    part_enter(&w.p, &w.m, &w.c, w.d, LMIN);
    part_enter(&ref.p, &ref.m, &ref.c, ref.d, LMIN);
    check(same_particles(&w, &ref, 3000), "any number of ranks finds the same bits");
    world_free(&w);
    world_free(&ref);
}

/* A tracer a quarter of a cell before the face x = 0 between the cell and its image. */
static void test_mirror(void)
{
    struct world w;
    const bool walls[6] = {true, true, false, false, false, false};
    const double u = 0.4, dx = 1.0 / 16;
    for (int mirror = 0; mirror < 2; mirror++) {
        gas_world(&w, all, LMIN, walls);
        set_flow(&w.m, flow_uniform);
        w.p.reflect[0] = mirror;
        make_tracers(&w, 100);
        for (int64_t i = 0; i < w.p.n; i++) w.p.x[0][i] = 0.25 * dx;
        part_redistribute(&w.p, &w.m, &w.c, w.d);
        advance(&w, LMIN, 0, false);
        double off = 0;
        for (int64_t i = 0; i < w.p.n; i++)
            off = fmax(off, fabs(w.p.v[0][i] - (mirror ? 0.5 * u : u)));
        check(off < 1e-14, mirror ? "a mirror turns the velocity beyond it"
                                  : "beyond an open boundary the velocity goes on");
        world_free(&w);
    }
}

/* Forces move matter as without tracers, and no tracer. */
static void test_forces(void)
{
    struct world w, ref;
    double dt[LEVEL_MAX + 2];
    int64_t bad = 0;
    for (int k = 0; k < LEVEL_MAX + 2; k++) dt[k] = 0.1;
    gas_world(&w, all, LMIN, periodic_box);
    gas_world(&ref, all, LMIN, periodic_box);
    world_particles(&w, 3000, 1);
    world_particles(&ref, 3000, 1);
    ref.p.tracers = false;
    set_field(&w.m, field_noise);
    set_field(&ref.m, field_noise);
    for (int64_t i = 0; i < w.p.n; i++)
        if (w.p.id[i] % 3 == 0) w.p.family[i] = (int8_t)(-(w.p.id[i] % 6));
    double(*was)[6] = mem_new(sizeof *was * (size_t)w.p.n + 1, "test");
    for (int64_t i = 0; i < w.p.n; i++)
        for (int d = 0; d < 3; d++) was[i][d] = w.p.x[d][i], was[i][3 + d] = w.p.v[d][i];
    part_synchro(&w.p, &w.m, LMIN, dt, dt);
    part_move(&w.p, &w.m, LMIN, 0.01);
    part_synchro(&ref.p, &ref.m, LMIN, dt, dt);
    part_move(&ref.p, &ref.m, LMIN, 0.01);
    for (int64_t i = 0; i < w.p.n; i++)
        for (int d = 0; d < 3; d++) {
            const bool tracer = w.p.family[i] <= 0;
            bad += w.p.x[d][i] != (tracer ? was[i][d] : ref.p.x[d][i]);
            bad += w.p.v[d][i] != (tracer ? was[i][3 + d] : ref.p.v[d][i]);
        }
    check(bad == 0, "forces act on matter alone");
    for (int64_t i = 0; i < w.p.n; i++) w.p.v[0][i] = w.p.family[i] <= 0 ? 1e3 : 1e-3;
    check(part_vmax(&w.p, LMIN) < 100, "tracers do not limit the time step");
    mem_free(was);
    world_free(&w);
    world_free(&ref);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &all);
    snprintf(par.tracer.tracer_scheme, sizeof par.tracer.tracer_scheme, "second");
    for (dims = 1; dims <= 3; dims++) {
        test_uniform();
        test_linear();
        test_levels();
        test_same_bits();
        test_mirror();
        test_forces();
    }
    dims = 2;
    test_order();
    if (all.rank == 0) printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    comm_fini();
    return failed != 0;
}
