/* smooth/density_kernel: smoothing lengths and gradients on a device, with the functions of the
 * CPU. The particles of a batch search together, until none of them does. */
#define VEC_ONE /* must precede vec/vec.h */
#include "smooth/eos_kern.h"
#include "smooth/list_kern.h"
#include "smooth/point_kern.h"

enum { SMOOTH_SUMS = 9 };

struct smooth_density_shared {
    struct smooth_select sel;
    double part[SMOOTH_SUMS][SMOOTH_THREADS]; /* what each thread has added */
    struct smooth_search search[SMOOTH_ROWS];
    double start[SMOOTH_ROWS], list_h[SMOOTH_ROWS];
    /* Ω, Σ t d d and Σ t (v_a − v_b) d at the final h */
    double omega[SMOOTH_ROWS], shape[SMOOTH_ROWS][6], v[SMOOTH_ROWS][9];
    int32_t found[SMOOTH_ROWS]; /* enum smooth_found */
    bool old, busy;             /* a list is old; a particle searches */
};

/* Means the same as SMOOTH_FOUND for particles that are not there, or have no h. */
enum { SMOOTH_IDLE = -1 };

DEV_FN double smooth_sum(const struct smooth_density_shared *s, int n, int p)
{
    return smooth_total(&s->part[n][p * SMOOTH_PARTS]);
}

DEV_FN void smooth_fault_at(const struct smooth_density_args *a, int32_t row,
                            enum smooth_fault fault, double h)
{
    a->fault[row] = (int8_t)fault;
    a->h[row] = h;
    dev_add_i64(&a->counter[SMOOTH_COUNT_FAULTS], 1);
}

DEV_FN void smooth_search_begin(const struct smooth_density_args *a,
                                struct smooth_density_shared *s, const enum smooth_kernel k, int p)
{
    const int32_t row = a->tree.order[s->sel.point[p]];
    const double start = a->h[row], top = a->reach[row] / kern_support(k);
    if (!(start > 0 && start < INFINITY && top > 0)) {
        smooth_fault_at(a, row, SMOOTH_BAD_H, start);
        return;
    }
    s->search[p] = smooth_search_from(start, top);
    s->start[p] = start;
    s->found[p] = SMOOTH_SEARCHES;
    s->busy = true;
}

/* Asks for a new list of the particle where its h has left that of the list. */
DEV_FN void smooth_ask_list(struct smooth_density_shared *s, const enum smooth_kernel k, int p)
{
    s->list_h[p] = smooth_list_h(s->search[p].h, s->search[p].top);
    const double far = kern_support(k) * s->list_h[p];
    s->sel.limit2[p] = far * far;
    s->old = true;
}

/* Σ f and Σ (3f + q f') at the h of the search, of particles that search; all: of those too that
 * have found it. */
DEV_FN void smooth_measure(const struct smooth_density_args *a, struct smooth_density_shared *s,
                           struct dev_block *b, struct smooth_place *to, const enum smooth_kernel k,
                           bool all)
{
    SMOOTH_PASS(&a->tree, &s->sel, b, to, NULL)
    PHASE (t, SMOOTH_THREADS) {
        const int p = t / SMOOTH_PARTS, n = smooth_inside(&s->sel, to, p);
        struct smooth_fill sum = {0, 0};
        if (t == 0) s->busy = false;
        if (s->found[p] == SMOOTH_IDLE || !(all || s->found[p] == SMOOTH_SEARCHES)) continue;
        if (to->window > 0) sum.f = s->part[0][t], sum.change = s->part[1][t];
        const double per_h = 1 / s->search[p].h;
        for (int i = t % SMOOTH_PARTS; i < n; i += SMOOTH_PARTS)
            smooth_add_fill(k, to->r[p * to->room + i] * per_h, &sum);
        s->part[0][t] = sum.f, s->part[1][t] = sum.change;
    }
}

DEV_FN void smooth_search_on(const struct smooth_density_args *a, struct smooth_density_shared *s,
                             const enum smooth_kernel k, int p)
{
    double fill, omega;
    struct smooth_search q = s->search[p];
    smooth_measured(a->par.eta, k, smooth_sum(s, 0, p), smooth_sum(s, 1, p), &fill, &omega);
    s->found[p] = smooth_search_step(&q, a->par.h_tol, fill, omega);
    if (q.h < 0x1p-40 * s->start[p]) s->found[p] = SMOOTH_LOST;
    s->search[p] = q;
    if (s->found[p] == SMOOTH_SEARCHES) s->busy = true;
}

/* Counts what the search has not found. */
DEV_FN void smooth_search_end(const struct smooth_density_args *a, struct smooth_density_shared *s,
                              const enum smooth_kernel k, int p)
{
    const int32_t row = a->tree.order[s->sel.point[p]];
    const enum smooth_found found = (enum smooth_found)s->found[p];
    const enum smooth_fault fault = smooth_fault_of(found, a->reach[row] >= a->everywhere);
    if (fault != SMOOTH_HAS_H) {
        smooth_fault_at(a, row, fault, s->search[p].h);
        s->found[p] = SMOOTH_IDLE;
        return;
    }
    if (found == SMOOTH_BEYOND) dev_add_i64(&a->counter[SMOOTH_COUNT_BEYOND], 1);
    if (s->search[p].h > s->list_h[p]) smooth_ask_list(s, k, p);
}

