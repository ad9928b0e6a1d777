/* kernels: nanoseconds of processor time a cell (or particle) of each kernel, one thread, complete
 * level of 64^3 cells and one particle a cell, for the table in docs/performance.md. Best of
 * several runs. Prints markdown. `make roofline` builds and runs it. With an argument, only kernels
 * whose names contain it are run. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sum.h"
#include "cool/solve.h"
#include "dom/domain.h"
#include "grav/grav.h"
#include "grav/mg.h"
#include "hydro/hydro.h"
#include "part/part.h"
#include "pk/pk.h"

enum { LEVEL = 6, REPEATS = 7 };
static const bool periodic_box[6] = {false};

struct bench {
    struct mesh m;
    struct comm c;
    struct domain *d;
    struct hydro_par h;
    struct grav_par g;
    struct mg mg;
    struct parts p;
    struct cool_table *table;
    struct solve_cells *gas; /* blocks of cells to cool */
    struct pk *pk;
    struct pk_item *item; /* particles */
    int64_t (*mass)[8];
    unsigned char (*ok)[8];
    double dt;
    const char *only; /* kernels to run; NULL: all */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double at(double x, double y, double z)
{
    return 1.0 + 0.3 * sin(6.2831853 * x) * cos(12.566371 * y + 1.0) +
           0.2 * sin(18.849556 * z + 2.0 * x);
}

static void state_set(struct bench *b)
{
    struct level *lv = &b->m.lev[LEVEL];
    double dx = mesh_dx(&b->m, LEVEL);
    for (lidx i = 0; i < lv->nown; i++) {
        int64_t q[3];
        okey_coords(lv->key[i], q);
        for (int c = 0; c < 8; c++) {
            double x[3], r, k = 0;
            for (int d = 0; d < 3; d++) x[d] = ((double)(2 * q[d] + (c >> d & 1)) + 0.5) * dx;
            lv->fld[FLD_U][i][c] = lv->fld[FLD_RHO][i][c] = r = at(x[0], x[1], x[2]);
            for (int d = 0; d < 3; d++) {
                double v = 0.5 * at(x[d], x[(d + 1) % 3], 0.3) - 0.5;
                lv->fld[FLD_U + 1 + d][i][c] = r * v;
                k += 0.5 * r * v * v;
            }
            lv->fld[FLD_U + 4][i][c] = k + 1.5 * at(x[1], x[2], x[0]);
        }
    }
}

static void particles_set(struct bench *b)
{
    int n = 1 << LEVEL;
    part_init(&b->p);
    part_reserve(&b->p, (int64_t)n * n * n);
    b->p.n = (int64_t)n * n * n;
    for (int64_t i = 0; i < b->p.n; i++) {
        int64_t q[3] = {i % n, i / n % n, i / n / n};
        for (int d = 0; d < 3; d++) {
            b->p.x[d][i] = ((double)q[d] + 0.5 + 0.4 * sin(0.7 * (double)i + d)) / n;
            b->p.v[d][i] = 1e-3 * cos(1.3 * (double)i + d);
        }
        b->p.m[i] = 1.0 / (double)b->p.n;
        b->p.id[i] = i;
        b->p.levelp[i] = LEVEL;
        b->p.family[i] = FAM_DM;
        b->p.tag[i] = 0;
    }
    enum err e = part_distribute(&b->p, &b->m, &b->c, b->d);
    BUG_ON(e != OK);
}

static void setup(struct bench *b)
{
    b->c = (struct comm){.size = 1};
    b->h = (struct hydro_par){.nvar = 5,
                              .gamma = 1.6666667,
                              .smallr = 1e-10,
                              .smallc = 1e-10,
                              .courant_factor = 0.8,
                              .niter_riemann = 10,
                              .slope_type = 1,
                              .slope_theta = 1.5,
                              .interpol_type = 1,
                              .err_grad_d = 0.5,
                              .err_grad_p = 0.5,
                              .err_grad_u = -1,
                              .floor_d = 1e-10,
                              .floor_p = 1e-10,
                              .floor_u = 1e-10};
    b->g = (struct grav_par){.epsilon = 1e-4, .boxlen = 1};
    mesh_init(&b->m, LEVEL, LEVEL, 5, true, true, 1.0, periodic_box);
    for (int l = 1; l <= LEVEL; l++) {
        lidx n = (lidx)1 << 3 * (l - 1);
        okey *key = mem_new(sizeof *key * (size_t)n, "bench");
        for (lidx i = 0; i < n; i++) key[i] = (okey)i;
        mesh_replace(&b->m, l, n, key, 0, NULL, NULL);
        mesh_link_down(&b->m, l);
        mem_free(key);
    }
    b->d = domain_new(DOMAIN_KSECTION, 1, LEVEL, periodic_box);
    state_set(b);
    b->mass = mem_zero(sizeof b->mass[0] * (size_t)b->m.lev[LEVEL].noct, "bench");
    b->ok = mem_zero(sizeof b->ok[0] * (size_t)b->m.lev[LEVEL].noct, "bench");
    particles_set(b);
    mg_build(&b->mg, &b->m, &b->c, LEVEL, NULL);
    struct mg_level *top = &b->mg.lev[LEVEL];
    top->u = mg_rows_new(top->noct, "bench");
    memcpy(top->u, b->m.lev[LEVEL].fld[FLD_PHI], sizeof top->u[0] * (size_t)top->noct);
    memcpy(top->rhs, b->m.lev[LEVEL].fld[FLD_RHO], sizeof top->rhs[0] * (size_t)top->noct);
}

