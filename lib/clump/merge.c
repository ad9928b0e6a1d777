/* clump/merge: merging of peaks.
 *
 * Both phases work in rounds on the graph whose nodes are peaks and whose edges are saddles. In a
 * round every peak that is due (phase one: density below the threshold times the density of its
 * highest saddle; phase two: highest saddle above the halo threshold) points to the peak on the
 * other side of that saddle, if that peak is higher. A chain of pointers ends at a peak that is not
 * merged, which absorbs the chain and its edges. Rounds repeat until no peak is merged. */
#include <stdlib.h>

#include "base/mem.h"
#include "clump/priv.h"

/* Target of a merged peak and its maximum density. */
struct link {
    okey to;
    double max;
};

typedef bool is_due(const struct finder *f, const struct peak *p, double saddle);

/* Ratio of peak density to saddle density; the threshold replaces a missing saddle. */
static double relevance(const struct finder *f, const struct peak *p, double saddle)
{
    return p->max / (saddle > 0 ? saddle : f->par->density);
}

static bool is_irrelevant(const struct finder *f, const struct peak *p, double saddle)
{
    return relevance(f, p, saddle) < f->par->relevance;
}

static bool is_in_halo(const struct finder *f, const struct peak *p, double saddle)
{
    return saddle > f->par->saddle;
}

/* The highest edge of own peak i, whose edges begin at *e; NULL if it has none. */
static const struct saddle *highest(const struct finder *f, int64_t i, int64_t *e)
{
    const struct saddle *best = NULL;
    for (; *e < f->nsaddle && f->saddle[*e].a == f->peak[i].label; ++*e) {
        const struct saddle *x = &f->saddle[*e];
        if (!best || x->v > best->v ||
            (x->v == best->v &&
             (x->bmost > best->bmost || (x->bmost == best->bmost && x->b < best->b))))
            best = x;
    }
    return best;
}

static bool is_higher(const struct saddle *e, const struct peak *p)
{
    return e->bmost > p->max || (e->bmost == p->max && e->b < p->label);
}

/* Sets the pointers of a round; returns the number of merged peaks. */
static int64_t point(struct finder *f, is_due *due, struct link *link)
{
    int64_t e = 0, n = 0;
    for (int64_t i = 0; i < f->npeak; i++) {
        struct peak *p = &f->peak[i];
        const struct saddle *best = highest(f, i, &e);
        link[i] = (struct link){p->label, p->max};
        if (!p->alive || !best || !due(f, p, best->v) || !is_higher(best, p)) continue;
        link[i] = (struct link){best->b, best->bmost};
        n++;
    }
    return n;
}

/* Replaces each link by the end of its chain, by pointer doubling. */
static void chase(const struct finder *f, struct link *link)
{
    for (int64_t moved = 1; moved > 0;) {
        struct share s;
        int64_t n = 0;
        okey *label = mem_new(sizeof *label * (size_t)f->npeak + 1, "clump merging");
        for (int64_t i = 0; i < f->npeak; i++)
            if (link[i].to != f->peak[i].label) label[n++] = link[i].to;
        share_make(&s, f, n, label);
        struct link *next = mem_new(sizeof *next * (size_t)s.n + 1, "clump merging");
        share_fetch(&s, f, sizeof *next, link, next);
        moved = 0;
        for (int64_t i = 0; i < f->npeak; i++) {
            if (link[i].to == f->peak[i].label) continue;
            struct link to = next[share_find(&s, link[i].to)];
            moved += to.to != link[i].to;
            link[i] = to;
        }
        comm_add_i64(f->c, &moved, 1);
        FREE(next);
        share_free(&s);
    }
}

