/* device: times of the kernels of a device, on meshes made in memory.
 *
 *     device KIND uniform LEVEL [SLOPE SOLVER [NVAR]]
 *     device KIND levels LEVEL        a complete level with two finer ones in a ball
 *     device KIND poisson LEVEL       a solve of a complete periodic level, and its force; V-cycle:
 *                                     the time of all, by cycles
 *     device KIND fourier LEVEL       the same in Fourier space (gpu_fft); Fourier: the time of all
 *     device KIND sph LEVEL           8^LEVEL smoothed particles on a lattice with noise: the tree,
 *                                     density and forces; smooth: both. Wall times; not cpu
 *     device KIND bus                 copies, and how long a launch takes
 *
 * KIND: cuda or host (gpu_device); cpu: the CPU code. Rows on stdout, tab-separated: kernel, level,
 * launches, milliseconds in a step (the least of REPEATS), own cells of the level, cells per
 * second, and bytes per second as if each variable were read and written once. The last row is the
 * digest of the gas, equal for all kinds. Exit status 2: no such device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/timer.h"
#include "dev/dev.h"
#include "gas_mesh.h"
#include "gravdev/grav_dev.h"
#include "hydro/hydro_dev.h"
#include "oct/mirror.h"
#include "patch/reflux.h"
#include "smooth/smooth_dev.h"
#include "smooth_world.h"

enum { REPEATS = 5 };

static struct hydro_par par = {.nvar = 5,
                               .gamma = 1.4,
                               .smallr = 1e-10,
                               .smallc = 1e-10,
                               .courant_factor = 0.8,
                               .riemann = RIEMANN_LLF,
                               .slope_type = SLOPE_MINMOD,
                               .slope_theta = 1.5,
                               .interpol_type = 1};

static bool ball(const double *x, int l, int levelmin)
{
    double r2 = 0;
    for (int d = 0; d < 3; d++) r2 += (x[d] - 0.5) * (x[d] - 0.5);
    return r2 < (l == levelmin ? 0.09 : 0.03);
}

static void fill(struct mesh *m)
{
    struct rng r = rng_make(18, 1, 1);
    for (int l = 1; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            for (int c = 0; c < 8; c++) {
                double rho = 0.5 + rng_uniform(&r), ekin = 0;
                for (int v = 1; v < m->nvar; v++) {
                    double q = v < GAS_ENERGY ? rng_uniform(&r) - 0.5 : rng_uniform(&r);
                    if (v < GAS_ENERGY) ekin += 0.5 * rho * q * q;
                    m->lev[l].fld[FLD_U + v][i][c] = v == GAS_ENERGY ? 2.5 + ekin : rho * q;
                }
                m->lev[l].fld[FLD_U][i][c] = rho;
            }
    for (int l = m->levelmax - 1; l >= 1; l--) hydro_restrict(m, l, &par);
}

static uint64_t digest(const struct mesh *m, int first, int n)
{
    uint64_t hash = 0;
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (lidx i = 0; i < 8 * m->lev[l].nown; i++)
            for (int v = first; v < first + n; v++) {
                uint64_t bits;
                memcpy(&bits, &m->lev[l].fld[v][i / 8][i % 8], 8);
                hash = (hash ^ bits) * 0x100000001b3u;
            }
    return hash;
}

static void fail_if(enum err err)
{
    if (err == OK) return;
    fprintf(stderr, "device: %s\n", err_message());
    exit(1);
}

/* ---- times of kernels ---- */

enum { KERNELS = 64 };

/* Min time of a step of one level, by kernel. */
struct table {
    int64_t cells;
    struct dev_time before[KERNELS], min[KERNELS];
    int n;
};

static void table_begin(struct table *t, const struct dev *d)
{
    const struct dev_time *now;
    if (!d) return;
    memset(t->before, 0, sizeof t->before);
    for (int i = 0; i < KERNELS && (now = dev_time(d, i)); i++) t->before[i] = *now;
}

static void table_end(struct table *t, const struct dev *d)
{
    const struct dev_time *now;
    if (!d) return;
    for (int i = 0; i < KERNELS && (now = dev_time(d, i)); i++) {
        int64_t n = now->launches - t->before[i].launches;
        double seconds = now->seconds - t->before[i].seconds;
        if (n == 0 || (t->min[i].launches && t->min[i].seconds <= seconds)) continue;
        t->min[i] = (struct dev_time){now->kernel, n, now->blocks - t->before[i].blocks, seconds};
        if (i >= t->n) t->n = i + 1;
    }
}

