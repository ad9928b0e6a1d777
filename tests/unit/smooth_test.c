/* Smoothed particles by their laws and beside sums over all pairs: kernels by quadrature; every
 * equation of state, viscosity and conductivity; conservation; Galilean invariance; the same bits
 * in any order of rows, with copies of other ranks' particles, with any leaves and threads; exact
 * gradients of linear fields; the iteration of h from far away, to its bounds, and where there is
 * no solution. Catches: a neighbour at the edge that is missed, a term with the wrong sign or of
 * the wrong particle, a sum whose order depends on the tree, a bracket that is lost.
 *
 * test: tier=quick timeout=120 */
#include <float.h>
#include <omp.h>

#include "base/rng.h"
#include "check.h"
#include "smooth/point_kern.h"
#include "smooth_world.h"

/* ---- sets of particles ---- */

enum place { UNIFORM, CLUSTER, PAIRS };

static void put(struct smooth *s, int64_t n, enum place place, double h)
{
    struct rng r = rng_make(44, (uint64_t)n, (uint32_t)place);
    smooth_world_init(s, n);
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            double x = rng_uniform(&r);
            if (place == CLUSTER && i % 3 == 0) x = 0.97 + 0.02 * rng_normal(&r);
            if (place == PAIRS && i % 2 == 1) x = s->x[k][i - 1];
            s->x[k][i] = x - floor(x) < 1 ? x - floor(x) : 0;
            s->v[k][i] = rng_normal(&r);
            s->a[k][i] = rng_normal(&r);
        }
        s->u[i] = 1 + rng_uniform(&r);
        s->alpha[i] = rng_uniform(&r);
        s->h[i] = h;
    }
}

static void copy_row(struct smooth *to, int64_t i, const struct smooth *from, int64_t j)
{
    struct smooth source = *from;
    for (enum smooth_column c = 0; c < SMOOTH_COLUMNS; c++) {
        const size_t bytes = smooth_row[c].bytes;
        const char *at = *smooth_at(&source, c);
        memcpy((char *)*smooth_at(to, c) + bytes * (size_t)i, at + bytes * (size_t)j, bytes);
    }
}

static struct smooth copy(const struct smooth *s)
{
    struct smooth to = {0};
    const int64_t n = s->n + s->ghosts;
    smooth_reserve(&to, n);
    to.n = s->n, to.ghosts = s->ghosts;
    for (int64_t i = 0; i < n; i++) copy_row(&to, i, s, i);
    return to;
}

static enum err evaluate(const struct smooth_par *p, struct smooth *s, double period, int leaf)
{
    enum err err = OK;
    struct near *t = smooth_world_near(s, period, leaf);
    TRY_OUT(smooth_world_density(p, s, t));
    TRY_OUT(smooth_forces(p, s, t));
out:
    near_free(&t);
    return err;
}

static void must(enum err err)
{
    CHECK(err == OK, "%s", err_message());
}

/* ---- kernels ---- */

static double f_of(enum smooth_kernel k, double q)
{
    vec f, slope;
    kern_at(k, vec_of(q), &f, &slope);
    return vec_first(f);
}

static void test_kernel(enum smooth_kernel k)
{
    enum { N = 3000 };
    const double support = smooth_support(k), dq = support / N, eps = 1e-4;
    double volume = 0, worst = 0;
    for (int i = 0; i < N; i++) {
        const double q = (i + 0.5) * dq;
        volume += 4 * SMOOTH_PI * q * q * f_of(k, q) * dq;
        const double slope = (f_of(k, q + eps) - f_of(k, q - eps)) / (2 * eps);
        worst = fmax(worst, fabs(slope - vec_first(kern_slope(k, vec_of(q)))));
    }
    CHECK(fabs(kern_norm(k) * volume - 1) < 1e-6, "%g", kern_norm(k) * volume);
    CHECK(worst < 1e-4, "%g", worst);
    CHECK(f_of(k, support) == 0 && f_of(k, 1e30) == 0 && f_of(k, 0.999 * support) > 0, " ");
    CHECK(vec_first(kern_slope(k, vec_of(0.0))) == 0, " ");
}

/* ---- beside all pairs ---- */

