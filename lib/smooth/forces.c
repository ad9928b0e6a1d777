/* smooth/forces: accelerations and heating rates. */
#include <math.h>

#include "base/mem.h"
#include "smooth/select.h" /* first: it chooses the width of vectors */

#include "smooth/eos_kern.h"
#include "smooth/priv.h"

/* The rows of pairs (pair_kern.h) of each point, in the order of the tree, and squared reaches. */
struct job {
    const struct smooth_par *par;
    struct smooth_law law;
    struct smooth *s;
    const struct near *near;
#define ROW(name) double *name;
    SMOOTH_PAIR(ROW)
#undef ROW
    double *reach2;
};

struct hand {
    const struct job *job;
    struct smooth_crowd crowd;
    struct smooth_list list;
};

static void prepare_point(const struct job *j, double support, int64_t i)
{
    const struct smooth *s = j->s;
    const int64_t row = j->near->order[i];
    const double h = s->h[row], x[3] = {s->x[0][row], s->x[1][row], s->x[2][row]};
    struct smooth_self self = smooth_self_of(j->par, h, s->omega[row], s->u[row], x);
    self.vx = s->v[0][row], self.vy = s->v[1][row], self.vz = s->v[2][row];
    self.alpha_c = s->alpha[row] * self.c;
#define ROW(name) j->name[i] = self.name;
    SMOOTH_PAIR(ROW)
#undef ROW
    j->reach2[i] = (support * h) * (support * h);
}

static void prepare(struct job *j)
{
    const size_t bytes = (size_t)(j->near->n + 1) * sizeof(double);
    const double support = kern_support(j->par->kernel);
#define ROW(name) j->name = mem_new(bytes, "sorted particles");
    SMOOTH_PAIR(ROW)
#undef ROW
    j->reach2 = mem_new(bytes, "sorted particles");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < j->near->n; i++) prepare_point(j, support, i);
}

static void finish(struct job *j)
{
#define ROW(name) FREE(j->name);
    SMOOTH_PAIR(ROW)
#undef ROW
    FREE(j->reach2);
}

/* The members of struct smooth_push, in eight parts. */
struct push {
#define ROW(name) double name[SMOOTH_PARTS];
    SMOOTH_PUSH(ROW)
#undef ROW
};

static inline __attribute__((always_inline)) void push_of(const struct hand *w, int64_t point,
                                                          const enum smooth_kernel k,
                                                          struct push *sum)
{
    static const double number[SMOOTH_PARTS] = {0, 1, 2, 3, 4, 5, 6, 7};
    const struct job *j = w->job;
    const struct smooth_law law = j->law;
    const struct smooth_self a = {
#define ROW(name) .name = j->name[point],
        SMOOTH_PAIR(ROW)
#undef ROW
    };
    for (int part = 0; part < SMOOTH_PARTS; part += VEC) {
        struct smooth_push s = {{0}, {0}, {0}, {0}, {0}, {0}, {0}};
        for (int64_t i = part; i < w->list.padded; i += SMOOTH_PARTS) {
            const int64_t *at = w->list.at + i;
            const double left = (double)(w->list.n - i + part);
            struct smooth_other b;
            vec d[3];
#define ROW(name) b.name = smooth_take(j->name, at);
            SMOOTH_PAIR(ROW)
#undef ROW
            smooth_apart(&w->crowd, point, at, d);
            smooth_add_push(k, &law, &a, &b, d, (vec_bits)(vec_load(number + part) < left), &s);
        }
#define ROW(name) vec_store(sum->name + part, s.name);
        SMOOTH_PUSH(ROW)
#undef ROW
    }
}

static void keep(const struct job *j, int64_t point, const struct push *sum, int64_t near)
{
    const struct smooth_par *p = j->par;
    struct smooth *s = j->s;
    const int64_t row = j->near->order[point];
    const bool gas = s->type[row] != SMOOTH_BOUNDARY;
    const double m = p->mass;
    s->a[0][row] = gas ? -m * smooth_total(sum->x) : 0;
    s->a[1][row] = gas ? -m * smooth_total(sum->y) : 0;
    s->a[2][row] = gas ? -m * smooth_total(sum->z) : 0;
    s->vsig[row] = smooth_largest(sum->signal);
    s->near[row] = (double)near;
    s->du[row] = gas ? smooth_heating(p, j->weight[point], j->pressure[point],
                                      smooth_total(sum->work), smooth_total(sum->viscous),
                                      smooth_total(sum->conducted))
                     : 0;
}

static inline __attribute__((always_inline)) void leaf_of(struct hand *w, int64_t leaf,
                                                          const enum smooth_kernel k)
{
    const struct near *t = w->job->near;
    if (!smooth_leaf_owned(t, leaf, w->job->s->n)) return;
    smooth_crowd_gather(&w->crowd, leaf, near_leaf_reach(t, leaf));
    for (int64_t i = t->first[leaf]; i < t->first[leaf + 1]; i++) {
        if (t->order[i] >= w->job->s->n) continue;
        smooth_list_make(&w->crowd, i, w->job->reach2[i], true, &w->list);
        struct push sum;
        push_of(w, i, k, &sum);
        keep(w->job, i, &sum, w->list.n);
    }
}

static void leaf_m4(struct hand *w, int64_t leaf)
{
    leaf_of(w, leaf, SMOOTH_M4);
}

static void leaf_m6(struct hand *w, int64_t leaf)
{
    leaf_of(w, leaf, SMOOTH_M6);
}

static void all_leaves(const struct job *j)
{
    void (*const each[SMOOTH_KERNELS])(struct hand *,
                                       int64_t) = {[SMOOTH_M4] = leaf_m4, [SMOOTH_M6] = leaf_m6};
#pragma omp parallel
    {
        struct hand w = {.job = j, .crowd = {.near = j->near, .reach2 = j->reach2}};
#pragma omp for schedule(dynamic, 16)
        for (int64_t leaf = 0; leaf < j->near->nleaf; leaf++) each[j->par->kernel](&w, leaf);
        smooth_crowd_free(&w.crowd);
        smooth_list_free(&w.list);
    }
}

static void set_reach(const struct smooth_par *p, const struct smooth *s, struct near *t)
{
    const double support = smooth_support(p->kernel);
    double *reach = mem_new((size_t)(t->n + 1) * sizeof *reach, "reach of particles");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->n; i++) reach[i] = support * s->h[i];
    near_reach(t, reach);
    FREE(reach);
}

enum err smooth_check_positive(const struct smooth *s)
{
    int64_t bad = -1;
    for (int64_t i = 0; i < s->n + s->ghosts; i++)
        if (!(s->h[i] > 0 && s->omega[i] > 0) && (bad < 0 || s->id[i] < s->id[bad])) bad = i;
    if (bad < 0) return OK;
    FAIL(ERR_LIMIT,
         "particle %lld has the smoothing length %g and omega %g: forces need positive ones",
         (long long)s->id[bad], s->h[bad], s->omega[bad]);
}

enum err smooth_forces(const struct smooth_par *p, struct smooth *s, struct near *t)
{
    struct job j = {.par = p, .law = smooth_law_of(p), .s = s, .near = t};
    BUG_ON(t->n != s->n + s->ghosts);
    TRY(smooth_check_positive(s));
    set_reach(p, s, t);
    prepare(&j);
    all_leaves(&j);
    finish(&j);
    return OK;
}