static void table_print(const struct table *t, int level)
{
    for (int i = 0; i < t->n; i++) {
        const struct dev_time *k = &t->min[i];
        if (!k->launches) continue;
        double rate = (double)t->cells / k->seconds;
        printf("%s\t%d\t%lld\t%.4f\t%lld\t%.4g\t%.4g\n", k->kernel, level, (long long)k->launches,
               1e3 * k->seconds, (long long)t->cells, rate, 16.0 * par.nvar * rate);
    }
}

/* ---- the gas ---- */

struct bench {
    struct dev *dev; /* device; NULL: the CPU */
    struct dev_stream *stream;
    struct mirror mirror;
    struct hydro_dev *hydro;
    struct mesh mesh;
    struct table table[LEVEL_MAX + 1];
    double seconds; /* min time of all Godunov steps within a step, seconds */
};

/* Godunov step of a level, where the gas is. */
static double update(struct bench *x, int l, double dt)
{
    struct mesh *m = &x->mesh;
    if (x->dev) fail_if(mirror_need(&x->mirror, m, l, FLD_U, m->nvar, LOCATION_DEVICE));
    if (x->dev) fail_if(dev_wait(x->stream));
    table_begin(&x->table[l], x->dev);
    double begin = timer_wall();
    if (x->dev) {
        fail_if(hydro_dev_update(x->hydro, m, l, dt, 0, &par, NULL));
        fail_if(dev_wait(x->stream));
    } else {
        hydro_update(m, l, dt, 0, &par, NULL, NULL);
    }
    double seconds = timer_wall() - begin;
    x->table[l].cells = 8 * (int64_t)m->lev[l].nown;
    table_end(&x->table[l], x->dev);
    if (x->dev && m->levelmax > m->levelmin) fail_if(mirror_home(&x->mirror, m, true));
    return seconds;
}

static double step(struct bench *x, int l, double dt)
{
    struct mesh *m = &x->mesh;
    double seconds = 0;
    bool finer = l < m->levelmax;
    if (finer) reflux_begin(m, l + 1, REFLUX_GAS, hydro_nflux(&par), 0);
    if (finer) seconds += step(x, l + 1, dt);
    seconds += update(x, l, dt);
    if (finer) reflux_end(m, l + 1, REFLUX_GAS);
    if (finer) hydro_restrict(m, l, &par);
    return seconds;
}

static void gas(struct bench *x, int levelmin, int levelmax)
{
    static const bool periodic[6] = {false};
    struct mesh *m = &x->mesh;
    gas_mesh(m, levelmin, levelmax, &par, false, periodic, ball);
    fill(m);
    if (x->dev) {
        x->stream = dev_stream_new(x->dev);
        fail_if(mirror_init(&x->mirror, x->dev, x->stream));
        fail_if(hydro_dev_new(&x->hydro, &x->mirror));
    }
    double dt = 0.2 * hydro_courant(m, levelmax, &par, NULL);
    x->seconds = HUGE_VAL;
    for (int k = 0; k < REPEATS; k++) x->seconds = fmin(x->seconds, step(x, levelmin, dt));
    if (x->dev) fail_if(mirror_home(&x->mirror, m, true));
    printf("kernel\tlevel\tlaunches\tms\tcells\tcells_s\tbytes_s\n");
    for (int l = levelmin; l <= levelmax; l++) table_print(&x->table[l], l);
    printf("# Godunov steps of all levels: %.3f ms\n", 1e3 * x->seconds);
    printf("# digest %016llx\n", (unsigned long long)digest(m, FLD_U, m->nvar));
    if (x->dev) {
        dev_settle(x->dev);
        hydro_dev_free(&x->hydro);
        mirror_fini(&x->mirror);
        dev_stream_free(&x->stream);
    }
    mesh_fini(m);
}

/* ---- the potential ---- */

static const struct comm alone = {.size = 1};

static struct grav_report solve(struct bench *x, struct grav_dev *g, struct grav_par *p, int l,
                                double mean)
{
    const struct grav_source from = {.fourpi = 1, .rho_tot = mean, .far.mass = 1};
    struct grav_report rep;
    struct mesh *m = &x->mesh;
    bool done;
    if (!g) {
        rep = grav_solve(m, &alone, l, &from, p);
        grav_force(m, &alone, l, &from, p);
        return rep;
    }
    fail_if(grav_dev_solve(g, m, l, &from, p, &rep, &done));
    fail_if(grav_dev_force(g, m, l, &from));
    fail_if(dev_wait(x->stream));
    return rep;
}