struct pair {
    double d[3], r, unit[3], w, fa, fb; /* F_ab(h_a), F_ab(h_b) */
};

static double slope_of(const struct smooth_par *p, double r, double h)
{
    return kern_norm(p->kernel) * vec_first(kern_slope(p->kernel, vec_of(r / h))) / (h * h * h * h);
}

static struct pair pair_of(const struct smooth_par *p, const struct smooth *s, int64_t a, int64_t b,
                           double period)
{
    struct pair q = {.w = 0};
    for (int k = 0; k < 3; k++) {
        q.d[k] = s->x[k][a] - s->x[k][b];
        if (period > 0) q.d[k] -= period * rint(q.d[k] / period);
    }
    q.r = sqrt(q.d[0] * q.d[0] + q.d[1] * q.d[1] + q.d[2] * q.d[2]);
    for (int k = 0; k < 3; k++) {
        q.unit[k] = q.r > 0 ? q.d[k] / q.r : 0;
        q.w += (s->v[k][a] - s->v[k][b]) * q.unit[k];
    }
    q.fa = slope_of(p, q.r, s->h[a]), q.fb = slope_of(p, q.r, s->h[b]);
    return q;
}

/* q of particle i for a pair, and its part that heats */
static double viscous(const struct smooth_par *p, const struct smooth *s, int64_t i, double c,
                      const struct pair *q, double *heats)
{
    const double rho = smooth_rho(p, s->h[i]), w = q->w, ac = s->alpha[i] * c;
    if (p->alpha_switch == SMOOTH_DISC) {
        const double part = q->r > 0 ? s->h[i] / q->r : 0;
        *heats = -0.5 * rho * ac * part * w;
        return w < 0 ? -0.5 * rho * (ac - p->beta * w) * part * w : *heats;
    }
    return *heats = w < 0 ? -0.5 * rho * fmax(ac - p->beta * w, 0) * w : 0;
}

struct rate {
    double a[3], du, vsig, near;
};

static struct rate rate_of(const struct smooth_par *p, const struct smooth *s, int64_t a,
                           double period)
{
    struct rate e = {.du = 0};
    double pa, ca, pb, cb, heats, none;
    const double ra = smooth_rho(p, s->h[a]), ka = 1 / (s->omega[a] * ra * ra);
    smooth_pressure(p, s, a, &pa, &ca);
    for (int64_t b = 0; b < s->n; b++) {
        const struct pair q = pair_of(p, s, a, b, period);
        if (b == a || q.r >= smooth_support(p->kernel) * fmax(s->h[a], s->h[b])) continue;
        const double rb = smooth_rho(p, s->h[b]), kb = 1 / (s->omega[b] * rb * rb);
        smooth_pressure(p, s, b, &pb, &cb);
        const double qa = viscous(p, s, a, ca, &q, &heats), qb = viscous(p, s, b, cb, &q, &none);
        const double push = (pa + qa) * ka * q.fa + (pb + qb) * kb * q.fb;
        for (int k = 0; k < 3; k++) e.a[k] -= p->mass * push * q.unit[k];
        const double speed = p->gravity ? fabs(q.w) : sqrt(fabs(pa - pb) / (0.5 * (ra + rb)));
        const double both = q.fa / (s->omega[a] * ra) + q.fb / (s->omega[b] * rb);
        e.du += p->mass * ((p->pdv_heating ? pa : 0) + (p->shock_heating ? heats : 0)) * ka * q.w *
                q.fa;
        e.du += p->mass * p->alpha_u * speed * (s->u[a] - s->u[b]) * 0.5 * both;
        e.vsig = fmax(e.vsig, fmax(ca, cb) - p->beta * q.w);
        e.near++;
    }
    if (p->eos != SMOOTH_ADIABATIC) e.du = 0;
    return e;
}