/* ---- the kernels ---- */

static void godunov(struct bench *b)
{
    hydro_update(&b->m, LEVEL, b->dt, 0.0, &b->h, NULL, NULL);
}

static void courant(struct bench *b)
{
    b->dt = 0.5 * hydro_courant(&b->m, LEVEL, &b->h, NULL);
}

static void courant_and_totals(struct bench *b)
{
    struct sum s[6];
    for (int i = 0; i < 6; i++) sum_init(&s[i]);
    hydro_courant(&b->m, LEVEL, &b->h, &(struct hydro_sums){&s[0], &s[1], NULL, &s[3]});
}

static void kick(struct bench *b)
{
    hydro_kick(&b->m, LEVEL, false, 1e-12, &b->h);
}

static void flags(struct bench *b)
{
    hydro_flag(&b->m, LEVEL, &b->h, b->ok);
}

static void sweep(struct bench *b)
{
    mg_sweeps(&b->c, &b->mg.lev[LEVEL], false, 1, true);
}

static void residual(struct bench *b)
{
    mg_residual(&b->mg.lev[LEVEL], NULL);
}

static void residual_norm(struct bench *b)
{
    struct sum s;
    sum_init(&s);
    mg_residual(&b->mg.lev[LEVEL], &s);
}

static void correct(struct bench *b)
{
    mg_correct(&b->mg, &b->c, false, NULL);
}

static void force(struct bench *b)
{
    const struct grav_source from = {.far.mass = 1};
    grav_force(&b->m, &b->c, LEVEL, &from, &b->g);
}

static void deposit_gas(struct bench *b)
{
    grav_deposit_gas(&b->m, LEVEL, 0x1p-60, NULL, 1e-10, b->mass);
}

static void deposit_parts(struct bench *b)
{
    memset(b->mass, 0, sizeof b->mass[0] * (size_t)b->m.lev[LEVEL].noct);
    part_deposit(&b->p, &b->m, LEVEL, 0x1p-60, 0, 0, b->mass, NULL);
}

static void synchro(struct bench *b)
{
    double dt[LEVEL_MAX + 2] = {0};
    part_synchro(&b->p, &b->m, LEVEL, dt, dt);
}

static void move(struct bench *b)
{
    part_move(&b->p, &b->m, LEVEL, 0.1 / (1 << LEVEL));
}

static void enter(struct bench *b)
{
    part_enter(&b->p, &b->m, &b->c, b->d, LEVEL);
}

static void enter_and_kick(struct bench *b)
{
    enter(b);
    synchro(b);
}

/* Cells of a cosmological box at a = 0.25: n_H 1e-6..1e-3, T2 1e3..1e5, over 2e14 s. */
enum { COOLED = 1 << 3 * LEVEL };

static void cool_set_up(struct bench *b)
{
    const struct uv uv = {.model = UV_COURTY, .z_reion = 8.5, .a_spec = 1, .j_floor = 2.6e-25};
    struct rng r = rng_make(1, 2, 3);
    b->table = mem_zero(sizeof *b->table, "bench");
    b->gas = mem_zero(sizeof *b->gas * (COOLED / SOLVE_BLOCK), "bench");
    table_begin(b->table, &uv, 0.25);
    table_need(b->table, pow(10, TABLE_N_MIN), pow(10, TABLE_N_MAX));
    for (int i = 0; i < COOLED; i++) {
        struct solve_cells *c = &b->gas[i / SOLVE_BLOCK];
        int k = c->n++;
        c->nH[k] = c->seen[k] = pow(10, -6 + 3 * rng_uniform(&r));
        c->T2[k] = pow(10, 3 + 2 * rng_uniform(&r));
        c->Z[k] = 1e-3;
    }
}