static void poisson(struct bench *x, int l, bool fourier)
{
    static const bool periodic[6] = {false};
    struct mesh *m = &x->mesh;
    struct grav_dev *g = NULL;
    struct grav_report rep = {0};
    struct grav_par p = {.epsilon = 1e-4,
                         .cg_levelmin = 99,
                         .fft_levelmin = fourier ? 1 : 99,
                         .fft_fixed = true,
                         .mg_shared_octs = 64};
    struct rng r = rng_make(18, 2, 1);
    gas_mesh(m, l, l, &par, true, periodic, ball);
    for (int k = 1; k <= l; k++) m->lev[k].total = m->lev[k].nown;
    double mean = 0;
    for (lidx i = 0; i < 8 * m->lev[l].nown; i++) {
        double rho = m->lev[l].fld[FLD_RHO][i / 8][i % 8] = 0.5 + rng_uniform(&r);
        mean += rho / (8.0 * m->lev[l].nown);
    }
    if (x->dev) {
        x->stream = dev_stream_new(x->dev);
        fail_if(mirror_init(&x->mirror, x->dev, x->stream));
        fail_if(grav_dev_new(&g, &x->mirror, NULL, &alone));
        fail_if(mirror_need(&x->mirror, m, l, FLD_RHO, 1, LOCATION_DEVICE));
        fail_if(dev_wait(x->stream));
    }
    x->seconds = HUGE_VAL;
    x->table[l].cells = 8 * (int64_t)m->lev[l].nown;
    for (int k = 0; k < REPEATS; k++) {
        table_begin(&x->table[l], x->dev);
        double begin = timer_wall();
        rep = solve(x, g, &p, l, mean);
        x->seconds = fmin(x->seconds, timer_wall() - begin);
        table_end(&x->table[l], x->dev);
    }
    if (x->dev) fail_if(mirror_home(&x->mirror, m, true));
    printf("kernel\tlevel\tlaunches\tms\tcells\tcells_s\tbytes_s\n");
    table_print(&x->table[l], l);
    int solves = fourier ? 1 : rep.cycles;
    if (x->dev)
        printf("%s\t%d\t%d\t%.4f\t%lld\t%.4g\t0\n", fourier ? "Fourier" : "V-cycle", l, solves,
               1e3 * x->seconds / solves, (long long)x->table[l].cells,
               (double)x->table[l].cells * solves / x->seconds);
    printf("# solve and force, all levels: %.3f ms\n", 1e3 * x->seconds);
    printf("# digest %016llx\n", (unsigned long long)digest(m, FLD_PHI, FLD_FZ - FLD_PHI + 1));
    if (x->dev) {
        dev_settle(x->dev);
        grav_dev_free(&g);
        mirror_fini(&x->mirror);
        dev_stream_free(&x->stream);
    }
    grav_fini(&p);
    mesh_fini(m);
}

/* ---- smoothed particles ---- */

/* Wall time of what a step does to 8^level particles: the tree, densities, forces. */
static void smoothed(struct bench *x, int level)
{
    enum { TREE, DENSITY, FORCES, PARTS };
    static const char *const name[] = {"near", "smooth_density", "smooth_forces"};
    const int side = 1 << level;
    const int64_t n = (int64_t)side * side * side;
    const struct near_frame f = {.side = {1, 1, 1}, .period = {1, 1, 1}};
    struct smooth_par p = smooth_world_par(SMOOTH_M4, n);
    struct smooth s;
    double least[PARTS] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
    int64_t beyond;
    p.h_tol = 1e-4;
    smooth_world_init(&s, n);
    smooth_world_lattice(&s, side);
    x->stream = dev_stream_new(x->dev);
    struct smooth_dev *on = smooth_dev_new(x->dev, x->stream);
    fail_if(smooth_dev_reserve(on, &s, n));
    smooth_dev_need(on, &s, SMOOTH_ALL);
    fail_if(dev_wait(x->stream));
    for (int k = 0; k < REPEATS; k++) {
        double at[PARTS + 1];
        at[TREE] = timer_wall();
        fail_if(smooth_dev_tree(on, &s, &f));
        fail_if(dev_wait(x->stream));
        at[DENSITY] = timer_wall();
        fail_if(smooth_dev_density(on, &p, &s, 1.1 * smooth_support(p.kernel), &beyond));
        fail_if(dev_wait(x->stream));
        at[FORCES] = timer_wall();
        fail_if(smooth_dev_forces(on, &p, &s));
        fail_if(dev_wait(x->stream));
        at[PARTS] = timer_wall();
        for (int i = 0; i < PARTS; i++) least[i] = fmin(least[i], at[i + 1] - at[i]);
    }
    printf("kernel\tlevel\tlaunches\tms\tcells\tcells_s\tbytes_s\n");
    for (int i = 0; i < PARTS; i++)
        printf("%s\t%d\t1\t%.4f\t%lld\t%.4g\t0\n", name[i], level, 1e3 * least[i], (long long)n,
               (double)n / least[i]);
    const double both = least[DENSITY] + least[FORCES];
    printf("smooth\t%d\t1\t%.4f\t%lld\t%.4g\t0\n", level, 1e3 * both, (long long)n,
           (double)n / both);
    smooth_dev_free(&on);
    dev_settle(x->dev);
    dev_stream_free(&x->stream);
    smooth_free(&s);
}