/* Σ m W/ρ, Ω and ∇·v by all pairs at the h of a particle */
static void dense_of(const struct smooth_par *p, const struct smooth *s, int64_t a, double period,
                     double out[3])
{
    const double h = s->h[a], rho = smooth_rho(p, h), norm = kern_norm(p->kernel);
    double sum = 0, change = 0, div = 0;
    for (int64_t b = 0; b < s->n; b++) {
        const struct pair q = pair_of(p, s, a, b, period);
        const double f = f_of(p->kernel, q.r / h);
        sum += p->mass * norm * f / (h * h * h);
        change -= p->mass * (3 * norm * f / (h * h * h * h) + q.fa * q.r / h);
        div -= p->mass * q.w * q.fa;
    }
    out[0] = sum / rho;
    out[1] = 1 + h / (3 * rho) * change;
    out[2] = div / (out[1] * rho);
}

static void compare_all(const struct smooth_par *p, const struct smooth *s, double period,
                        const char *what)
{
    double off[5] = {0}, size[5] = {1, 1, 0, 0, 0};
    for (int64_t a = 0; a < s->n; a++) {
        double dense[3];
        dense_of(p, s, a, period, dense);
        const struct rate e = rate_of(p, s, a, period);
        off[0] = fmax(off[0], fabs(dense[0] - 1));
        off[1] = fmax(off[1], fabs(dense[1] - s->omega[a]));
        off[2] = fmax(off[2], fabs(dense[2] - s->divv[a]));
        for (int k = 0; k < 3; k++) off[3] = fmax(off[3], fabs(e.a[k] - s->a[k][a]));
        off[4] = fmax(off[4], fabs(e.du - s->du[a]));
        size[2] += fabs(dense[2]) / (double)s->n, size[3] += fabs(e.a[0]) / (double)s->n;
        size[4] += fabs(e.du) / (double)s->n;
        CHECK(fabs(e.vsig - s->vsig[a]) < 1e-12 * e.vsig && e.near == s->near[a],
              "%s: %g %g, %g %g", what, e.vsig, s->vsig[a], e.near, s->near[a]);
    }
    for (int i = 0; i < 5; i++)
        CHECK(off[i] <= 1e-11 * size[i], "%s: number %d is off by %g of %g", what, i, off[i],
              size[i]);
}

static void test_laws(enum smooth_kernel k, double period)
{
    enum { N = 230 };
    for (int law = 0; law < 24; law++) {
        struct smooth s;
        struct smooth_par p = smooth_world_par(k, N);
        char what[80];
        p.eos = (enum smooth_eos)(law % 3), p.alpha_switch = (enum smooth_switch)(law % 4);
        p.gravity = law % 2, p.pdv_heating = law % 8 < 6, p.shock_heating = law % 5 > 0;
        p.centre[0] = 0.3;
        snprintf(what, sizeof what, "kernel %d, law %d, period %g", (int)k, law, period);
        put(&s, N, law / 8 == 0 ? UNIFORM : law / 8 == 1 ? CLUSTER : PAIRS, 0.2);
        must(evaluate(&p, &s, period, 0));
        compare_all(&p, &s, period, what);
        smooth_free(&s);
    }
}

/* ---- conservation and invariance ---- */

static void test_conservation(void)
{
    enum { N = 3000 };
    struct smooth s;
    const struct smooth_par p = smooth_world_par(SMOOTH_M4, N);
    put(&s, N, CLUSTER, 0.1);
    must(evaluate(&p, &s, 1, 0));
    double energy = 0, energies = 0;
    for (int k = 0; k < 3; k++) {
        double sum = 0, size = 0;
        for (int64_t i = 0; i < N; i++) sum += s.a[k][i], size += fabs(s.a[k][i]);
        CHECK(fabs(sum) < 1e-14 * size, "axis %d: %g of %g", k, sum, size);
    }
    for (int64_t i = 0; i < N; i++) {
        const double work = s.v[0][i] * s.a[0][i] + s.v[1][i] * s.a[1][i] + s.v[2][i] * s.a[2][i];
        energy += work + s.du[i], energies += fabs(work) + fabs(s.du[i]);
    }
    CHECK(fabs(energy) < 1e-14 * energies, "%g of %g", energy, energies);
    smooth_free(&s);
}