static void cool(struct bench *b)
{
    for (int i = 0; i < COOLED / SOLVE_BLOCK; i++) {
        struct solve_cells c = b->gas[i];
        solve_original(b->table, 2e14, 1, &c);
    }
}

/* ---- power spectra: as many particles as cells ---- */

static void pk_set_up(struct bench *b, bool interlace)
{
    const struct pk_par par = {1 << LEVEL, PK_PCS, interlace, 1};
    b->pk = pk_new(&b->c, &par, 1, REPEATS); /* mass beyond the announced total is ignored */
    b->item = mem_new(sizeof *b->item * (size_t)b->p.n, "bench");
    for (int64_t i = 0; i < b->p.n; i++)
        b->item[i] = (struct pk_item){.x = {b->p.x[0][i], b->p.x[1][i], b->p.x[2][i]},
                                      .m = b->p.m[i]};
}

static void pk_tear_down(struct bench *b)
{
    pk_free(&b->pk);
    FREE(b->item);
}

static void pk_deposit(struct bench *b)
{
    enum { BATCH = 65536 };
    for (int64_t i = 0; i < b->p.n; i += BATCH)
        pk_add(b->pk, b->p.n - i < BATCH ? b->p.n - i : BATCH, b->item + i);
}

/* Prints nanoseconds for each of 64^3 cells or particles; `before` is not timed. */
static void report(struct bench *b, const char *name, void (*f)(struct bench *),
                   void (*before)(struct bench *))
{
    double best = 1e99;
    if (b->only && !strstr(name, b->only)) return;
    for (int r = 0; r < REPEATS; r++) {
        if (before) before(b);
        double t = now();
        f(b);
        t = now() - t;
        if (t < best) best = t;
    }
    printf("| %s | %.2f |\n", name, 1e9 * best / (double)((int64_t)1 << 3 * LEVEL));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const char *const solver[] = {"llf", "hll", "hllc", "exact", "acoustic"};
    struct bench *b = mem_zero(sizeof *b, "bench");
    omp_set_num_threads(1);
    b->only = argc > 1 ? argv[1] : NULL;
    setup(b);
    courant(b); /* sets the time step of the other kernels */
    printf("| kernel | ns a cell or particle |\n|---|---|\n");
    report(b, "courant", courant, NULL);
    for (int r = 0; r < 5; r++) {
        char name[64];
        b->h.riemann = (enum riemann)r;
        snprintf(name, sizeof name, "godunov %s, minmod", solver[r]);
        report(b, name, godunov, NULL);
    }
    b->h.riemann = RIEMANN_LLF;
    for (int s = 0; s <= 3; s++) {
        char name[64];
        b->h.slope_type = s;
        snprintf(name, sizeof name, "godunov llf, slope %d", s);
        report(b, name, godunov, NULL);
    }
    report(b, "courant and gas totals", courant_and_totals, NULL);
    report(b, "gas kick", kick, NULL);
    report(b, "gradient flags", flags, NULL);
    report(b, "multigrid sweep, red and black", sweep, NULL);
    report(b, "multigrid residual", residual, NULL);
    report(b, "multigrid residual and norm", residual_norm, NULL);
    report(b, "multigrid coarse correction, all levels below", correct, NULL);
    report(b, "force", force, NULL);
    report(b, "deposit of gas (leaves)", deposit_gas, NULL);
    report(b, "deposit of particles", deposit_parts, NULL);
    report(b, "particle kick (synchro)", synchro, NULL);
    report(b, "particle kick and drift after a kick", move, enter_and_kick);
    report(b, "particles find their octs, sorted if need be", enter, move);
    for (int meshes = 1; meshes <= 2; meshes++) {
        pk_set_up(b, meshes == 2);
        report(b,
               meshes == 1 ? "power spectrum: deposit by PCS, one mesh"
                           : "power spectrum: deposit by PCS, interlaced",
               pk_deposit, NULL);
        pk_tear_down(b);
    }
    cool_set_up(b);
    report(b, "cooling, original", cool, NULL);
    mem_free(b->gas);
    table_free(&b->table);
    part_fini(&b->p);
    FREE(b->mg.lev[LEVEL].u);
    mg_free(&b->mg);
    domain_free(b->d);
    mesh_fini(&b->m);
    return 0;
}