/* t of a neighbour */
DEV_FN double smooth_weight(const struct smooth_place *to, const enum smooth_kernel k, double per_h,
                            int i)
{
    const double r = to->r[i], per_r = r > 0 ? 1 / r : 0;
    return -kern_slope(k, r * per_h) * per_r;
}

DEV_FN void smooth_shape_pass(const struct smooth_density_args *a, struct smooth_density_shared *s,
                              struct dev_block *b, struct smooth_place *to,
                              const enum smooth_kernel k)
{
    SMOOTH_PASS(&a->tree, &s->sel, b, to, NULL)
    PHASE (t, SMOOTH_THREADS) {
        const int p = t / SMOOTH_PARTS, n = smooth_inside(&s->sel, to, p);
        struct smooth_shape sum = {0, 0, 0, 0, 0, 0};
        if (s->found[p] == SMOOTH_IDLE) continue;
        if (to->window > 0) {
            sum.xx = s->part[0][t], sum.xy = s->part[1][t], sum.xz = s->part[2][t];
            sum.yy = s->part[3][t], sum.yz = s->part[4][t], sum.zz = s->part[5][t];
        }
        const double per_h = 1 / s->search[p].h;
        for (int i = t % SMOOTH_PARTS; i < n; i += SMOOTH_PARTS) {
            double d[3];
            smooth_between_points(&a->tree, &s->sel, p, to->at[p * to->room + i], d);
            smooth_add_shape(smooth_weight(to, k, per_h, p * to->room + i), d, &sum);
        }
        s->part[0][t] = sum.xx, s->part[1][t] = sum.xy, s->part[2][t] = sum.xz;
        s->part[3][t] = sum.yy, s->part[4][t] = sum.yz, s->part[5][t] = sum.zz;
    }
}

/* Σ t (v_a − v_b) d */
DEV_FN void smooth_slope_pass(const struct smooth_density_args *a, struct smooth_density_shared *s,
                              struct dev_block *b, struct smooth_place *to,
                              const enum smooth_kernel k, const double *const v[3])
{
    SMOOTH_PASS(&a->tree, &s->sel, b, to, NULL)
    PHASE (t, SMOOTH_THREADS) {
        const int p = t / SMOOTH_PARTS, n = smooth_inside(&s->sel, to, p);
        struct smooth_slope sum = {0, 0, 0, 0, 0, 0, 0, 0, 0};
        if (s->found[p] == SMOOTH_IDLE) continue;
        if (to->window > 0) {
            sum.xx = s->part[0][t], sum.xy = s->part[1][t], sum.xz = s->part[2][t];
            sum.yx = s->part[3][t], sum.yy = s->part[4][t], sum.yz = s->part[5][t];
            sum.zx = s->part[6][t], sum.zy = s->part[7][t], sum.zz = s->part[8][t];
        }
        const int32_t point = s->sel.point[p];
        const double per_h = 1 / s->search[p].h, own[3] = {v[0][point], v[1][point], v[2][point]};
        for (int i = t % SMOOTH_PARTS; i < n; i += SMOOTH_PARTS) {
            const int32_t at = to->at[p * to->room + i];
            const double dv[3] = {own[0] - v[0][at], own[1] - v[1][at], own[2] - v[2][at]};
            double d[3];
            smooth_between_points(&a->tree, &s->sel, p, at, d);
            smooth_add_slope(smooth_weight(to, k, per_h, p * to->room + i), d, dv, &sum);
        }
        s->part[0][t] = sum.xx, s->part[1][t] = sum.xy, s->part[2][t] = sum.xz;
        s->part[3][t] = sum.yx, s->part[4][t] = sum.yy, s->part[5][t] = sum.yz;
        s->part[6][t] = sum.zx, s->part[7][t] = sum.zy, s->part[8][t] = sum.zz;
    }
}

/* part has the sums of the gradients of a, if the switch wants them. */
DEV_FN void smooth_conclude(const struct smooth_density_args *a, struct smooth_density_shared *s,
                            const enum smooth_kernel k, int p)
{
    const struct smooth_par *par = &a->par;
    const int32_t point = s->sel.point[p], row = a->tree.order[point];
    const double h = s->search[p].h, omega = s->omega[p], *v = s->v[p];
    const double usual = smooth_usual(par->eta, k, omega, h);
    a->h[row] = h;
    a->omega[row] = omega;
    a->divv[row] = (v[0] + v[4] + v[8]) / usual;
    a->alpha_loc[row] = par->alpha_switch == SMOOTH_MM97 ? par->alpha_min : par->alpha_max;
    if (par->alpha_switch != SMOOTH_CD10) return;
    const double x[3] = {s->sel.self[0][p], s->sel.self[1][p], s->sel.self[2][p]};
    double acc[9], inverse[6], grad_v[9], grad_a[9], pressure, speed;
    for (int n = 0; n < 9; n++) acc[n] = smooth_sum(s, n, p);
    smooth_inverse(s->shape[p], usual, inverse);
    smooth_gradient(v, inverse, grad_v);
    smooth_gradient(acc, inverse, grad_a);
    smooth_eos_at(par, smooth_density_of(par, h), a->u[row], x, &pressure, &speed);
    a->alpha_loc[row] = smooth_alpha_loc(par, grad_v, grad_a, h, speed);
}

