/* smooth/density: h by iteration, with Ω, ∇·v and the α of the switch. */
#include <math.h>

#include "base/mem.h"
#include "smooth/select.h" /* first: it chooses the width of vectors */

#include "smooth/eos_kern.h"
#include "smooth/priv.h"

struct job {
    const struct smooth_par *par;
    struct smooth *s;
    const struct near *near;
    const double *reach;
    double *v[3], *a[3]; /* in the order of the tree */
    double all;          /* a reach within which all particles are, whatever the kernel */
    int64_t beyond;
    /* The particle of the smallest id that has no h. */
    enum smooth_fault fault;
    int64_t id;
    double h;
};

struct hand {
    struct job *job;
    struct smooth_crowd crowd;
    struct smooth_list list;
    int64_t point, row; /* in the order of the tree, among the columns */
    double list_h;
    int64_t beyond;
};

static void complain(struct job *j, enum smooth_fault fault, int64_t id, double h)
{
#pragma omp critical(smooth_complain)
    if (j->fault == SMOOTH_HAS_H || id < j->id) j->fault = fault, j->id = id, j->h = h;
}

static void list_within(struct hand *w, const enum smooth_kernel k, double h, double top)
{
    w->list_h = smooth_list_h(h, top);
    const double far = kern_support(k) * w->list_h;
    if (far > w->crowd.radius) smooth_crowd_gather(&w->crowd, w->crowd.leaf, far);
    smooth_list_make(&w->crowd, w->point, far * far, false, &w->list);
    smooth_list_far(&w->crowd, w->point, 2 * far, &w->list);
}

/* Σ_b m W/ρ and Ω at h */
static inline __attribute__((always_inline)) void measure(const struct hand *w,
                                                          const enum smooth_kernel k, double h,
                                                          double *fill, double *omega)
{
    const double per_h = 1 / h, *r = w->list.r;
    double f[SMOOTH_PARTS], change[SMOOTH_PARTS];
    for (int part = 0; part < SMOOTH_PARTS; part += VEC) {
        struct smooth_fill s = {{0}, {0}};
        for (int64_t i = part; i < w->list.padded; i += SMOOTH_PARTS)
            smooth_add_fill(k, vec_load(r + i) * per_h, &s);
        vec_store(f + part, s.f);
        vec_store(change + part, s.change);
    }
    smooth_measured(w->job->par->eta, k, smooth_total(f), smooth_total(change), fill, omega);
}

/* t of neighbours from number i on */
VEC_INLINE vec weight(const struct hand *w, const enum smooth_kernel k, double per_h, int64_t i)
{
    const vec r = vec_load(w->list.r + i), zero = vec_of(0.0);
    const vec per_r = vec_pick((vec_bits)(r > zero), 1 / r, zero);
    return -kern_slope(k, r * per_h) * per_r;
}

VEC_INLINE void apart(const struct hand *w, int64_t i, vec d[3])
{
    d[0] = vec_load(w->list.d[0] + i);
    d[1] = vec_load(w->list.d[1] + i);
    d[2] = vec_load(w->list.d[2] + i);
}

VEC_INLINE void differ(const struct hand *w, double *const v[3], int64_t i, vec d[3])
{
    const int64_t *at = w->list.at + i;
    d[0] = v[0][w->point] - smooth_take(v[0], at);
    d[1] = v[1][w->point] - smooth_take(v[1], at);
    d[2] = v[2][w->point] - smooth_take(v[2], at);
}

static inline __attribute__((always_inline)) void shape(const struct hand *w,
                                                        const enum smooth_kernel k, double per_h,
                                                        double m[6])
{
    double parts[6][SMOOTH_PARTS];
    for (int part = 0; part < SMOOTH_PARTS; part += VEC) {
        struct smooth_shape s = {{0}, {0}, {0}, {0}, {0}, {0}};
        for (int64_t i = part; i < w->list.padded; i += SMOOTH_PARTS) {
            vec d[3];
            const vec t = weight(w, k, per_h, i);
            vec_store(w->list.r + i, t);
            apart(w, i, d);
            smooth_add_shape(t, d, &s);
        }
        const vec sum[6] = {s.xx, s.xy, s.xz, s.yy, s.yz, s.zz};
        for (int n = 0; n < 6; n++) vec_store(parts[n] + part, sum[n]);
    }
    for (int n = 0; n < 6; n++) m[n] = smooth_total(parts[n]);
}

