/* Laws of lib/cone. Particles with random velocities, up to a third of that of light, cross a
 * periodic box many times in steps of random length; a path that is followed without wrapping is
 * the reference: the copy of a particle in each replica of the box is seen exactly once, in the
 * step in which brute force finds it, where and when the light passes it.
 *
 * Examples of faults caught: a position at the beginning of a step that is not the one at the end
 * of the step before; a replica too few; a particle that is looked for in the wrong replica after
 * it has crossed the boundary of the box. Last line: N passed, N failed. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "cone/cone.h"

enum { N = 400, STEPS = 24, BOXES = 6, SIDE = 2 * BOXES + 1 };

static const double A_FIRST = 0.45, A_LAST = 1.03, PER_H0 = 2997.92458;

/* A flow: unwrapped positions at the beginning of each step. */
struct flow {
    struct ckpt_head head;
    double a[STEPS + 1], tau[STEPS + 1], far[STEPS + 1];
    double x[STEPS + 1][N][3];
};

static double simpson(double (*f)(const struct ckpt_head *, double), const struct ckpt_head *h,
                      double a, double b)
{
    enum { PARTS = 100 };
    double sum = f(h, a) + f(h, b), w = (b - a) / PARTS;
    for (int i = 1; i < PARTS; i++) sum += (i % 2 ? 4 : 2) * f(h, a + i * w);
    return sum * w / 3;
}

static double hubble(const struct ckpt_head *h, double a)
{
    return sqrt(h->omega_m / (a * a * a) + h->omega_l);
}

static double light(const struct ckpt_head *h, double a)
{
    return 1 / (a * a * hubble(h, a));
}

static double conformal(const struct ckpt_head *h, double a)
{
    return 1 / (a * a * a * hubble(h, a));
}

/* Comoving distance in boxes, and code time, 0 at a = 1. */
static double distance(const struct ckpt_head *h, double a)
{
    return PER_H0 / h->boxlen_ini * simpson(light, h, a, 1);
}

static double code_time(const struct ckpt_head *h, double a)
{
    return -simpson(conformal, h, a, 1);
}

static struct flow *flow_new(double boxlen, uint64_t seed)
{
    struct flow *f = mem_zero(sizeof *f, "flow");
    struct rng r = rng_make(seed, 1, 0);
    double sum = 0, size[STEPS];
    f->head = (struct ckpt_head){.levelmin = 5,
                                 .omega_m = 0.3,
                                 .omega_l = 0.7,
                                 .h0 = 70,
                                 .aexp_ini = A_FIRST,
                                 .boxlen_ini = boxlen};
    for (int k = 0; k < STEPS; k++) sum += size[k] = 0.2 + rng_uniform(&r);
    f->a[0] = A_FIRST;
    for (int k = 0; k < STEPS; k++) f->a[k + 1] = f->a[k] + (A_LAST - A_FIRST) * size[k] / sum;
    for (int k = 0; k <= STEPS; k++) {
        f->tau[k] = code_time(&f->head, f->a[k]);
        f->far[k] = distance(&f->head, f->a[k]);
    }
    for (int i = 0; i < N; i++)
        for (int d = 0; d < 3; d++) {
            double v = 0.3 * (2 * rng_uniform(&r) - 1) / sqrt(3);
            f->x[0][i][d] = rng_uniform(&r);
            /* the speed changes in each step, as that of a particle of fine levels does */
            for (int k = 0; k < STEPS; k++)
                f->x[k + 1][i][d] = f->x[k][i][d] +
                                    v * (0.8 + 0.2 * rng_uniform(&r)) * (f->far[k] - f->far[k + 1]);
        }
    return f;
}

static void head_at(struct flow *f, int k)
{
    f->head.nstep_coarse = k;
    f->head.aexp = f->a[k];
    f->head.aexp_old = f->a[k > 0 ? k - 1 : 0];
    f->head.t = f->tau[k];
    f->head.dtold[f->head.levelmin] = k > 0 ? f->tau[k] - f->tau[k - 1] : 0;
}

/* Events of the flow at step k, with wrapped positions. was: positions before, renewed. */
struct wrapped {
    double x[3][N], v[3][N];
    int32_t was[3][N];
};

static void wrap(const struct flow *f, int k, struct wrapped *w, struct cone_points *p)
{
    *p = (struct cone_points){.n = N};
    for (int d = 0; d < 3; d++) {
        for (int i = 0; i < N; i++) {
            w->x[d][i] = f->x[k][i][d] - floor(f->x[k][i][d]);
            if (k == 0) continue;
            /* the velocity at the end of the step is not the mean one */
            w->v[d][i] = 1.1 * (f->x[k][i][d] - f->x[k - 1][i][d]) / (f->tau[k] - f->tau[k - 1]);
        }
        p->x[d] = w->x[d], p->v[d] = w->v[d], p->was[d] = w->was[d];
    }
}

