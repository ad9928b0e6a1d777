/* sph_sinks_test: forces of the external mass and of point masses, their motion, and accretion, on
 * particles that are dealt out to the ranks.
 * Catches: a sign or a softening that differs between force and potential energy, a reaction that
 * is no exact sum, momentum or spin that leaves with an accreted particle, an image that is not
 * the nearest, the second of two point masses at the same distance, a rank that accretes alone. */
#include <float.h>

#include "base/rng.h"
#include "check.h"
#include "setup_world.h"

static struct comm comm;
static struct params par;

static void defaults(int nsink, const char *boundary)
{
    param_init(&par);
    world_text(par.sph.boundary, boundary);
    par.sph.nsink = nsink;
}

/* A point mass of the parameters. */
static void set_sink(int i, double m, double racc, const double x[3], const double v[3])
{
    par.sph.sink_m[i] = m, par.sph.sink_racc[i] = racc;
    for (int d = 0; d < 3; d++) par.sph.sink_x[3 * i + d] = x[d], par.sph.sink_v[3 * i + d] = v[d];
}

static const double REST[3] = {0};

/* n gas particles of random positions in the unit cube at `corner`, velocities and accelerations:
 * particle i on rank i mod size. */
static struct sph cloud(int n, const double corner[3])
{
    struct sph s;
    world_begin(&s, &par, &comm);
    s.eq.mass = 0.003;
    s.total = n;
    smooth_reserve(&s.p, n + 1);
    for (int i = comm.rank; i < n; i += comm.size) {
        struct rng r = rng_make(4711, (uint64_t)i, 0);
        const int64_t at = s.p.n++;
        for (int c = 0; c < SMOOTH_COLUMNS; c++)
            memset((char *)*smooth_at(&s.p, c) + smooth_row[c].bytes * (size_t)at, 0,
                   smooth_row[c].bytes);
        s.p.id[at] = i + 1;
        s.p.type[at] = SMOOTH_GAS;
        for (int d = 0; d < 3; d++) {
            s.p.x[d][at] = corner[d] + rng_uniform(&r);
            s.p.v[d][at] = 2 * rng_uniform(&r) - 1;
            s.p.a[d][at] = 2 * rng_uniform(&r) - 1;
        }
        s.p.h[at] = 0.25 * i;
    }
    sph_count(&s);
    sph_sinks_begin(&s);
    return s;
}

/* ---- what is conserved ---- */

enum {
    MASS,
    CENTRE,
    MOMENTUM = CENTRE + 3,
    SPIN = MOMENTUM + 3,
    FORCE = SPIN + 3,
    LAWS = FORCE + 3
};

struct laws {
    double value[LAWS], scale[LAWS]; /* sums of terms, and of their absolute values */
};

static void add_law(struct sum sum[2 * LAWS], int which, double x)
{
    sum_add(&sum[which], x);
    sum_add(&sum[LAWS + which], fabs(x));
}

static void add_body(struct sum sum[2 * LAWS], double m, const double x[3], const double v[3],
                     const double a[3])
{
    add_law(sum, MASS, m);
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        add_law(sum, CENTRE + d, m * x[d]);
        add_law(sum, MOMENTUM + d, m * v[d]);
        add_law(sum, FORCE + d, m * a[d]);
        add_law(sum, SPIN + d, m * x[e] * v[f]);
        add_law(sum, SPIN + d, -m * x[f] * v[e]);
    }
}

static struct laws laws(const struct sph *s)
{
    struct sum sum[2 * LAWS];
    struct laws l;
    const struct smooth *p = &s->p;
    for (int i = 0; i < 2 * LAWS; i++) sum_init(&sum[i]);
    for (int64_t i = 0; i < p->n; i++) {
        const double x[3] = {p->x[0][i], p->x[1][i], p->x[2][i]},
                     v[3] = {p->v[0][i], p->v[1][i], p->v[2][i]},
                     a[3] = {p->a[0][i], p->a[1][i], p->a[2][i]};
        add_body(sum, s->eq.mass, x, v, a);
    }
    for (int j = 0; j < s->nsink && comm.rank == 0; j++) {
        const struct sph_sink *k = &s->sink[j];
        add_body(sum, k->m, k->x, k->v, k->a);
        for (int d = 0; d < 3; d++) add_law(sum, SPIN + d, k->spin[d]);
    }
    comm_sums(&comm, sum, 2 * LAWS);
    for (int i = 0; i < LAWS; i++)
        l.value[i] = sum_get(&sum[i]), l.scale[i] = sum_get(&sum[LAWS + i]);
    return l;
}

static void check_laws(const struct laws *a, const struct laws *b, int n, double tolerance)
{
    for (int i = 0; i < n; i++)
        CHECK(fabs(a->value[i] - b->value[i]) <= tolerance * a->scale[i],
              "law %d: %g, then %g, of %g", i, a->value[i], b->value[i], a->scale[i]);
}