/* Transfers the edges of merged peaks to the peaks that absorb them. */
static void contract(struct finder *f, const struct link *link)
{
    struct share s;
    okey *label = mem_new(sizeof *label * (size_t)f->nsaddle + 1, "clump merging");
    for (int64_t i = 0; i < f->nsaddle; i++) label[i] = f->saddle[i].b;
    share_make(&s, f, f->nsaddle, label);
    struct link *other = mem_new(sizeof *other * (size_t)s.n + 1, "clump merging");
    share_fetch(&s, f, sizeof *other, link, other);
    int64_t n = 0, at = 0;
    for (int64_t i = 0; i < f->nsaddle; i++) {
        struct saddle *e = &f->saddle[i];
        while (f->peak[at].label != e->a) at++;
        const struct link *b = &other[share_find(&s, e->b)];
        if (link[at].to != b->to)
            f->saddle[n++] = (struct saddle){link[at].to, b->to, e->v, b->max};
    }
    struct saddle *old = f->saddle;
    f->saddle = NULL;
    saddles_send(f, n, old);
    FREE(old);
    FREE(other);
    share_free(&s);
}

/* Runs all rounds of a phase; sets parent and level of merged peaks. */
static void merge(struct finder *f, is_due *due)
{
    struct link *link = mem_new(sizeof *link * (size_t)f->npeak + 1, "clump merging");
    for (int64_t i = 0; i < f->npeak; i++) f->peak[i].parent = f->peak[i].label;
    for (int round = 0;; round++) {
        int64_t n = point(f, due, link);
        comm_add_i64(f->c, &n, 1);
        if (n == 0) break;
        chase(f, link);
        contract(f, link);
        for (int64_t i = 0; i < f->npeak; i++) {
            struct peak *p = &f->peak[i];
            if (link[i].to == p->label) continue;
            p->alive = false;
            p->parent = link[i].to;
            p->level = round;
        }
    }
    FREE(link);
}

/* Finds the ends of the chains of parents over all rounds. */
static void find_roots(const struct finder *f, struct link *link)
{
    for (int64_t i = 0; i < f->npeak; i++)
        link[i] = (struct link){f->peak[i].parent, f->peak[i].max};
    chase(f, link);
}

static void relabel_cells(struct finder *f)
{
    struct share s;
    share_cells(&s, f);
    okey *own = mem_new(sizeof *own * (size_t)f->npeak + 1, "clump merging"),
         *to = mem_new(sizeof *to * (size_t)s.n + 1, "clump merging");
    for (int64_t i = 0; i < f->npeak; i++) own[i] = f->peak[i].clump;
    share_fetch(&s, f, sizeof *to, own, to);
    for (int64_t i = 0; i < f->ncell; i++) {
        struct spot at = f->cell[i].at;
        okey *k = &f->label[at.level][at.oct][at.cell];
        *k = to[share_find(&s, *k)];
    }
    FREE(own);
    FREE(to);
    share_free(&s);
    patch_ghosts(f);
}

void merge_irrelevant(struct finder *f)
{
    for (int64_t i = 0; i < f->npeak; i++) f->peak[i].alive = true;
    merge(f, is_irrelevant);
    struct link *link = mem_new(sizeof *link * (size_t)f->npeak + 1, "clump merging");
    find_roots(f, link);
    int64_t e = 0;
    for (int64_t i = 0; i < f->npeak; i++) {
        struct peak *p = &f->peak[i];
        const struct saddle *best = highest(f, i, &e);
        p->saddle = best ? best->v : 0;
        p->relevance = p->alive ? relevance(f, p, p->saddle) : 0;
        p->clump = link[i].to;
    }
    FREE(link);
    relabel_cells(f);
}

void merge_halos(struct finder *f)
{
    for (int64_t i = 0; i < f->npeak; i++) {
        struct peak *p = &f->peak[i];
        p->alive = p->relevance > f->par->relevance;
        p->level = 0;
        p->parent = p->halo = p->label;
    }
    if (!(f->par->saddle > 0)) return;
    merge(f, is_in_halo);
    struct link *link = mem_new(sizeof *link * (size_t)f->npeak + 1, "clump merging");
    find_roots(f, link);
    for (int64_t i = 0; i < f->npeak; i++) f->peak[i].halo = link[i].to;
    FREE(link);
}
