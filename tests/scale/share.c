/* See share.h. */
#include "share.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int32_t *share_owners(const struct box *f, const struct domain *d)
{
    int32_t *owner = mem_new(sizeof *owner * (size_t)f->n + 1, "owners");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->n; i++) owner[i] = domain_rank(d, f->level[i], f->key[i]);
    return owner;
}

static struct range range_of(const double *x, int64_t n)
{
    struct range r = {.min = n ? x[0] : 0, .max = n ? x[0] : 0};
    for (int64_t i = 0; i < n; i++) {
        r.min = fmin(r.min, x[i]);
        r.max = fmax(r.max, x[i]);
        r.mean += x[i] / (double)n;
    }
    return r;
}

/* ---- loads ---- */

static void measure_loads(const struct box *f, const int32_t *owner, struct share *s)
{
    size_t n = (size_t)s->nrank;
    double *cost = mem_zero(sizeof *cost * 4 * n, "loads"), *octs = cost + n, *parts = octs + n,
           *work = parts + n;
    for (int64_t i = 0; i < f->n; i++) {
        cost[owner[i]] += f->cost[i];
        s->cost_all += f->cost[i];
        octs[owner[i]] += f->level[i] >= f->levelmin;
        if (f->level[i] >= f->levelmin) work[owner[i]] += f->steps[f->level[i]];
        if (f->part) parts[owner[i]] += f->part[i];
    }
    for (size_t r = 0; r < n; r++) {
        cost[r] *= s->nrank / s->cost_all;
        s->empty += octs[r] == 0;
    }
    s->cost = range_of(cost, s->nrank);
    s->octs = range_of(octs, s->nrank);
    s->parts = range_of(parts, s->nrank);
    s->work = range_of(work, s->nrank);
    FREE(cost);
}

/* ---- partners of sampled ranks ---- */

/* Octs by owner, for the sampled ranks: rank pick[k] has oct[first[k]] … oct[first[k+1]-1], in the
 * order of the field. */
struct picks {
    int n, *pick;
    int64_t *first, *oct;
};

static void picks_make(const struct box *f, const int32_t *owner, int nrank, int sample,
                       struct picks *p)
{
    int32_t *slot = mem_new(sizeof *slot * (size_t)nrank, "picks");
    p->n = nrank < sample ? nrank : sample;
    p->pick = mem_new(sizeof *p->pick * (size_t)p->n, "picks");
    p->first = mem_zero(sizeof *p->first * (size_t)(p->n + 2), "picks");
    for (int r = 0; r < nrank; r++) slot[r] = -1;
    for (int k = 0; k < p->n; k++) {
        p->pick[k] = (int)((int64_t)k * nrank / p->n);
        slot[p->pick[k]] = k;
    }
    for (int64_t i = 0; i < f->n; i++)
        if (slot[owner[i]] >= 0) p->first[slot[owner[i]] + 2]++;
    for (int k = 0; k < p->n; k++) p->first[k + 2] += p->first[k + 1];
    p->oct = mem_new(sizeof *p->oct * (size_t)p->first[p->n + 1] + 1, "picks");
    for (int64_t i = 0; i < f->n; i++)
        if (slot[owner[i]] >= 0) p->oct[p->first[slot[owner[i]] + 1]++] = i;
    FREE(slot);
}

static void picks_free(struct picks *p)
{
    FREE(p->pick);
    FREE(p->first);
    FREE(p->oct);
}

int share_hops(const struct tree *t, int from, int to)
{
    struct group g = {0, t->size};
    int hops = 0;
    for (int l = 0; l < t->nlev && from != to; l++) {
        int k = t->factor[l], a = group_slot(g, k, from), b = group_slot(g, k, to);
        struct group mine = group_child(g, k, a), other = group_child(g, k, b);
        if (a != b) {
            from = tree_partner(mine, other, from);
            hops++;
        }
        g = other;
    }
    return hops;
}

/* Largest cost of the octs of a rank in one plane (which a cut along an axis cannot divide) or, for
 * a curve, of one oct; min over the axes. */
static double grain_of(const struct box *f, const int64_t *oct, int64_t n, bool curve);

/* Buffers with which a thread finds the partners of a rank. */
struct lookup {
    int *near;                      /* [nrank] result of domain_near */
    int64_t *level_octs, *all_octs; /* [nrank] octs sent to each rank, zero between uses */
    int *level_rank, *all_rank;     /* ranks that receive octs */
    int nlevel, nall;
};

static void lookup_init(struct lookup *u, int nrank)
{
    size_t n = (size_t)nrank;
    u->near = mem_new(sizeof *u->near * 3 * n, "lookup");
    u->level_rank = u->near + n, u->all_rank = u->level_rank + n;
    u->level_octs = mem_zero(sizeof *u->level_octs * 2 * n, "lookup");
    u->all_octs = u->level_octs + n;
    u->nlevel = u->nall = 0;
}

static void lookup_level_end(struct lookup *u)
{
    for (int j = 0; j < u->nlevel; j++) {
        int r = u->level_rank[j];
        if (!u->all_octs[r]) u->all_rank[u->nall++] = r;
        u->all_octs[r] += u->level_octs[r];
        u->level_octs[r] = 0;
    }
    u->nlevel = 0;
}

struct sampled { /* [n] results for each sampled rank */
    double *partners, *p2p, *ghosts, *walk, *grain, *step_msgs, *step_ghosts;
};