/* Σ t (v_a − v_b) d; list.r has t. */
static void slope(const struct hand *w, double *const v[3], double m[9])
{
    double parts[9][SMOOTH_PARTS];
    for (int part = 0; part < SMOOTH_PARTS; part += VEC) {
        struct smooth_slope s = {{0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}};
        for (int64_t i = part; i < w->list.padded; i += SMOOTH_PARTS) {
            vec d[3], dv[3];
            apart(w, i, d);
            differ(w, v, i, dv);
            smooth_add_slope(vec_load(w->list.r + i), d, dv, &s);
        }
        const vec sum[9] = {s.xx, s.xy, s.xz, s.yx, s.yy, s.yz, s.zx, s.zy, s.zz};
        for (int n = 0; n < 9; n++) vec_store(parts[n] + part, sum[n]);
    }
    for (int n = 0; n < 9; n++) m[n] = smooth_total(parts[n]);
}

static double alpha_loc(const struct hand *w, const double v[9], const double inverse[6], double h)
{
    const struct job *j = w->job;
    const double x[3] = {j->near->x[0][w->point], j->near->x[1][w->point], j->near->x[2][w->point]};
    double a[9], grad_v[9], grad_a[9], pressure, speed;
    slope(w, j->a, a);
    smooth_gradient(v, inverse, grad_v);
    smooth_gradient(a, inverse, grad_a);
    smooth_eos_at(j->par, smooth_density_of(j->par, h), j->s->u[w->row], x, &pressure, &speed);
    return smooth_alpha_loc(j->par, grad_v, grad_a, h, speed);
}

/* At the final h; replaces list.r. */
static inline __attribute__((always_inline)) void conclude(struct hand *w,
                                                           const enum smooth_kernel k, double h)
{
    const struct smooth_par *p = w->job->par;
    struct smooth *s = w->job->s;
    double fill, omega, m[6], v[9], inverse[6];
    measure(w, k, h, &fill, &omega);
    shape(w, k, 1 / h, m);
    slope(w, w->job->v, v);
    const double usual = smooth_usual(p->eta, k, omega, h);
    s->h[w->row] = h;
    s->omega[w->row] = omega;
    s->divv[w->row] = (v[0] + v[4] + v[8]) / usual;
    s->alpha_loc[w->row] = p->alpha_switch == SMOOTH_MM97 ? p->alpha_min : p->alpha_max;
    if (p->alpha_switch != SMOOTH_CD10) return;
    smooth_inverse(m, usual, inverse);
    s->alpha_loc[w->row] = alpha_loc(w, v, inverse, h);
}

static inline __attribute__((always_inline)) void particle(struct hand *w,
                                                           const enum smooth_kernel k)
{
    const struct job *j = w->job;
    const double start = j->s->h[w->row], top = j->reach[w->row] / kern_support(k);
    const int64_t id = j->s->id[w->row];
    if (!(start > 0 && start < INFINITY && top > 0)) {
        complain(w->job, SMOOTH_BAD_H, id, start);
        return;
    }
    struct smooth_search q = smooth_search_from(start, top);
    enum smooth_found found = SMOOTH_SEARCHES;
    w->list_h = 0;
    while (found == SMOOTH_SEARCHES) {
        double fill, omega;
        if (smooth_list_is_old(w->list_h, q.h)) list_within(w, k, q.h, top);
        measure(w, k, q.h, &fill, &omega);
        found = smooth_search_step(&q, j->par->h_tol, fill, omega);
        if (q.h < 0x1p-40 * start) found = SMOOTH_LOST;
    }
    const enum smooth_fault fault = smooth_fault_of(found, j->reach[w->row] >= j->all);
    if (fault != SMOOTH_HAS_H) {
        complain(w->job, fault, id, q.h);
        return;
    }
    w->beyond += found == SMOOTH_BEYOND;
    if (q.h > w->list_h) list_within(w, k, q.h, top);
    conclude(w, k, q.h);
}