/* ---- accretion ---- */

/* The number of the nearest point mass within its radius, or −1. */
static int nearest(const struct sph *s, int64_t i, const struct sph_sink *sink)
{
    int best = -1;
    double least = INFINITY;
    for (int j = 0; j < s->nsink; j++) {
        double far2 = 0;
        for (int d = 0; d < 3; d++) {
            double x = s->p.x[d][i] - sink[j].x[d];
            if (s->periodic) x -= s->side[d] * rint(x / s->side[d]);
            far2 += x * x;
        }
        if (sqrt(far2) < sink[j].racc && far2 < least) best = j, least = far2;
    }
    return best;
}

/* The gas that stays is that beyond all radii, and rows are whole. */
static int64_t misplaced(const struct sph *s, const struct sph_sink *before)
{
    int64_t bad = 0;
    for (int64_t i = 0; i < s->p.n; i++)
        bad += nearest(s, i, before) >= 0 || s->p.h[i] != 0.25 * (double)(s->p.id[i] - 1);
    comm_add_i64(&comm, &bad, 1);
    return bad;
}

static void test_accretion(bool periodic)
{
    const double corner[3] = {periodic ? 0 : 2, 0, periodic ? 0 : -5},
                 c[3] = {corner[0], 0, corner[2]};
    defaults(3, periodic ? "periodic" : "free");
    set_sink(0, 2, 0.3, (double[]){c[0] + 0.5, 0.4, c[2] + 0.5}, (double[]){0.3, -2, 0.1});
    set_sink(1, 0, 0.2, (double[]){c[0] + 0.6, 0.5, c[2] + 0.6},
             REST); /* only mass that it takes */
    set_sink(2, 0.02, 0.4, (double[]){c[0] + 0.01, 0.02, c[2] + 0.9}, (double[]){5, 1, 1});
    struct sph s = cloud(3000, corner);
    struct sph_sink before[3];
    memcpy(before, s.sink, sizeof before);
    int64_t expected[3] = {0}, gone = -1;
    for (int64_t i = 0; i < s.p.n; i++) {
        const int j = nearest(&s, i, before);
        if (j >= 0) expected[j]++;
    }
    comm_add_i64(&comm, expected, 3);
    s.sink[2].spin[1] = 0.7, s.sink[0].a[2] = 3;
    const struct laws old = laws(&s);
    sph_accrete(&s, &gone);
    const struct laws now = laws(&s);
    if (periodic) { /* centre and angular momentum depend on images */
        CHECK(fabs(now.value[MASS] - old.value[MASS]) <= 1e-14 * old.scale[MASS]);
        for (int i = MOMENTUM; i < MOMENTUM + 3; i++)
            CHECK(fabs(now.value[i] - old.value[i]) <= 1e-14 * old.scale[i]);
    } else {
        check_laws(&old, &now, LAWS, 1e-14);
    }
    CHECK(gone == expected[0] + expected[1] + expected[2] && expected[1] > 20 && expected[2] > 50,
          "%lld", (long long)gone);
    for (int j = 0; j < 3; j++) {
        const double mass = (double)expected[j] * s.eq.mass;
        CHECK(fabs(s.sink[j].m - before[j].m - mass) < 1e-14 && s.sink[j].accreted == mass);
        for (int d = 0; d < 3 && periodic; d++)
            CHECK(s.sink[j].x[d] >= 0 && s.sink[j].x[d] < 1, "%g", s.sink[j].x[d]);
    }
    int64_t n = s.p.n;
    comm_add_i64(&comm, &n, 1);
    CHECK(n == 3000 - gone && s.swarm.n == s.p.n && misplaced(&s, before) == 0);
    sph_accrete(&s, &gone);
    world_end(&s);
}

/* One particle of these coordinates, on the last rank; which point mass takes it? −1: none. */
static int taken(const double x[3], const double v[3])
{
    static const double corner[3] = {0};
    struct sph s = cloud(comm.size, corner);
    const bool last = comm.rank == comm.size - 1;
    int64_t gone;
    for (int d = 0; d < 3; d++) s.p.x[d][0] = last ? x[d] : 100, s.p.v[d][0] = v[d];
    sph_accrete(&s, &gone);
    int by = -1;
    for (int j = 0; j < s.nsink; j++)
        if (s.sink[j].accreted > 0) by = j;
    CHECK(gone == (by >= 0) && s.p.n == !(last && by >= 0), "%lld gone", (long long)gone);
    world_end(&s);
    return by;
}