static void test_galilei(void)
{
    enum { N = 1000 };
    struct smooth s, moved;
    const struct smooth_par p = smooth_world_par(SMOOTH_M6, N);
    double size = 0, off = 0;
    put(&s, N, CLUSTER, 0.1);
    moved = copy(&s);
    for (int64_t i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) {
            const double x = s.x[k][i] + 0.3 * (k + 1);
            moved.x[k][i] = x - floor(x), moved.v[k][i] += 3 - k;
        }
    must(evaluate(&p, &s, 1, 0));
    must(evaluate(&p, &moved, 1, 0));
    for (int64_t i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) {
            size = fmax(size, fabs(s.a[k][i]));
            off = fmax(off, fabs(s.a[k][i] - moved.a[k][i]));
            off = fmax(off, fabs(s.du[i] - moved.du[i]));
        }
    CHECK(off < 1e-11 * size, "%g of %g", off, size);
    smooth_free(&s);
    smooth_free(&moved);
}

/* ---- bits ---- */

static void compare_bits(const struct smooth *s, const struct smooth *t, int64_t row, int64_t other,
                         const char *what)
{
    struct smooth a = *s, b = *t;
    for (enum smooth_column c = 0; c < SMOOTH_COLUMNS; c++) {
        const size_t bytes = smooth_row[c].bytes;
        const char *x = *smooth_at(&a, c), *y = *smooth_at(&b, c);
        CHECK(!memcmp(x + bytes * (size_t)row, y + bytes * (size_t)other, bytes),
              "%s: row %lld, column %s", what, (long long)row, smooth_row[c].name);
    }
}

/* The rows i with i % 3 == part as own ones, the others as ghosts with their h, Ω, α of s. */
static void test_part(const struct smooth_par *p, const struct smooth *start,
                      const struct smooth *s, int part)
{
    struct smooth own = copy(start);
    int64_t from[5000], n = 0;
    for (int ghost = 0; ghost < 2; ghost++)
        for (int64_t i = start->n - 1; i >= 0; i--)
            if ((i % 3 != part) == ghost) copy_row(&own, n, start, i), from[n++] = i;
    for (own.n = 0; own.n < n && from[own.n] % 3 == part;) own.n++;
    own.ghosts = n - own.n;
    struct near *t = smooth_world_near(&own, 1, 7);
    must(smooth_world_density(p, &own, t));
    for (int64_t i = own.n; i < n; i++) own.h[i] = s->h[from[i]], own.omega[i] = s->omega[from[i]];
    must(smooth_forces(p, &own, t));
    near_free(&t);
    for (int64_t i = 0; i < own.n; i++) compare_bits(&own, s, i, from[i], "part");
    smooth_free(&own);
}

static void test_bits(enum smooth_kernel k)
{
    enum { N = 2000 };
    struct smooth s, start;
    struct smooth_par p = smooth_world_par(k, N);
    p.h_tol = 1e-4;
    put(&start, N, CLUSTER, 0.12);
    s = copy(&start);
    must(evaluate(&p, &s, 1, 0));
    for (int leaf = 1; leaf < 60; leaf += 19) {
        struct smooth again = copy(&start);
        omp_set_num_threads(leaf == 20 ? 3 : 1);
        must(evaluate(&p, &again, 1, leaf));
        omp_set_num_threads(1);
        for (int64_t i = 0; i < N; i++) compare_bits(&s, &again, i, i, "leaf");
        smooth_free(&again);
    }
    for (int part = 0; part < 3; part++) test_part(&p, &start, &s, part);
    smooth_free(&s);
    smooth_free(&start);
}

/* ---- gradients ---- */