/* The distance within which most particles of a leaf will look. */
static double leaf_radius(const struct job *j, int64_t leaf, double support)
{
    const struct near *t = j->near;
    double most = 0;
    for (int64_t i = t->first[leaf]; i < t->first[leaf + 1]; i++) {
        const int64_t row = t->order[i];
        if (row >= j->s->n) continue;
        const double far = smooth_list_h(support * j->s->h[row], j->reach[row]);
        if (far > most) most = far;
    }
    return most;
}

static inline __attribute__((always_inline)) void leaf_of(struct hand *w, int64_t leaf,
                                                          const enum smooth_kernel k)
{
    const struct near *t = w->job->near;
    if (!smooth_leaf_owned(t, leaf, w->job->s->n)) return;
    smooth_crowd_gather(&w->crowd, leaf, leaf_radius(w->job, leaf, kern_support(k)));
    for (int64_t i = t->first[leaf]; i < t->first[leaf + 1]; i++) {
        w->point = i, w->row = t->order[i];
        if (w->row < w->job->s->n) particle(w, k);
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

static void all_leaves(struct job *j)
{
    void (*const each[SMOOTH_KERNELS])(struct hand *,
                                       int64_t) = {[SMOOTH_M4] = leaf_m4, [SMOOTH_M6] = leaf_m6};
    int64_t beyond = 0;
#pragma omp parallel reduction(+ : beyond)
    {
        struct hand w = {.job = j, .crowd = {.near = j->near}};
#pragma omp for schedule(dynamic, 16)
        for (int64_t leaf = 0; leaf < j->near->nleaf; leaf++) each[j->par->kernel](&w, leaf);
        beyond += w.beyond;
        smooth_crowd_free(&w.crowd);
        smooth_list_free(&w.list);
    }
    j->beyond = beyond;
}

double smooth_everywhere(const struct smooth_par *p, const double side[3])
{
    return 8 * smooth_support(p->kernel) *
           sqrt(side[0] * side[0] + side[1] * side[1] + side[2] * side[2]);
}

enum err smooth_has_no_h(enum smooth_fault fault, int64_t id, double h)
{
    static const char *const text[] = {
        [SMOOTH_BAD_H] = "particle %lld has the smoothing length %g: smoothing lengths must be "
                         "positive and finite",
        [SMOOTH_NO_H] = "particle %lld, smoothing length %g: no smoothing length fits its "
                        "neighbours, as where many particles are at one place",
        [SMOOTH_ALONE] = "particle %lld has too few neighbours at any smoothing length (last %g): "
                         "the kernel needs at least 6 particles"};
    if (fault == SMOOTH_HAS_H) return OK;
    FAIL(ERR_LIMIT, text[fault], (long long)id, h);
}

enum err smooth_density(const struct smooth_par *p, struct smooth *s, struct near *t,
                        const double *reach, int64_t *beyond)
{
    struct job j = {.par = p, .s = s, .near = t, .reach = reach};
    BUG_ON(t->n != s->n + s->ghosts);
    j.all = smooth_everywhere(p, t->frame.side);
    for (int k = 0; k < 3; k++) {
        j.v[k] = smooth_sorted(t, s->v[k]);
        j.a[k] = smooth_sorted(t, s->a[k]);
    }
    all_leaves(&j);
    for (int k = 0; k < 3; k++) {
        FREE(j.v[k]);
        FREE(j.a[k]);
    }
    *beyond = j.beyond;
    return smooth_has_no_h(j.fault, j.id, j.h);
}
