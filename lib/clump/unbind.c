/* clump/unbind: unbinding of particles from clumps.
 *
 * A sub-clump has the particles of its cells and of its own sub-clumps. A particle is unbound if
 * its kinetic energy relative to the clump plus its potential in the clump's mass profile exceeds
 * the potential at the nearest border with another clump (or at infinity); an unbound particle
 * passes to the parent. The clump velocity is the mean velocity of its bound particles, iterated
 * until converged. Clumps are treated in the order of their merging rounds, so that particles
 * leaving a sub-clump are tested in its parent. The main clump of a halo keeps all particles. */
#include <string.h>

#include "base/mem.h"
#include "clump/heaps.h"

/* Row of the clump of this level that contains particle i initially; −1 if none. */
static int32_t at_level(const struct heaps *b, int64_t i, int level)
{
    int32_t k = b->first[i];
    while (k >= 0 && (b->at[k].main || b->at[k].level < level)) k = heap_above(b, k);
    return k >= 0 && b->at[k].level == level ? k : -1;
}

static int32_t main_of(const struct heaps *b, int64_t i)
{
    int32_t k = b->first[i];
    while (k >= 0 && !b->at[k].main) k = b->at[k].parent;
    return k;
}

/* ---- mass and velocity ---- */

struct heap {
    fixed mass, momentum[3];
    int64_t n;
};

static void heap_add(struct heap *h, const struct heaps *b, const struct finder *f, int64_t i)
{
    h->n++;
    h->mass += fixed_of(b->mass_scale, f->p->m[i]);
    for (int d = 0; d < 3; d++)
        h->momentum[d] += fixed_of(b->momentum_scale, f->p->m[i] * f->p->v[d][i]);
}

/* Adds up the sums of all ranks, own[npeak]; mine[] receives copies of the totals. (collective) */
static struct heap *heaps_join(struct heaps *b, const struct finder *f, struct heap *mine)
{
    struct heap *in = share_give(&b->s, f, sizeof *in, mine),
                *own = mem_zero(sizeof *own * (size_t)f->npeak + 1, "unbinding");
    for (int64_t k = 0; k < b->s.nin; k++) {
        struct heap *o = &own[b->s.at[k]];
        o->n += in[k].n;
        o->mass += in[k].mass;
        for (int d = 0; d < 3; d++) o->momentum[d] += in[k].momentum[d];
    }
    FREE(in);
    share_fetch(&b->s, f, sizeof *own, own, mine);
    return own;
}

/* Measures the clumps whose velocity has not converged. */
static void measure(struct heaps *b, const struct finder *f, int level, bool first)
{
    struct heap *mine = mem_zero(sizeof *mine * (size_t)b->s.n + 1, "unbinding");
    for (int64_t i = 0; i < b->n; i++) {
        int32_t k = at_level(b, i, level), top = level == 0 && first ? main_of(b, i) : -1;
        if (top >= 0) heap_add(&mine[top], b, f, i);
        if (k < 0 || !b->at[k].moving || b->at[k].gone) continue;
        if (b->counts[i]) heap_add(&mine[k], b, f, i);
        b->counts[i] = true;
    }
    struct heap *own = heaps_join(b, f, mine);
    for (int64_t k = 0; k < b->s.n; k++) {
        struct clump_heap *x = &b->at[k];
        if (!x->moving || x->gone) continue;
        x->v2_old = x->v[0] * x->v[0] + x->v[1] * x->v[1] + x->v[2] * x->v[2];
        x->mass = fixed_get(b->mass_scale, mine[k].mass);
        for (int d = 0; d < 3; d++)
            x->v[d] = x->mass > 0 ? fixed_get(b->momentum_scale, mine[k].momentum[d]) / x->mass : 0;
    }
    FREE(own);
    FREE(mine);
}