/* v = G x and a = A x in open space: ∂_j v_i is exactly G even at the surface. */
static void test_linear(void)
{
    enum { N = 500 };
    const double g[9] = {-1, 0.3, 0.2, -0.1, -0.5, 0.4, 0.25, 0.15, -0.8};
    const double b[9] = {-9, 1, 2, 3, -8, 1, 0.5, 0.25, -4};
    struct smooth s;
    struct smooth_par p = smooth_world_par(SMOOTH_M4, N);
    int between = 0;
    p.alpha_max = 1e9;
    put(&s, N, UNIFORM, 0.1);
    for (int64_t i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) {
            s.v[k][i] = s.a[k][i] = 5;
            for (int j = 0; j < 3; j++)
                s.v[k][i] += g[3 * k + j] * s.x[j][i], s.a[k][i] += b[3 * k + j] * s.x[j][i];
        }
    struct near *t = smooth_world_near(&s, 0, 0);
    must(smooth_world_density(&p, &s, t));
    for (int64_t i = 0; i < N; i++) {
        double pressure, speed;
        smooth_pressure(&p, &s, i, &pressure, &speed);
        const double want = smooth_alpha_loc(&p, g, b, s.h[i], speed);
        CHECK(fabs(s.alpha_loc[i] - want) < 1e-9 * want, "%g, expected %g", s.alpha_loc[i], want);
        between += want > 0;
    }
    CHECK(between == N, "%d", between);
    near_free(&t);
    smooth_free(&s);
}

/* Particles in a plane and on a line have no gradient across: values are finite, forces stay in it.
 */
static void test_flat(int flat)
{
    enum { N = 400 };
    struct smooth s;
    const struct smooth_par p = smooth_world_par(SMOOTH_M4, N);
    put(&s, N, UNIFORM, 0.1);
    for (int k = 3 - flat; k < 3; k++)
        for (int64_t i = 0; i < N; i++) s.x[k][i] = 0.25, s.v[k][i] = 0;
    must(evaluate(&p, &s, 1, 0));
    for (int64_t i = 0; i < N; i++) {
        CHECK(s.alpha_loc[i] >= 0 && s.alpha_loc[i] <= 1 && isfinite(s.divv[i]), "%g",
              s.alpha_loc[i]);
        CHECK(s.a[2][i] == 0 && isfinite(s.a[0][i]) && isfinite(s.du[i]), "%g", s.a[2][i]);
    }
    smooth_free(&s);
}

/* ---- the iteration ---- */

static void test_starts(void)
{
    enum { N = 600 };
    struct smooth s, other;
    const struct smooth_par p = smooth_world_par(SMOOTH_M4, N);
    struct rng r = rng_make(1, 1, 1);
    put(&s, N, CLUSTER, 0.15);
    must(evaluate(&p, &s, 1, 0));
    other = copy(&s);
    for (int64_t i = 0; i < N; i++) other.h[i] *= pow(10, 2 * rng_uniform(&r) - 1);
    must(evaluate(&p, &other, 1, 0));
    for (int64_t i = 0; i < N; i++)
        CHECK(fabs(s.h[i] - other.h[i]) < 1e-12 * s.h[i], "%.17g, %.17g", s.h[i], other.h[i]);
    smooth_free(&s);
    smooth_free(&other);
}

static void test_beyond(void)
{
    enum { N = 600 };
    struct smooth s;
    struct smooth_par p = smooth_world_par(SMOOTH_M4, N);
    double reach[N];
    int64_t beyond, should = 0;
    put(&s, N, UNIFORM, 0.15);
    must(evaluate(&p, &s, 1, 0));
    struct smooth again = copy(&s);
    struct near *t = smooth_world_near(&s, 1, 0);
    for (int64_t i = 0; i < N; i++) {
        reach[i] = 2 * s.h[i] * (i % 4 == 0 ? 0.8 : 1.1), should += i % 4 == 0;
        again.h[i] *= i % 3 == 0 ? 0.7 : 1.3;
    }
    must(smooth_density(&p, &again, t, reach, &beyond));
    CHECK(beyond == should, "%lld of %lld", (long long)beyond, (long long)should);
    for (int64_t i = 0; i < N; i++) {
        const double want = i % 4 == 0 ? reach[i] / 2 : s.h[i];
        CHECK(fabs(again.h[i] - want) < 1e-12 * want, "%g %g", again.h[i], want);
    }
    near_free(&t);
    smooth_free(&s);
    smooth_free(&again);
}