/* ---- the bus ---- */

static double seconds_of(struct dev *d, struct dev_stream *s, int way, char *there, char *here,
                         size_t bytes)
{
    double min = HUGE_VAL;
    for (int k = 0; k < REPEATS; k++) {
        double begin = timer_wall();
        if (way == 0) dev_put(s, there, here, bytes);
        if (way == 1) dev_get(s, here, there, bytes);
        if (way == 2) dev_copy(s, there, there + bytes, bytes);
        for (int i = 0; way == 3 && i < 1000; i++) dev_fill(s, there, i, 256);
        fail_if(dev_wait(s));
        min = fmin(min, timer_wall() - begin);
    }
    return min;
}

static void bus(struct dev *d)
{
    void *there;
    size_t bytes = (size_t)(dev_is_host(d) ? 8 : 512) << 20;
    char *here = mem_zero(bytes, "test");
    struct dev_stream *s = dev_stream_new(d);
    fail_if(dev_new(d, &there, 2 * bytes, "bench"));
    fail_if((dev_fill(s, there, 0, 2 * bytes), dev_wait(s)));
    printf("what\tbytes_s\n");
    printf("put\t%.4g\n", (double)bytes / seconds_of(d, s, 0, there, here, bytes));
    printf("get\t%.4g\n", (double)bytes / seconds_of(d, s, 1, there, here, bytes));
    /* bytes read and written */
    printf("copy\t%.4g\n", 2 * (double)bytes / seconds_of(d, s, 2, there, here, bytes));
    printf("# a launch: %.2f us\n", 1e3 * seconds_of(d, s, 3, there, here, bytes));
    dev_stream_free(&s);
    dev_free(d, there);
    mem_free(here);
}

static int number(const char *word)
{
    return (int)strtol(word, NULL, 10);
}

int main(int argc, char **argv)
{
    static struct bench x;
    char why[DEV_WHY];
    const char *what = argc > 2 ? argv[2] : "";
    bool uniform = strcmp(what, "uniform") == 0, levels = strcmp(what, "levels") == 0,
         potential = strcmp(what, "poisson") == 0, fourier = strcmp(what, "fourier") == 0,
         copies = strcmp(what, "bus") == 0, sph = strcmp(what, "sph") == 0;
    if (!copies && (argc < 4 || !(uniform || levels || potential || fourier || sph))) {
        fprintf(stderr, "usage: device KIND uniform LEVEL [SLOPE SOLVER [NVAR]]\n"
                        "       device KIND levels LEVEL\n       device KIND poisson LEVEL\n"
                        "       device KIND fourier LEVEL\n       device KIND sph LEVEL\n"
                        "       device KIND bus\n");
        return 1;
    }
    int level = argc > 3 ? number(argv[3]) : 0;
    if (argc > 5) par.slope_type = (enum slope)number(argv[4]);
    if (argc > 5) par.riemann = hydro_riemann_named(argv[5]);
    if (argc > 6) par.nvar = number(argv[6]);
    bool cpu = strcmp(argv[1], "cpu") == 0 && !copies && !sph;
    if (!cpu) x.dev = dev_open(&(struct dev_how){.kind = argv[1], .timed = true}, why);
    if (!cpu && !x.dev) {
        fprintf(stderr, "device: %s\n", why);
        return 2;
    }
    printf("# %s\n", cpu ? "the CPU" : dev_name(x.dev));
    if (uniform || levels) gas(&x, level, level + (levels ? 2 : 0));
    if (potential || fourier) poisson(&x, level, fourier);
    if (sph) smoothed(&x, level);
    if (copies) bus(x.dev);
    if (x.dev) dev_close(&x.dev);
    return 0;
}