static void look_up(const struct box *f, const struct domain *d, const struct tree *t, int rank,
                    const int64_t *oct, int64_t n, struct lookup *u, const struct sampled *out,
                    int k)
{
    for (int64_t i = 0; i < n; i++) {
        int level = f->level[oct[i]];
        if (level >= f->levelmin) {
            int near = domain_near(d, rank, level, f->key[oct[i]], u->near);
            for (int j = 0; j < near; j++)
                if (!u->level_octs[u->near[j]]++) u->level_rank[u->nlevel++] = u->near[j];
        }
        if (i + 1 == n || f->level[oct[i + 1]] != level) {
            out->p2p[k] += u->nlevel;
            out->step_msgs[k] += u->nlevel * f->steps[level];
            for (int j = 0; j < u->nlevel; j++)
                out->step_ghosts[k] += (double)u->level_octs[u->level_rank[j]] * f->steps[level];
            lookup_level_end(u);
        }
    }
    out->partners[k] = u->nall;
    for (int j = 0; j < u->nall; j++) {
        int to = u->all_rank[j];
        out->ghosts[k] += (double)u->all_octs[to];
        out->walk[k] += (double)u->all_octs[to] * share_hops(t, rank, to);
        u->all_octs[to] = 0;
    }
    u->nall = 0;
}

static void measure_partners(const struct box *f, const struct domain *d, const struct picks *p,
                             struct share *s)
{
    enum { EACH = 7 };
    struct tree t;
    size_t n = (size_t)p->n;
    double *block = mem_zero(sizeof *block * EACH * n, "picks");
    struct sampled out = {block,         block + n,     block + 2 * n, block + 3 * n,
                          block + 4 * n, block + 5 * n, block + 6 * n};
    bool curve = domain_kind(d) == DOMAIN_HILBERT;
    tree_init(&t, s->nrank);
#pragma omp parallel
    {
        struct lookup u;
        lookup_init(&u, s->nrank);
#pragma omp for schedule(dynamic, 1)
        for (int k = 0; k < p->n; k++) {
            const int64_t *oct = p->oct + p->first[k];
            int64_t mine = p->first[k + 1] - p->first[k];
            look_up(f, d, &t, p->pick[k], oct, mine, &u, &out, k);
            out.grain[k] = grain_of(f, oct, mine, curve);
        }
        FREE(u.near);
        FREE(u.level_octs);
    }
    s->partners = range_of(out.partners, p->n);
    s->p2p = range_of(out.p2p, p->n);
    s->ghosts = range_of(out.ghosts, p->n);
    for (size_t k = 0; k < n; k++) out.walk[k] *= 64;
    s->walk_bytes = range_of(out.walk, p->n);
    for (size_t k = 0; k < n; k++) out.ghosts[k] *= 64;
    s->bytes = range_of(out.ghosts, p->n);
    s->step_msgs = range_of(out.step_msgs, p->n);
    s->step_ghosts = range_of(out.step_ghosts, p->n);
    s->grain = range_of(out.grain, p->n).max;
    FREE(block);
}

/* ---- costs that a cut cannot divide ---- */

struct plane {
    int64_t at;
    double cost;
};

static int plane_order(const void *a, const void *b)
{
    const struct plane *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static double grain_of(const struct box *f, const int64_t *oct, int64_t n, bool curve)
{
    double min = 0;
    if (n == 0) return 0;
    if (curve) {
        for (int64_t i = 0; i < n; i++) min = fmax(min, f->cost[oct[i]]);
        return min;
    }
    struct plane *p = mem_new(sizeof *p * (size_t)n, "planes");
    for (int axis = 0; axis < 3; axis++) {
        double max = 0, sum = 0;
        for (int64_t i = 0; i < n; i++) {
            int64_t x[3];
            okey_coords(f->key[oct[i]], x);
            /* centre in units of half the finest oct */
            p[i].at = (2 * x[axis] + 1) << (f->levelmax - f->level[oct[i]]);
            p[i].cost = f->cost[oct[i]];
        }
        qsort(p, (size_t)n, sizeof *p, plane_order);
        for (int64_t i = 0; i < n; i++) {
            sum = i && p[i].at == p[i - 1].at ? sum + p[i].cost : p[i].cost;
            max = fmax(max, sum);
        }
        min = axis == 0 ? max : fmin(min, max);
    }
    FREE(p);
    return min;
}

void share_measure(const struct box *f, const struct domain *d, const int32_t *owner, int sample,
                   struct share *s)
{
    struct picks p = {0};
    struct tree t;
    *s = (struct share){.nrank = domain_nrank(d)};
    measure_loads(f, owner, s);
    picks_make(f, owner, s->nrank, sample, &p);
    s->sampled = p.n;
    measure_partners(f, d, &p, s);
    picks_free(&p);
    s->grain *= s->nrank / s->cost_all;

    tree_init(&t, s->nrank);
    double *msgs = mem_new(sizeof *msgs * (size_t)s->nrank, "loads");
    for (int r = 0; r < s->nrank; r++) msgs[r] = tree_messages(&t, r);
    s->walk_msgs = range_of(msgs, s->nrank);
    FREE(msgs);
    int *near = mem_new(sizeof *near * (size_t)s->nrank, "lookup");
    s->root_partners = domain_near(d, owner[0], 1, 0, near);
    FREE(near);
    for (int64_t i = 0; i < f->n; i++)
        s->levels += f->level[i] >= f->levelmin && (i == 0 || f->level[i] != f->level[i - 1]);
}
