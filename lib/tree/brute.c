/* tree/brute: all pairs: fastest for few points, and the reference for the other methods. */
#include "tree/tree_priv.h"

void brute_near(const struct tree *t, const double x[3], double radius, tree_visit *v, void *ctx)
{
    double r2 = radius * radius;
    for (int64_t i = 0; i < t->p.n; i++) {
        double far2 = tree_point_distance2(&t->space, t->p.x, i, x);
        if (far2 <= r2) v((int32_t)i, far2, ctx);
    }
}

void brute_lists(const struct tree_search *s)
{
    const struct tree *t = s->t;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < t->p.n; i++)
        for (int64_t j = 0; j < t->p.n; j++)
            if (j != i && tree_pair2(&t->space, t->p.x, i, j) <= tree_link2(t, s->radius, i, j))
                tree_search_put(s, i, j);
}

void brute_groups(const struct tree *t, double link, int32_t *up)
{
    const struct tree_space s = t->space;
    const double r2 = link * link, *x = t->p.x[0], *y = t->p.x[1], *z = t->p.x[2];
    const int32_t n = (int32_t)t->p.n;
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t i = 0; i < n; i++) {
        const double at[3] = {x[i], y[i], z[i]};
        for (int32_t j = i + 1; j < n; j++) {
            double dx = tree_apart(at[0], x[j], s.period[0]);
            double dy = tree_apart(at[1], y[j], s.period[1]);
            double dz = tree_apart(at[2], z[j], s.period[2]);
            if (dx * dx + dy * dy + dz * dz <= r2) unite(up, i, j);
        }
    }
}