/* Whether any velocity still changes; converged clumps are excluded from further iterations. */
static bool still_moving(struct heaps *b, const struct finder *f)
{
    int64_t any = 0;
    for (int64_t k = 0; k < b->s.n; k++) {
        struct clump_heap *x = &b->at[k];
        double v2 = x->v[0] * x->v[0] + x->v[1] * x->v[1] + x->v[2] * x->v[2];
        if (!x->moving || x->main || x->gone || !(x->mass > 0)) continue;
        if (fabs(sqrt(x->v2_old / v2) - 1) < f->par->unbind.converged)
            x->moving = false;
        else
            any = 1;
    }
    comm_max_i64(f->c, &any, 1);
    return any;
}

/* ---- bound particles ---- */

/* Upper limit of the energy of a bound particle. */
static double limit_of(const struct heaps *b, const struct finder *f, int32_t k)
{
    double border = sqrt(b->at[k].border);
    if (!f->par->unbind.saddle_pot || !(border <= b->at[k].radius)) return 0;
    return heap_potential(b, f, k, border);
}

/* Runs one iteration: excludes unbound particles from the clump velocity. */
static void mark_unbound(struct heaps *b, const struct finder *f, int level, const double *limit)
{
    for (int64_t k = 0; k < b->s.n; k++)
        if (b->at[k].moving) b->at[k].some = false;
    for (int64_t i = 0; i < b->n; i++) {
        int32_t k = at_level(b, i, level);
        if (k < 0 || !b->at[k].moving || b->at[k].gone || !(b->at[k].mass > 0)) continue;
        b->counts[i] = b->now[i] == k && !(heap_energy(b, f, k, i) >= limit[k]);
        b->at[k].some |= b->counts[i];
    }
    double *some = mem_new(sizeof *some * (size_t)b->s.n + 1, "unbinding");
    for (int64_t k = 0; k < b->s.n; k++) some[k] = b->at[k].some;
    heaps_join_rows(b, f, some, true);
    for (int64_t k = 0; k < b->s.n; k++) {
        b->at[k].some = some[k] > 0;
        if (!b->at[k].some || b->at[k].main) b->at[k].moving = false;
    }
    FREE(some);
}

/* Last iteration: passes unbound particles to the parent. */
static void pass_on(struct heaps *b, const struct finder *f, int level, const double *limit)
{
    for (int64_t i = 0; i < b->n; i++) {
        int32_t k = at_level(b, i, level);
        if (k < 0 || b->at[k].gone || !(b->at[k].mass > 0) || b->now[i] != k) continue;
        f->out->candidates++;
        if (!(heap_energy(b, f, k, i) >= limit[k])) continue;
        f->out->unbound++;
        b->now[i] = b->at[k].parent;
    }
}

/* ---- clumps that are too small ---- */

static bool is_small(const struct finder *f, double mass)
{
    return mass > 0 && mass < f->par->mass * f->par->min_mass;
}

/* Dissolves clumps that are too small. Their particles go to the parent; particles of a halo that
 * is too small belong to no clump. */
static void dissolve(struct heaps *b, const struct finder *f, int level)
{
    for (int64_t k = 0; k < b->s.n; k++) {
        struct clump_heap *x = &b->at[k];
        if (x->gone || (x->main ? level > 0 : x->level != level) || !is_small(f, x->mass)) continue;
        x->gone = true;
        x->mass = 0;
    }
    for (int64_t i = 0; i < b->n; i++) {
        int32_t k = at_level(b, i, level), top = level == 0 ? main_of(b, i) : -1;
        if (k >= 0 && b->at[k].gone && b->now[i] == k) b->now[i] = b->at[k].parent;
        if (top >= 0 && b->at[top].gone) b->now[i] = -1;
    }
}