static void test_refusals(void)
{
    struct smooth s;
    struct smooth_par p = smooth_world_par(SMOOTH_M4, 100);
    put(&s, 1, UNIFORM, 0.1);
    s.id[0] = 77;
    CHECK_FAILS(evaluate(&p, &s, 0, 0), "particle 77 has too few neighbours");
    smooth_free(&s);
    put(&s, 5, UNIFORM, 0.1);
    CHECK_FAILS(evaluate(&p, &s, 0, 0), "particle 0 has too few neighbours");
    smooth_free(&s);
    put(&s, 100, UNIFORM, 0.1);
    for (int64_t i = 10; i < 18; i++)
        for (int k = 0; k < 3; k++) s.x[k][i] = 0.5;
    CHECK_FAILS(evaluate(&p, &s, 1, 0), "many particles are at one place");
    smooth_free(&s);
    put(&s, 100, UNIFORM, 0.1);
    s.h[7] = NAN, s.h[9] = 0;
    CHECK_FAILS(evaluate(&p, &s, 1, 0), "particle 7 has the smoothing length nan");
    s.h[7] = s.h[9] = 0.1;
    must(evaluate(&p, &s, 1, 0));
    struct near *t = smooth_world_near(&s, 1, 0);
    s.omega[4] = s.omega[8] = -1, s.id[4] = 400;
    CHECK_FAILS(smooth_forces(&p, &s, t), "particle 8 has the smoothing length");
    near_free(&t);
    smooth_free(&s);
}

/* ---- boundary particles, and the switch in time ---- */

static void test_boundary(void)
{
    enum { N = 300 };
    struct smooth s, gas;
    const struct smooth_par p = smooth_world_par(SMOOTH_M4, N);
    put(&gas, N, UNIFORM, 0.15);
    s = copy(&gas);
    for (int64_t i = 0; i < N; i += 5) s.type[i] = SMOOTH_BOUNDARY;
    must(evaluate(&p, &gas, 1, 0));
    must(evaluate(&p, &s, 1, 0));
    for (int64_t i = 0; i < N; i++) {
        const bool still = i % 5 == 0;
        for (int k = 0; k < 3; k++)
            CHECK(s.a[k][i] == (still ? 0 : gas.a[k][i]), "row %lld", (long long)i);
        CHECK(s.du[i] == (still ? 0 : gas.du[i]) && s.h[i] == gas.h[i], "row %lld", (long long)i);
    }
    smooth_free(&s);
    smooth_free(&gas);
}

static double after(enum smooth_switch kind, double alpha, double loc, double divv, double dt)
{
    struct smooth s;
    struct smooth_par p = smooth_world_par(SMOOTH_M4, 1);
    p.eos = SMOOTH_ISOTHERMAL, p.alpha_switch = kind, p.alpha_min = 0.1;
    smooth_world_init(&s, 1);
    s.h[0] = 0.2, s.alpha[0] = alpha, s.alpha_loc[0] = loc, s.divv[0] = divv;
    smooth_switch(&p, &s, dt); /* τ = 0.2/(0.1·1) = 2 */
    alpha = s.alpha[0];
    smooth_free(&s);
    return alpha;
}

static void test_switch(void)
{
    CHECK(after(SMOOTH_CD10, 0.3, 0.7, 0, 1) == 0.7, " ");
    CHECK(fabs(after(SMOOTH_CD10, 0.7, 0.1, 0, 1) - 0.75 / 1.5) < 1e-15, " ");
    CHECK(fabs(after(SMOOTH_MM97, 0.3, 0.1, 5, 1) - 0.35 / 1.5) < 1e-15, " ");
    CHECK(fabs(after(SMOOTH_MM97, 0.3, 0.1, -0.25, 1) - 0.6 / 1.5) < 1e-15, " ");
    CHECK(after(SMOOTH_MM97, 0.3, 0.1, -50, 1) == 1, " ");
    CHECK(after(SMOOTH_CONST, 0.3, 0.1, -1, 1) == 1 && after(SMOOTH_DISC, 0.3, 0, -1, 1) == 1, " ");
}

int main(void)
{
    omp_set_num_threads(1);
    for (enum smooth_kernel k = 0; k < SMOOTH_KERNELS; k++) {
        test_kernel(k);
        test_laws(k, 0);
        test_laws(k, 1);
        test_bits(k);
    }
    test_conservation();
    test_galilei();
    test_linear();
    test_flat(1);
    test_flat(2);
    test_starts();
    test_beyond();
    test_refusals();
    test_boundary();
    test_switch();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