static void renew(struct wrapped *w)
{
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < N; i++) w->was[d][i] = cone_place(w->x[d][i]);
}

static struct params *rules(const char *rule, double zmax, double ty, double tz)
{
    struct params *p = mem_zero(sizeof *p, "parameters");
    p->run.lightcone = true;
    snprintf(p->lightcone.cone_rule, sizeof p->lightcone.cone_rule, "%s", rule);
    p->lightcone.zmax_cone = zmax;
    p->lightcone.thetay_cone = ty;
    p->lightcone.thetaz_cone = tz;
    return p;
}

/* ---- brute force ---- */

static double norm(const double r[3])
{
    return sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
}

/* Number of the copy of a particle by the replica in which it began. */
static int copy_of(const struct flow *f, int k, int i, const int32_t image[3])
{
    int c = 0;
    for (int d = 0; d < 3; d++) {
        int home = image[d] - (int)floor(f->x[k][i][d]) + BOXES;
        if (home < 0 || home >= SIDE) return -1;
        c = SIDE * c + home;
    }
    return c;
}

/* The step in which each copy is seen, 0: never. */
static unsigned char *brute_steps(const struct flow *f, const struct cone_view *v)
{
    unsigned char *seen = mem_zero((size_t)N * SIDE * SIDE * SIDE, "flow");
    for (int i = 0; i < N; i++)
        for (int c = 0; c < SIDE * SIDE * SIDE; c++) {
            int home[3] = {c / SIDE / SIDE - BOXES, c / SIDE % SIDE - BOXES, c % SIDE - BOXES};
            bool before = true;
            for (int k = 0; k <= STEPS; k++) {
                double r[3];
                for (int d = 0; d < 3; d++) r[d] = f->x[k][i][d] + home[d] - v->observer[d];
                bool after = norm(r) <= f->far[k];
                if (k > 0 && before && !after)
                    seen[(size_t)i * SIDE * SIDE * SIDE + c] = (unsigned char)k;
                before = after;
            }
        }
    return seen;
}

/* ---- checks ---- */

struct tally {
    int64_t events, wrong_step, outside;
    double worst_distance, worst_position;
};

/* Compares events of step k with the path, and marks the copies that are seen. */
static void tally(const struct flow *f, int k, const struct cone_view *v,
                  const struct cone_events *e, unsigned char *seen, struct tally *t)
{
    for (int64_t j = 0; j < e->n; j++) {
        const struct cone_event *one = &e->at[j];
        int i = (int)one->at, c = copy_of(f, k, i, one->image);
        t->events++;
        if (c < 0) {
            t->outside++;
            continue;
        }
        unsigned char *step = &seen[(size_t)i * SIDE * SIDE * SIDE + c];
        t->wrong_step += *step != k;
        *step = 0;
        double a = 1 / (1 + one->z),
               s = (code_time(&f->head, a) - f->tau[k - 1]) / (f->tau[k] - f->tau[k - 1]);
        t->worst_distance = fmax(t->worst_distance, fabs(norm(one->r) - distance(&f->head, a)));
        double at[3], turned[3];
        for (int d = 0; d < 3; d++)
            at[d] = f->x[k - 1][i][d] + s * (f->x[k][i][d] - f->x[k - 1][i][d]) + one->image[d] -
                    floor(f->x[k][i][d]) - v->observer[d];
        cone_turn(v, at, turned);
        for (int d = 0; d < 3; d++)
            t->worst_position = fmax(t->worst_position, fabs(turned[d] - one->r[d]));
    }
}

static int64_t left(const unsigned char *seen)
{
    int64_t n = 0;
    for (size_t c = 0; c < (size_t)N * SIDE * SIDE * SIDE; c++) n += seen[c] != 0;
    return n;
}