static void test_choice(void)
{
    defaults(2, "free");
    set_sink(0, 1, 2, (double[]){-1, 0, 0}, REST);
    set_sink(1, 1, 2, (double[]){1, 0, 0}, REST);
    CHECK(taken((double[]){0, 0.5, 0}, REST) == 0);
    CHECK(taken((double[]){1e-9, 0.5, 0}, REST) == 1);
    CHECK(taken((double[]){0, 1.8, 0}, REST) == -1);
    CHECK(taken((double[]){1, 2, 0}, REST) == -1); /* the radius itself is outside */
    /* within 0.8 of the radius; bound and slow; unbound; in orbit; more bound to the other */
    world_text(par.sph.sink_accretion, "phantom");
    set_sink(1, 1, 2, (double[]){100, 0, 0}, REST);
    CHECK(taken((double[]){0.599, 0, 0}, (double[]){50, 0, 0}) == 0);
    CHECK(taken((double[]){0.601, 0, 0}, (double[]){50, 0, 0}) == -1);
    CHECK(taken((double[]){0.8, 0, 0}, (double[]){0.5, 0, 0}) == 0);
    CHECK(taken((double[]){0.8, 0, 0}, (double[]){1.1, 0, 0}) == -1);
    CHECK(taken((double[]){0.8, 0, 0}, (double[]){0, 0.77, 0}) == 0);
    CHECK(taken((double[]){0.8, 0, 0}, (double[]){0, 0.8, 0}) == -1);
    set_sink(1, 50, 0.1, (double[]){10, 0, 0}, REST);
    CHECK(taken((double[]){0.8, 0, 0}, REST) == -1);
    CHECK(taken((double[]){0.5, 0, 0}, REST) == 0);
}

/* ---- forces ---- */

static double energy_of(struct sph *s)
{
    double epot;
    for (int64_t i = 0; i < s->p.n; i++)
        for (int d = 0; d < 3; d++) s->p.a[d][i] = 0;
    sph_external(s, &epot);
    return epot;
}

/* −dE/dx of a coordinate, from differences of the potential energy. */
static double slope(struct sph *s, double *x)
{
    const double at = x ? *x : 0, step = 1e-4;
    if (x) *x = at + step;
    const double after = energy_of(s);
    if (x) *x = at - step;
    const double before = energy_of(s);
    if (x) *x = at;
    return (before - after) / (2 * step);
}

/* Forces are the slopes of the energy; without an external mass they add up to nothing. */
static void check_forces(struct sph *s, bool closed)
{
    energy_of(s);
    const struct laws now = laws(s);
    for (int i = FORCE; i < FORCE + 3 && closed; i++)
        CHECK(fabs(now.value[i]) < 1e-15 * now.scale[i], "%g of %g", now.value[i], now.scale[i]);
    for (int j = 0; j < s->nsink; j++)
        for (int d = 0; d < 3; d++) {
            energy_of(s);
            const double force = s->sink[j].m * s->sink[j].a[d],
                         expected = slope(s, &s->sink[j].x[d]);
            CHECK(fabs(force - expected) < 1e-6 * (1 + fabs(expected)), "mass %d: %g, not %g", j,
                  force, expected);
        }
    for (int d = 0; d < 3; d++) { /* the first particle of rank 0 */
        const bool mine = comm.rank == 0;
        energy_of(s);
        const double force = mine ? s->eq.mass * s->p.a[d][0] : 0,
                     expected = slope(s, mine ? &s->p.x[d][0] : NULL);
        CHECK(!mine || fabs(force - expected) < 1e-6 * s->eq.mass * (1 + fabs(force / s->eq.mass)),
              "particle: %g, not %g", force, expected);
    }
}

static void test_forces(bool periodic, bool external)
{
    defaults(3, periodic ? "periodic" : "free");
    par.sph.soften = 0.1, par.sph.g = 1.5, par.sph.gm = 0.8;
    if (external) world_text(par.sph.external, "point");
    set_sink(0, 1, 0, (double[]){0.5, 0.4, 0.5}, REST);
    set_sink(1, 0.3, 0, (double[]){0.05, 0.1, 0.7}, REST);
    set_sink(2, 2, 0, (double[]){0.9, 0.8, 0.2}, REST);
    struct sph s = cloud(200, (double[]){0, 0, 0});
    check_forces(&s, !external);
    world_end(&s);
}

/* One particle at rest at a distance from a mass: force, energy, step; the nearest image of the
 * mass pulls, particles of boundaries feel nothing. */
