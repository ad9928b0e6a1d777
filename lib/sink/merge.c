/* sink/merge: see merge.h. Copies are used to find pairs. Sinks with a partner are few: all ranks
 * get them, and merge them pair by pair in the order of ids. */
#include "sink/merge.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

/* Properties of a sink that decide whether it merges with another. */
struct other {
    double m, x[3], v[3], birth;
};

static struct other other_of(const struct sink *a)
{
    return (struct other){.m = a->m,
                          .x = {a->x[0], a->x[1], a->x[2]},
                          .v = {a->v[0], a->v[1], a->v[2]},
                          .birth = a->birth};
}

static bool merges(const struct sink_merging *law, const struct other *a, const struct other *b,
                   double r2)
{
    double mass = a->m + b->m, v2 = 0;
    if (!(r2 < 4 * law->dx * law->dx)) return false;
    if (law->young > 0 && law->t - a->birth >= law->young && law->t - b->birth >= law->young)
        return false;
    if (!(law->checked > 0) || mass < law->checked) return true;
    for (int d = 0; d < 3; d++) v2 += (a->v[d] - b->v[d]) * (a->v[d] - b->v[d]);
    return 2 * law->G * mass / sqrt(r2) > v2;
}

/* Computes `near` of own sinks, and marks sinks that have a partner. After crossing a periodic face
 * a sink may be close to another image of its partner than the one here; since the nearest image is
 * computed, the first copy of each sink suffices. */
static void look_around(const struct mesh *m, const struct sink_merging *law, struct sinks *s,
                        const struct sink_copies *c, bool *pair)
{
    for (int64_t i = 0; i < s->n; i++) {
        struct sink *a = &s->at[i];
        struct other self = other_of(a);
        a->near = a->m;
        for (int64_t k = 0; k < c->here.n && a->m > 0; k++) {
            const struct event *e = &c->here.at[k];
            struct other b;
            double r[3], r2 = 0;
            if (e->id == a->id || (k > 0 && e->id == e[-1].id)) continue;
            memcpy(&b, sink_row(c, k), sizeof b);
            sink_between(m, a->x, b.x, r);
            for (int d = 0; d < 3; d++) r2 += r[d] * r[d];
            if (r2 < 4 * law->cloud * law->cloud) a->near += b.m;
            pair[i] |= merges(law, &self, &b, r2);
        }
    }
}

static enum err find_pairs(const struct sink_context *p, const struct sink_merging *law,
                           struct sinks *s, bool *pair)
{
    struct sink_copies c;
    struct other *row = mem_new(sizeof *row * (size_t)s->n + 1, "sinks");
    bool *alive = mem_new((size_t)s->n + 1, "sinks");
    for (int64_t i = 0; i < s->n; i++) {
        row[i] = other_of(&s->at[i]);
        alive[i] = s->at[i].m > 0;
        pair[i] = false;
    }
    /* a sink may have left its rank since the coarse step began */
    double reach = 2 * law->cloud + 3 * mesh_dx(p->mesh, p->mesh->levelmin);
    enum err err = sink_call(p, s, alive, fmin(reach, 0.5 * p->mesh->boxlen), sizeof *row, row, &c);
    if (err == OK) look_around(p->mesh, law, s, &c, pair);
    sink_copies_free(&c);
    FREE(alive);
    FREE(row);
    return err;
}

/* Merges b, at r from a, into a. */
static void join(struct sink *a, struct sink *b, const double r[3])
{
    double m = a->m + b->m, reduced = a->m * (b->m / m), w[3];
    for (int d = 0; d < 3; d++) w[d] = b->v[d] - a->v[d];
    for (int d = 0; d < 3; d++) {
        int e = (d + 1) % 3, f = (d + 2) % 3;
        a->l[d] += b->l[d] + reduced * (r[e] * w[f] - r[f] * w[e]);
    }
    for (int d = 0; d < 3; d++) {
        a->x[d] += b->m / m * r[d];
        a->v[d] = (a->m * a->v[d] + b->m * b->v[d]) / m;
    }
    a->m = m;
    a->hole += b->hole;
    a->dmf += b->dmf;
    a->accreted += b->accreted;
    a->made += b->made;
    a->birth = fmin(a->birth, b->birth);
    b->m = b->hole = b->dmf = b->accreted = b->near = 0;
    b->into = a->id;
}

static int64_t join_all(const struct mesh *m, const struct sink_merging *law, struct sink *at,
                        int64_t n)
{
    int64_t merged = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = i + 1; k < n && at[i].m > 0; k++) {
            double r[3], r2 = 0;
            if (!(at[k].m > 0)) continue;
            struct other a = other_of(&at[i]), b = other_of(&at[k]);
            sink_between(m, at[i].x, at[k].x, r);
            for (int d = 0; d < 3; d++) r2 += r[d] * r[d];
            if (!merges(law, &a, &b, r2)) continue;
            join(&at[i], &at[k], r);
            sink_wrap(m, at[i].x);
            merged++;
        }
    return merged;
}

enum err sinks_merge(const struct sink_context *p, const struct sink_merging *law, struct sinks *s,
                     int64_t *merged)
{
    int64_t all = 0;
    *merged = 0;
    bool *pair = mem_new((size_t)s->n + 1, "sinks");
    enum err err = find_pairs(p, law, s, pair);
    struct sink *at = err == OK ? sinks_share(s, pair, p->comm, &all) : NULL;
    if (at) {
        *merged = join_all(p->mesh, law, at, all);
        sinks_return(s, pair, at, all);
        FREE(at);
    }
    if (err == OK && *merged) err = find_pairs(p, law, s, pair);
    FREE(pair);
    return err;
}