static void test_crossing(double boxlen, uint64_t seed)
{
    struct flow *f = flow_new(boxlen, seed);
    struct params *p = rules("crossing", 10, 90, 90);
    struct wrapped *w = mem_zero(sizeof *w, "flow");
    struct cone_view v[CONE_VIEWS];
    struct tally t = {0};
    CHECK(cone_views(&p->lightcone, boxlen / 0.7, v) == 1 && v[0].kind == CONE_SKY);
    unsigned char *seen = brute_steps(f, v);
    int64_t all = left(seen);
    for (int k = 0; k <= STEPS; k++) {
        struct cone_events e = {0};
        struct cone_points points;
        struct cone_shell shell;
        head_at(f, k);
        wrap(f, k, w, &points);
        if (cone_shell_of(&f->head, p, &shell)) cone_select(v, &shell, &points, &e);
        tally(f, k, v, &e, seen, &t);
        cone_events_free(&e);
        renew(w);
    }
    CHECK(all > 1000 && t.events == all, "%ld of %ld", (long)t.events, (long)all);
    CHECK(t.wrong_step == 0 && t.outside == 0 && left(seen) == 0, "%ld in another step, %ld lost",
          (long)t.wrong_step, (long)left(seen));
    CHECK(t.worst_distance < 1e-7, "%g", t.worst_distance);
    CHECK(t.worst_position < 2e-8, "%g", t.worst_position);
    mem_free(seen);
    mem_free(w);
    mem_free(p);
    mem_free(f);
}

/* Events of one step. */
static struct cone_events events_at(struct flow *f, int k, const struct params *p,
                                    const struct cone_view *v, struct wrapped *w)
{
    struct cone_events e = {0};
    struct cone_points points;
    struct cone_shell shell;
    head_at(f, k - 1);
    wrap(f, k - 1, w, &points);
    renew(w);
    head_at(f, k);
    wrap(f, k, w, &points);
    if (cone_shell_of(&f->head, p, &shell)) cone_select(v, &shell, &points, &e);
    int64_t id[N];
    for (int i = 0; i < N; i++) id[i] = N - i;
    cone_events_sort(&e, id);
    return e;
}

static bool same(const struct cone_event *a, const struct cone_event *b)
{
    return a->at == b->at && a->z == b->z && memcmp(a->image, b->image, sizeof a->image) == 0 &&
           memcmp(a->r, b->r, sizeof a->r) == 0;
}

/* A narrow view has those events of the whole sky that are within its angles, and no others. */
static void test_views(const char *rule)
{
    struct flow *f = flow_new(700, 7);
    struct wrapped *w = mem_zero(sizeof *w, "flow");
    struct params *sky = rules(rule, 10, 90, 90), *open = rules(rule, 10, 8, 5);
    struct cone_view v[2][CONE_VIEWS];
    cone_views(&sky->lightcone, 1000, v[0]);
    cone_views(&open->lightcone, 1000, v[1]);
    CHECK(v[1]->kind == CONE_OPEN);
    int64_t n = 0, wrong = 0;
    for (int k = 2; k <= STEPS; k++) {
        struct cone_events e[2] = {events_at(f, k, sky, v[0], w), events_at(f, k, open, v[1], w)};
        int64_t j = 0;
        for (int64_t i = 0; i < e[0].n; i++) {
            const double *r = e[0].at[i].r;
            if (!(r[0] > 1e-8 && fabs(r[1]) <= tan(8 * M_PI / 180) * r[0] &&
                  fabs(r[2]) <= tan(5 * M_PI / 180) * r[0]))
                continue;
            wrong += j >= e[1].n || !same(&e[0].at[i], &e[1].at[j]);
            j++;
        }
        wrong += j != e[1].n;
        n += j;
        cone_events_free(&e[0]);
        cone_events_free(&e[1]);
    }
    CHECK(n > 100 && wrong == 0, "%ld events, %ld wrong (%s)", (long)n, (long)wrong, rule);
    mem_free(sky);
    mem_free(open);
    mem_free(w);
    mem_free(f);
}

/* RAMSES's rule beside all particles in all replicas. */
static void test_standing(void)
{
    struct flow *f = flow_new(700, 3);
    struct wrapped *w = mem_zero(sizeof *w, "flow");
    struct params *p = rules("ramses", 10, 90, 90);
    struct cone_view v[CONE_VIEWS];
    int64_t n = 0, found = 0;
    double worst = 0;
    cone_views(&p->lightcone, 1000, v);
    for (int k = 2; k < STEPS - 4; k++) {
        struct cone_events e = events_at(f, k, p, v, w);
        double z[2] = {1 / f->a[k - 1] - 1, 1 / f->a[k] - 1};
        for (int64_t i = 0; i < e.n; i++) {
            double far = norm(e.at[i].r), share = (far - f->far[k]) / (f->far[k - 1] - f->far[k]);
            worst = fmax(worst, fabs(e.at[i].z - z[1] - share * (z[0] - z[1])));
        }
        for (int i = 0; i < N; i++)
            for (int c = 0; c < SIDE * SIDE * SIDE; c++) {
                int home[3] = {c / SIDE / SIDE - BOXES, c / SIDE % SIDE - BOXES, c % SIDE - BOXES};
                double r[3];
                for (int d = 0; d < 3; d++) r[d] = w->x[d][i] + home[d] - 0.5;
                n += norm(r) > f->far[k] && norm(r) <= f->far[k - 1];
            }
        found += e.n;
        cone_events_free(&e);
    }
    /* RAMSES's speed of light is 1.4e-7 higher */
    CHECK(n > 1000 && labs(found - n) <= 2, "%ld, brute force %ld", (long)found, (long)n);
    CHECK(worst < 1e-5, "%g", worst);
    mem_free(p);
    mem_free(w);
    mem_free(f);
}