static void test_one(void)
{
    defaults(1, "periodic");
    par.sph.g = 2, par.sph.cfl_force = 0.5;
    set_sink(0, 3, 0, (double[]){0.1, 0.5, 0.5}, REST);
    struct sph s = cloud(comm.size, REST);
    const bool mine = comm.rank == comm.size - 1;
    s.p.x[0][0] = 0.8, s.p.x[1][0] = s.p.x[2][0] = 0.5;
    s.p.type[0] = mine ? SMOOTH_GAS : SMOOTH_BOUNDARY;
    const double epot = energy_of(&s), pull = 6 / 0.09;
    CHECK(fabs(s.p.a[0][0] - (mine ? pull : 0)) < 1e-12, "%g", s.p.a[0][0]);
    CHECK(fabs(s.sink[0].a[0] + s.eq.mass * pull / 3) < 1e-14, "%g", s.sink[0].a[0]);
    CHECK(fabs(epot + 6 * s.eq.mass / 0.3) < 1e-15, "%g", epot);
    CHECK(fabs(sph_external_dt(&s) - 0.5 * sqrt(0.027 / 6)) < 1e-14, "%g", sph_external_dt(&s));
    s.p.x[0][0] = 0.1; /* in the mass itself */
    CHECK(energy_of(&s) == 0 && s.p.a[0][0] == 0);
    s.nsink = 0;
    CHECK(sph_external_dt(&s) == DBL_MAX && energy_of(&s) == 0);
    world_end(&s);
}

/* Gravity of the gas: particles of boundaries attract, but feel nothing. */
static void test_boundary(void)
{
    defaults(0, "free");
    struct sph s = cloud(60, REST);
    bool right = true;
    for (int64_t i = 0; i < s.p.n; i++) {
        s.p.h[i] = 0.1, s.p.omega[i] = 1;
        s.p.type[i] = s.p.id[i] == 7 ? SMOOTH_GAS : SMOOTH_BOUNDARY;
        for (int d = 0; d < 3; d++) s.p.a[d][i] = 0;
    }
    CHECK(sph_gravity(&s) == OK, "%s", err_message());
    for (int64_t i = 0; i < s.p.n; i++) right &= (s.p.a[0][i] != 0) == (s.p.id[i] == 7);
    CHECK(right && s.epot < 0);
    world_end(&s);
}

/* ---- motion ---- */

/* Three masses that follow one another on a figure of eight (Chenciner & Montgomery 2000), over its
 * period. */
static void test_eight(void)
{
    const double x = 0.97000436, y = -0.24308753, u = -0.93240737, w = -0.86473146;
    defaults(3, "free");
    set_sink(0, 1, 0, (double[]){x, y, 0}, (double[]){-u / 2, -w / 2, 0});
    set_sink(1, 1, 0, (double[]){-x, -y, 0}, (double[]){-u / 2, -w / 2, 0});
    set_sink(2, 1, 0, REST, (double[]){u, w, 0});
    struct sph s = cloud(0, REST);
    const int steps = 4000;
    const double dt = 6.32591398 / steps;
    double e0 = 0, e1 = 0, epot, drift = 0;
    sph_external(&s, &epot);
    const struct laws old = laws(&s);
    for (int k = 0; k <= steps; k++) {
        e1 = epot;
        for (int j = 0; j < 3; j++)
            for (int d = 0; d < 3; d++) e1 += 0.5 * s.sink[j].v[d] * s.sink[j].v[d];
        if (k == 0) e0 = e1;
        drift = fmax(drift, fabs(e1 / e0 - 1));
        if (k == steps) break;
        sph_sinks_kick(&s, 0.5 * dt);
        sph_sinks_drift(&s, dt);
        sph_external(&s, &epot);
        sph_sinks_kick(&s, 0.5 * dt);
    }
    const struct laws now = laws(&s);
    for (int i = MOMENTUM; i < FORCE; i++)
        CHECK(fabs(now.value[i] - old.value[i]) < 1e-12, "law %d: %g", i, now.value[i]);
    CHECK(drift < 1e-5, "energy changes by %g", drift);
    CHECK(fabs(s.sink[0].x[0] - x) < 1e-4 && fabs(s.sink[0].x[1] - y) < 1e-4, "%g %g",
          s.sink[0].x[0], s.sink[0].x[1]);
    CHECK(fabs(sph_external_dt(&s) - 0.25 * sqrt(pow(x * x + y * y, 1.5) / 2)) < 1e-3);
    world_end(&s);
}

static void test_wrap(void)
{
    defaults(1, "periodic");
    set_sink(0, 1, 0, (double[]){0.1, 0.5, 0.9}, (double[]){-1, 0, 1});
    struct sph s = cloud(0, REST);
    sph_sinks_drift(&s, 0.25);
    CHECK(fabs(s.sink[0].x[0] - 0.85) < 1e-15 && fabs(s.sink[0].x[2] - 0.15) < 1e-15);
    world_end(&s);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    test_accretion(false);
    test_accretion(true);
    test_choice();
    test_forces(false, false);
    test_forces(false, true);
    test_one();
    test_boundary();
    test_eight();
    test_wrap();
    comm_fini();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
