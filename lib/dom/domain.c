/* dom/domain: the public functions of a decomposition; see domain.h. The two kinds are in
 * ksection.c and hilbert.c, the search for cut planes of equal cost in balance.c. */
#include "dom/domain_priv.h"

#include <string.h>

#include "base/mem.h"

struct domain *domain_new(enum domain_kind kind, int nrank, int levelmax, const bool bounded[6])
{
    return domain_new_in(3, kind, nrank, levelmax, bounded);
}

struct domain *domain_new_in(int ndim, enum domain_kind kind, int nrank, int levelmax,
                             const bool bounded[6])
{
    struct domain *d = domain_alloc(kind, ndim, nrank, levelmax, bounded);
    if (kind == DOMAIN_KSECTION) {
        ksection_uniform(d);
    } else {
        hilbert_uniform(d);
        hilbert_finish(d);
    }
    return d;
}

struct domain *domain_new_of(const struct mesh *m, enum domain_kind kind, int nrank)
{
    struct domain *d = domain_new_in(m->ndim, kind, nrank, m->levelmax, m->bounded);
    if (m->magnetic) domain_set_margin(d, DOMAIN_MARGIN);
    return d;
}

struct domain *domain_alloc(enum domain_kind kind, int ndim, int nrank, int levelmax,
                            const bool bounded[6])
{
    BUG_ON(nrank < 1 || levelmax < 1 || levelmax > LEVEL_MAX || ndim < 1 || ndim > 3);
    struct domain *d = mem_zero(sizeof *d, "domain");
    d->kind = kind;
    d->nrank = nrank;
    d->ndim = ndim;
    d->levelmax = levelmax;
    d->margin = 1;
    d->extent = (int64_t)1 << (levelmax + 1);
    memcpy(d->bounded, bounded, sizeof d->bounded);
    /* Octs have no neighbours along unused axes. */
    for (int a = 0; a < 3; a++) d->periodic[a] = a < ndim && !bounded[2 * a] && !bounded[2 * a + 1];
    if (kind == DOMAIN_KSECTION)
        ksection_plan(d);
    else
        hilbert_plan(d);
    return d;
}

void domain_free(struct domain *d)
{
    if (!d) return;
    ksection_fini(d);
    hilbert_fini(d);
    mem_free(d);
}

void domain_set_margin(struct domain *d, int octs)
{
    BUG_ON(octs < 1 || octs > DOMAIN_MARGIN);
    d->margin = octs;
}

enum domain_kind domain_kind(const struct domain *d)
{
    return d->kind;
}

int domain_nrank(const struct domain *d)
{
    return d->nrank;
}

int domain_rank(const struct domain *d, int level, okey key)
{
    if (d->nrank == 1) return 0;
    return d->kind == DOMAIN_KSECTION ? ksection_rank(d, level, key) : hilbert_rank(d, level, key);
}

int domain_whole(const struct domain *d, int level, okey key)
{
    if (d->nrank == 1) return 0;
    if (d->kind == DOMAIN_KSECTION) return ksection_whole(d, level, key);
    int r = domain_rank(d, level, key);
    return hilbert_whole(d, r, level, key) ? r : -1;
}

void domain_cell_ranks(const struct domain *d, int level, okey key, int rank[8])
{
    int whole = domain_whole(d, level, key);
    for (int c = 0; c < 8; c++)
        rank[c] = whole >= 0 ? whole : domain_rank(d, level + 1, key << 3 | (okey)c);
}

int domain_near(const struct domain *d, int me, int level, okey key, int *rank)
{
    if (d->nrank == 1) return 0;
    return d->kind == DOMAIN_KSECTION ? ksection_near(d, me, level, key, rank)
                                      : hilbert_near(d, me, level, key, rank);
}

void domain_row_begin(struct domain_row *w, const struct domain *d)
{
    *w = (struct domain_row){.d = d, .level = -1};
    w->near = mem_new(sizeof *w->near * (size_t)d->nrank, "domain ranks");
}

void domain_row_end(struct domain_row *w)
{
    FREE(w->near);
}

int domain_row_near(struct domain_row *w, int level, okey key, int *n)
{
    if (w->level != level - 1 || w->parent != key >> 3) {
        w->level = level - 1;
        w->parent = key >> 3;
        w->only = level > 1 ? domain_rank(w->d, level - 1, key >> 3) : -1;
        if (level > 1 && domain_near(w->d, w->only, level - 1, key >> 3, w->near) > 0) w->only = -1;
    }
    *n = 0;
    if (w->only >= 0) return w->only;
    int rank = domain_rank(w->d, level, key);
    *n = domain_near(w->d, rank, level, key, w->near);
    return rank;
}

void rank_list_add(struct rank_list *s, int rank)
{
    MEM_ROOM(s->rank, s->n, s->cap, 16, "domain ranks");
    s->rank[s->n++] = rank;
}

void domain_ball(const struct domain *d, const double x[3], double radius, double margin,
                 struct rank_list *ranks)
{
    double units = (double)d->extent;
    struct domain_ball b = {
        .d = d, .radius = radius * units, .margin = margin * units, .ranks = ranks};
    for (int a = 0; a < 3; a++) b.x[a] = x[a] * units;
    ranks->n = 0;
    if (d->kind == DOMAIN_KSECTION)
        ksection_ball(&b);
    else
        hilbert_ball(&b);
}

void domain_bound_keys(const struct domain *d, double *bound)
{
    BUG_ON(d->kind != DOMAIN_HILBERT);
    for (int r = 0; r <= d->nrank; r++) bound[r] = (double)d->hilb.bound[r];
}
