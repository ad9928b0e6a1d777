/* smooth/select: the neighbours of a particle, on the CPU: candidates for all particles of a leaf,
 * from which lists are made by distance. Private header of the module. */
#pragma once
#define VEC_REGISTER /* must precede vec/vec.h */
#include "smooth/pair_kern.h"
#include "smooth/smooth.h"

/* The points of all leaves near a leaf, in the order of the tree, and points at infinity up to a
 * multiple of SMOOTH_PARTS. */
struct smooth_crowd {
    const struct near *near; /* lent */
    const double *reach2; /* lent; squared radius of each point in the order of the tree, or NULL:
                                neighbours are within that of the particle alone */
    int64_t leaf, n, room;
    double radius;
    bool wraps;        /* some may be nearer across a boundary */
    double *x[3], *r2; /* r2: reach2, if there is one */
    int64_t *at;       /* position in the order of the tree */
    struct near_list list;
};

/* at[n], and `at` repeats the last one up to a multiple of SMOOTH_PARTS. */
struct smooth_list {
    int64_t n, room;
    int64_t padded; /* n, up to a multiple of SMOOTH_PARTS */
    int64_t *at;
    double *d[3], *r; /* of smooth_list_far; beyond n, r is `beyond` */
};

void smooth_crowd_gather(struct smooth_crowd *c, int64_t leaf, double radius);
void smooth_crowd_free(struct smooth_crowd *c);

/* The candidates nearer than the root of limit2, or of reach2 if this is larger, to the point
 * `self` of the order of the tree; alone: without itself. */
void smooth_list_make(struct smooth_crowd *c, int64_t self, double limit2, bool alone,
                      struct smooth_list *l);
/* Sets d and r. */
void smooth_list_far(const struct smooth_crowd *c, int64_t self, double beyond,
                     struct smooth_list *l);
void smooth_list_free(struct smooth_list *l);

VEC_INLINE vec smooth_take(const double *p, const int64_t *at)
{
#if defined(__AVX512F__)
    return (vec){p[at[0]], p[at[1]], p[at[2]], p[at[3]], p[at[4]], p[at[5]], p[at[6]], p[at[7]]};
#elif defined(__AVX__)
    return (vec){p[at[0]], p[at[1]], p[at[2]], p[at[3]]};
#else
    return (vec){p[at[0]], p[at[1]]};
#endif
}

/* x_a − x_b of eight points */
VEC_INLINE void smooth_apart(const struct smooth_crowd *c, int64_t self, const int64_t *at,
                             vec d[3])
{
    const struct near *t = c->near;
    d[0] = t->x[0][self] - smooth_take(t->x[0], at);
    d[1] = t->x[1][self] - smooth_take(t->x[1], at);
    d[2] = t->x[2][self] - smooth_take(t->x[2], at);
    if (!c->wraps) return;
    if (t->frame.period[0] > 0) d[0] = smooth_nearest(d[0], t->frame.period[0]);
    if (t->frame.period[1] > 0) d[1] = smooth_nearest(d[1], t->frame.period[1]);
    if (t->frame.period[2] > 0) d[2] = smooth_nearest(d[2], t->frame.period[2]);
}

/* Arrays of the columns in the order of the tree: to[i] = from[order[i]]. */
double *smooth_sorted(const struct near *t, const double *from);
/* Whether a leaf has points below n, the own ones. */
bool smooth_leaf_owned(const struct near *t, int64_t leaf, int64_t n);