/* The search of a batch of particles, at whose end all have the sums of their h or a fault. */
DEV_FN void smooth_search_rows(const struct smooth_density_args *a, struct smooth_density_shared *s,
                               struct dev_block *b, struct smooth_place *to,
                               const enum smooth_kernel k)
{
    while (s->busy) {
        PHASE (p, SMOOTH_ROWS) {
            if (s->found[p] == SMOOTH_SEARCHES && smooth_list_is_old(s->list_h[p], s->search[p].h))
                smooth_ask_list(s, k, p);
        }
        if (s->old) smooth_move(&a->tree, &s->sel, b, to, NULL, 0);
        smooth_measure(a, s, b, to, k, false);
        PHASE (p, SMOOTH_ROWS) {
            if (p == 0) s->old = false;
            if (s->found[p] == SMOOTH_SEARCHES) smooth_search_on(a, s, k, p);
        }
    }
    PHASE (p, SMOOTH_ROWS) {
        if (s->found[p] != SMOOTH_IDLE) smooth_search_end(a, s, k, p);
    }
    if (s->old) smooth_move(&a->tree, &s->sel, b, to, NULL, 0);
    smooth_measure(a, s, b, to, k, true);
}

DEV_FN void smooth_density_rows(const struct smooth_density_args *a,
                                struct smooth_density_shared *s, struct dev_block *b,
                                struct smooth_place *to, const enum smooth_kernel k)
{
    smooth_search_rows(a, s, b, to, k);
    PHASE (p, SMOOTH_ROWS) {
        double fill;
        if (s->found[p] != SMOOTH_IDLE)
            smooth_measured(a->par.eta, k, smooth_sum(s, 0, p), smooth_sum(s, 1, p), &fill,
                            &s->omega[p]);
    }
    if (a->par.alpha_switch == SMOOTH_CD10) {
        smooth_shape_pass(a, s, b, to, k);
        PHASE (i, 6 * SMOOTH_ROWS) {
            const int n = i / SMOOTH_ROWS, p = i % SMOOTH_ROWS;
            if (s->found[p] != SMOOTH_IDLE) s->shape[p][n] = smooth_sum(s, n, p);
        }
    }
    smooth_slope_pass(a, s, b, to, k, a->v);
    PHASE (i, 9 * SMOOTH_ROWS) {
        const int n = i / SMOOTH_ROWS, p = i % SMOOTH_ROWS;
        if (s->found[p] != SMOOTH_IDLE) s->v[p][n] = smooth_sum(s, n, p);
    }
    if (a->par.alpha_switch == SMOOTH_CD10) smooth_slope_pass(a, s, b, to, k, a->a);
    PHASE (p, SMOOTH_ROWS) {
        if (s->found[p] != SMOOTH_IDLE) smooth_conclude(a, s, k, p);
    }
}

DEV_FN void smooth_density_leaf(const struct smooth_density_args *a,
                                struct smooth_density_shared *s, struct dev_block *b,
                                struct smooth_place *to, const enum smooth_kernel k)
{
    const int32_t leaf = b->index, end = a->tree.first[leaf + 1];
    for (int32_t first = a->tree.first[leaf]; first < end; first += SMOOTH_ROWS) {
        PHASE (p, 1) {
            s->old = s->busy = false;
        }
        PHASE (p, SMOOTH_ROWS) {
            s->found[p] = SMOOTH_IDLE;
            s->list_h[p] = 0;
            if (smooth_row_begin(&a->tree, &s->sel, leaf, first, p))
                smooth_search_begin(a, s, k, p);
        }
        if (s->busy) smooth_density_rows(a, s, b, to, k);
    }
}

/* room: eight more than a multiple of 16, so that two particles use different banks; a third more
 * than the neighbours of a particle in a uniform medium. */
#define SMOOTH_DENSITY(name, kernel, room)                                                         \
    struct name##_shared_memory {                                                                  \
        struct smooth_density_shared all;                                                          \
        double r[SMOOTH_ROWS * (room)];                                                            \
        int32_t at[SMOOTH_ROWS * (room)];                                                          \
    };                                                                                             \
    KERNEL(name, struct smooth_density_args, struct name##_shared_memory, SMOOTH_THREADS)          \
    {                                                                                              \
        struct smooth_place to = {room, 0, s->at, s->r};                                           \
        smooth_density_leaf(a, &s->all, b, &to, kernel);                                           \
    }
SMOOTH_DENSITY(smooth_density_m4, SMOOTH_M4, 104)
SMOOTH_DENSITY(smooth_density_m6, SMOOTH_M6, 152)