/* Dissolves sub-clumps of this level that have too few bound particles into their parents. */
static void dissolve_unbound(struct heaps *b, const struct finder *f, int level)
{
    struct heap *mine = mem_zero(sizeof *mine * (size_t)b->s.n + 1, "unbinding");
    for (int64_t i = 0; i < b->n; i++) {
        int32_t k = b->now[i];
        if (k >= 0 && !b->at[k].main && b->at[k].level == level) heap_add(&mine[k], b, f, i);
    }
    struct heap *own = heaps_join(b, f, mine);
    for (int64_t k = 0; k < b->s.n; k++) {
        struct clump_heap *x = &b->at[k];
        if (x->gone || x->main || x->level != level) continue;
        if (!is_small(f, fixed_get(b->mass_scale, mine[k].mass))) continue;
        x->gone = true;
        x->mass = 0;
    }
    for (int64_t i = 0; i < b->n; i++) {
        int32_t k = b->now[i];
        if (k >= 0 && b->at[k].gone && b->at[k].level == level && !b->at[k].main)
            b->now[i] = b->at[k].parent;
    }
    FREE(own);
    FREE(mine);
}

/* Computes final bound masses and numbers; dissolves halos with too little own mass. */
static void settle(struct heaps *b, struct finder *f)
{
    struct heap *mine = mem_zero(sizeof *mine * (size_t)b->s.n + 1, "unbinding");
    for (int64_t i = 0; i < b->n; i++)
        if (b->now[i] >= 0) heap_add(&mine[b->now[i]], b, f, i);
    struct heap *own = heaps_join(b, f, mine);
    for (int64_t k = 0; k < b->s.nin; k++) {
        struct peak *p = &f->peak[b->s.at[k]];
        const struct heap *h = &own[b->s.at[k]];
        double mass = fixed_get(b->mass_scale, h->mass);
        bool small = p->parent == p->label && is_small(f, mass);
        p->c.bound_mass = small ? 0 : mass;
        p->c.nbound = small ? 0 : h->n;
    }
    for (int64_t i = 0; i < b->n; i++) {
        int32_t k = b->now[i];
        if (k >= 0 && b->at[k].main && is_small(f, fixed_get(b->mass_scale, mine[k].mass)))
            b->now[i] = -1;
    }
    FREE(own);
    FREE(mine);
}

static void send_owners(struct heaps *b, struct finder *f)
{
    struct clump_heap *in = share_give(&b->s, f, sizeof *in, b->at);
    for (int64_t k = 0; k < b->s.nin; k++) {
        struct clump *c = &f->peak[b->s.at[k]].c;
        c->part_mass = in[k].mass;
        memcpy(c->part_v, in[k].v, sizeof c->part_v);
    }
    FREE(in);
    comm_add_i64(f->c, &f->out->unbound, 1);
    comm_add_i64(f->c, &f->out->candidates, 1);
}

/* ---- levels ---- */

static void unbind_level(struct heaps *b, const struct finder *f, int level, const double *limit)
{
    const struct clump_unbind *u = &f->par->unbind;
    for (int64_t k = 0; k < b->s.n; k++)
        b->at[k].moving = b->at[k].main ? level == 0 : b->at[k].level == level;
    for (int round = 1;; round++) {
        measure(b, f, level, round == 1);
        if (round == 1) dissolve(b, f, level);
        bool again = u->iterate && (round == 1 || still_moving(b, f));
        if (!again || round == u->max) break;
        mark_unbound(b, f, level, limit);
    }
    pass_on(b, f, level, limit);
    if (u->trees) dissolve_unbound(b, f, level);
}

void unbind(struct finder *f)
{
    struct heaps b;
    int64_t last = 0;
    heaps_make(&b, f);
    double *limit = mem_new(sizeof *limit * (size_t)b.s.n + 1, "unbinding");
    for (int64_t k = 0; k < b.s.n; k++) {
        limit[k] = limit_of(&b, f, (int32_t)k);
        if (!b.at[k].main && b.at[k].level > last) last = b.at[k].level;
    }
    comm_max_i64(f->c, &last, 1);
    for (int level = 0; level <= last; level++) unbind_level(&b, f, level, limit);
    settle(&b, f);
    if (f->par->unbind.members) heaps_list(&b, f);
    send_owners(&b, f);
    FREE(limit);
    heaps_free(&b);
}