/* A part of the box along an edge. */
static void test_box(int edge)
{
    struct flow *f = flow_new(700, 11);
    struct wrapped *w = mem_zero(sizeof *w, "flow");
    struct params *sky = rules("crossing", 10, 90, 90), *box = rules("crossing", 10, 90, 90);
    struct cone_view v[2][CONE_VIEWS];
    int along = abs(edge) - 1, sign = edge > 0 ? 1 : -1;
    box->lightcone.elongated_axis_cone1 = edge;
    for (int d = 0; d < 3; d++) {
        box->lightcone.observer_cone1[d] = 0.5;
        box->lightcone.minboxr_cone1[d] = d == along ? 0 : 0.25;
        box->lightcone.maxboxr_cone1[d] = d == along ? 1 : 0.9;
    }
    cone_views(&sky->lightcone, 1000, v[0]);
    CHECK(cone_views(&box->lightcone, 1000, v[1]) == 1 && v[1]->kind == CONE_BOX);
    int64_t n = 0, wrong = 0;
    for (int k = 2; k <= STEPS; k++) {
        struct cone_events e[2] = {events_at(f, k, sky, v[0], w), events_at(f, k, box, v[1], w)};
        int64_t in = 0;
        for (int64_t i = 0; i < e[0].n; i++) {
            double r[3] = {0};
            for (int d = 0; d < 3; d++)
                for (int q = 0; q < 3; q++) r[d] += v[0]->axis[q][d] * e[0].at[i].r[q];
            bool inside = sign * r[along] > 1e-6;
            for (int d = 0; d < 3; d++)
                if (d != along) inside = inside && r[d] + 0.5 >= 0.25 && r[d] + 0.5 < 0.9;
            in += inside;
        }
        wrong += labs(in - e[1].n);
        n += in;
        cone_events_free(&e[0]);
        cone_events_free(&e[1]);
    }
    CHECK(n > 100 && wrong == 0, "%ld events, %ld wrong, edge %d", (long)n, (long)wrong, edge);
    mem_free(sky);
    mem_free(box);
    mem_free(w);
    mem_free(f);
}

/* A point that is born in the step is seen only after its birth. */
static void test_birth(void)
{
    struct flow *f = flow_new(700, 5);
    struct wrapped *w = mem_zero(sizeof *w, "flow");
    struct params *p = rules("crossing", 10, 90, 90);
    struct cone_view v[CONE_VIEWS];
    struct cone_shell shell;
    struct cone_points points;
    double birth[N];
    int64_t n[3] = {0};
    const int k = 6;
    cone_views(&p->lightcone, 1000, v);
    head_at(f, k);
    wrap(f, k, w, &points);
    points.birth = birth;
    points.clock[0] = f->tau[k - 1], points.clock[1] = f->tau[k];
    CHECK(cone_shell_of(&f->head, p, &shell));
    for (int half = 0; half < 3; half++) {
        struct cone_events e = {0};
        for (int i = 0; i < N; i++)
            birth[i] = f->tau[k - 1] + 0.5 * half * (f->tau[k] - f->tau[k - 1]);
        cone_select(v, &shell, &points, &e);
        n[half] = e.n;
        double mid = 0.5 * (f->far[k - 1] + f->far[k]);
        for (int64_t i = 0; half == 1 && i < e.n; i++)
            if (norm(e.at[i].r) > mid + 0.02 * (f->far[k - 1] - f->far[k])) n[half] = -1;
        cone_events_free(&e);
    }
    CHECK(n[0] > 50 && n[1] > 0.3 * (double)n[0] && n[1] < 0.7 * (double)n[0] && n[2] == 0,
          "%ld %ld %ld", (long)n[0], (long)n[1], (long)n[2]);
    mem_free(p);
    mem_free(w);
    mem_free(f);
}

int main(void)
{
    test_crossing(700, 1);
    test_crossing(3000, 2); /* the whole light cone within one box */
    test_views("crossing");
    test_views("ramses");
    test_standing();
    for (int edge = 1; edge <= 3; edge++) test_box(edge), test_box(-edge);
    test_birth();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
