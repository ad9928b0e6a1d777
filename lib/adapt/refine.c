/* adapt/refine: refinement of a level by its flags. Every rank that has a new oct, as its own or as
 * a ghost, computes its values: it interpolates from the parent cell and the six cells around it,
 * which it has (docs/decisions/0002-geometric-ghosts.md), by equal operations on equal values. So a
 * refinement sends no new octs, only ghosts of the coarser level that are stale: with gravity those
 * of the density. Where this does not suffice, in a magnetic field, which reads octs beside the new
 * one, or with fields on devices, the owner of the parent cell computes the new oct and sends its
 * values to the oct's owner, and owners then send all ghosts. */
#include <string.h>

#include "adapt/adapt.h"
#include "adapt/created.h"
#include "adapt/level.h"
#include "base/mem.h"
#include "dom/ghost.h"
#include "oct/field_sets.h"

/* New octs, by key; an oct of another rank is sent as a record of a key and nfld*8 doubles. */
struct created {
    const struct adapt_values *values;
    struct mesh_moves *moves; /* those of values->dev, if there is one */
    int nfld, fld[FIELD_ALL];
    bool everywhere;               /* each rank computes its octs and ghosts; nothing is sent */
    int64_t n, nnew, nhere;        /* made by this rank; own ones after the change; both */
    struct created_cell *location; /* [n] */
    size_t row;                    /* bytes */
    struct comm_counts to;         /* records for each rank */
    char *data;
    /* values of octs that this rank both computes and owns, nfld of each, if they depend on octs of
     * their own level: as it was before any is created or removed; else NULL */
    double (*early)[8];
};

static bool here(const struct created *b, int f)
{
    return adapt_dev_here(b->values->dev, b->fld[f]);
}

/* Interpolates the values of a new oct, in the order of b->fld, from levels l and coarser. Fields
 * on a device are skipped. */
static void created_values(const struct created *b, const struct mesh *m, int l,
                           const struct created_cell *p, double (*out)[8])
{
    const struct adapt_values *v = b->values;
    if (v->f && !v->dev) {
        v->f(m, l, p->parent, p->cell, out, v->ctx);
        return;
    }
    if (v->f && here(b, b->nfld - 1)) { /* the last one is of the gas */
        double all[FIELD_ALL][8];
        v->f(m, l, p->parent, p->cell, all, v->ctx);
        for (int f = 0; f < b->nfld; f++)
            if (here(b, f)) memcpy(out[f], all[f], sizeof all[f]);
        return;
    }
    for (int f = 0; f < b->nfld; f++)
        if (here(b, f)) field_prolong(&m->lev[l], b->fld[f], p->parent, p->cell, out[f]);
}

static okey created_key(const struct level *lv, const struct created_cell *p)
{
    return lv->key[p->parent] << 3 | (okey)p->cell;
}

static void places_find(struct created *b, const struct level *lv, const struct comm *c,
                        const struct domain *d)
{
    b->location = mem_new(sizeof *b->location * (size_t)b->n + 1, "mesh created");
    created_find(lv, b->n, b->location);
    for (int64_t j = 0; j < b->n && c->size > 1; j++)
        b->location[j].rank = domain_rank(d, lv->level + 1, created_key(lv, &b->location[j]));
}

/* Replaces the list of new octs by that of the own ones, whose parents may be ghosts. */
static void places_own(struct created *b, const struct level *lv, const struct comm *c,
                       const struct domain *d)
{
    int64_t n = 0, room = b->n;
    for (int64_t j = 0; j < b->n; j++)
        if (b->location[j].rank == c->rank) b->location[n++] = b->location[j];
    for (lidx i = lv->nown; i < lv->noct; i++)
        for (unsigned cells = cells_created(lv, i); cells; cells &= cells - 1) {
            const struct created_cell p = {i, __builtin_ctz(cells), c->rank};
            if (domain_rank(d, lv->level + 1, created_key(lv, &p)) != c->rank) continue;
            MEM_ROOM(b->location, n, room, 64, "mesh created");
            b->location[n++] = p;
        }
    b->n = n;
}

/* Fills the ghosts of level l that new octs read and that are stale: all fields, and those that
 * are interpolated between cells on the next coarser level too, unless level l is complete. */
static void fill_stale(const struct created *b, struct mesh *m, const struct comm *c, int l)
{
    for (int k = l > m->levelmin ? l - 1 : l; k <= l; k++) {
        int n = 0, fld[FIELD_ALL];
        for (int f = 0; f < b->nfld; f++)
            if (!m->lev[k].valid[b->fld[f]] &&
                (k == l || field_row_of(b->fld[f])->prolong == PROLONG_GAS))
                fld[n++] = b->fld[f];
        if (n > 0) ghost_fill(c, m, k, n, fld);
    }
}

/* Fetches from the device the values of n records; keys and host values are already there. */
static void created_fetch(struct created *b, struct mesh *m, int l, int64_t n, const int64_t *order)
{
    struct adapt_dev *dev = b->values->dev;
    if (!dev || dev->f.n == 0 || n == 0) return;
    int32_t *location = mem_new(sizeof *location * (size_t)n, "mesh created");
    double(*rows)[8] = mem_new(sizeof *rows * (size_t)n * (size_t)dev->f.n, "mesh created");
    for (int64_t j = 0; j < n; j++)
        location[j] = 8 * b->location[order[j]].parent + b->location[order[j]].cell;
    adapt_dev_rows(dev, m, l, (int32_t)n, location, rows);
    for (int64_t j = 0; j < n; j++)
        for (int f = 0, k = 0; f < b->nfld && k < dev->f.n; f++) {
            if (b->fld[f] != dev->f.fld[k]) continue;
            memcpy(b->data + b->row * (size_t)j + 64 + sizeof *rows * (size_t)f,
                   rows[j * dev->f.n + k], sizeof *rows);
            k++;
        }
    mem_free(rows);
    mem_free(location);
}

/* Packs the records of the octs created on other ranks, in rank order. */
static void created_pack(struct created *b, struct mesh *m, const struct comm *c, int l)
{
    int *rank = mem_new(sizeof *rank * (size_t)b->n + 1, "mesh scratch");
    int64_t *order = mem_new(sizeof *order * (size_t)b->n + 1, "mesh scratch");
    for (int64_t j = 0; j < b->n; j++)
        rank[j] = b->location[j].rank == c->rank ? -1 : b->location[j].rank;
    b->to = comm_counts_of(b->n, rank, order);
    int64_t n = comm_counts_total(&b->to);
    b->data = mem_new(b->row * (size_t)n + 1, "mesh created");
    created_fetch(b, m, l, n, order); /* on failure all values return to the host */
    for (int64_t j = 0; j < n; j++) {
        const struct created_cell *p = &b->location[order[j]];
        char *row = b->data + b->row * (size_t)j;
        okey k = created_key(&m->lev[l], p);
        memcpy(row, &k, sizeof k);
        created_values(b, m, l, p, (void *)(row + 64));
    }
    FREE(order);
    FREE(rank);
}

/* Sorts the keys of the new own octs: those computed here, in any order, then received ones. */
static struct keyref *created_sort(const struct created *b, const struct level *lv, int rank,
                                   int64_t ncome, const char *come, int64_t *n)
{
    okey *key = mem_new(sizeof *key * (size_t)(b->n + ncome) + 1, "mesh scratch");
    *n = 0;
    for (int64_t j = 0; j < b->n; j++)
        if (b->location[j].rank == rank) key[(*n)++] = created_key(lv, &b->location[j]);
    for (int64_t j = 0; j < ncome; j++)
        memcpy(&key[(*n)++], come + b->row * (size_t)j, sizeof *key);
    struct keyref *ref = keyrefs_sort(key, *n);
    FREE(key);
    return ref;
}

/* Retains only the new octs that this rank both computes and owns, in the order of created_sort;
 * returns their number. */
static int64_t created_here(const struct created *b, int rank)
{
    int64_t n = 0;
    for (int64_t j = 0; j < b->n; j++)
        if (b->location[j].rank == rank) b->location[n++] = b->location[j];
    return n;
}

/* Octs created in level l are to be computed. */
struct early {
    struct created *b;
    const struct mesh *m;
    int l;
};

/* Computes b->early, from levels l + 1 and coarser. */
static void created_early(void *ctx)
{
    const struct early *x = ctx;
    struct created *b = x->b;
    if (!x->m->magnetic || !b->values->f) return;
    b->early = mem_new(sizeof *b->early * (size_t)b->nfld * (size_t)b->nhere + 1, "mesh created");
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < b->nhere; j++)
        created_values(b, x->m, x->l, &b->location[j], b->early + b->nfld * j);
}

/* Installs the own octs of level l: retained and created octs, merged in Morton order. */
static void created_install(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                            int64_t total, struct created *b, struct keyref *ref)
{
    const struct level *lv = &m->lev[l];
    const size_t max = (size_t)(lv->nown + b->nnew);
    okey *own = mem_new(sizeof *own * max + 1, "mesh scratch");
    b->moves->from = mem_new(sizeof *b->moves->from * max + 1, "mesh scratch");
    lidx n = created_merge(lv, lv - 1, b->nnew, ref, own, b->moves->from);
    level_install(m, c, d, l, total, n, own,
                  &(struct level_change){b->moves, b->values->dev, (lidx)b->nnew, created_early,
                                         &(struct early){b, m, l - 1}, NULL});
    FREE(own);
}

/* Writes the values of the created octs of level l. Octs of this rank are computed in place,
 * without a temporary copy. */
static void created_fill(const struct created *b, struct mesh *m, int l, int64_t nhere,
                         const struct keyref *ref, const char *come)
{
    struct level *lv = &m->lev[l];
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < b->nnew; j++) {
        double got[FIELD_ALL][8];
        const lidx at = ref[j].oct;
        if (ref[j].at < nhere && b->early)
            memcpy(got, b->early + b->nfld * ref[j].at, sizeof got[0] * (size_t)b->nfld);
        else if (ref[j].at < nhere)
            created_values(b, m, l - 1, &b->location[ref[j].at], got);
        else
            memcpy(got, come + b->row * (size_t)(ref[j].at - nhere) + 64,
                   sizeof got[0] * (size_t)b->nfld);
        for (int f = 0; f < b->nfld; f++)
            if (here(b, f)) memcpy(lv->fld[b->fld[f]][at], got[f], sizeof got[f]);
    }
}

/* Computes the new ghosts of level l. Other ghosts keep their values, so the ghosts of a field are
 * valid if they were; in a level that had no octs all ghosts are new. */
static void created_ghosts(const struct created *b, struct mesh *m, int l, bool had_octs,
                           field_set were_valid)
{
    struct level *lv = &m->lev[l];
#pragma omp parallel for schedule(static)
    for (lidx i = lv->nown; i < lv->noct; i++) {
        double got[FIELD_ALL][8];
        const struct created_cell p = {lv->parent[i], oct_slot(lv, i), 0};
        if (b->moves->from[i] >= 0) continue;
        created_values(b, m, l - 1, &p, got);
        for (int f = 0; f < b->nfld; f++) memcpy(lv->fld[b->fld[f]][i], got[f], sizeof got[f]);
    }
    ghosts_set(m, l, had_octs ? were_valid & (ALL | FLAG) : ALL | FLAG, true);
}

/* ---- on a device ---- */

/* Description of new octs for the device, in this order: octs interpolated by the device, octs
 * received with values, ghosts. */
struct served {
    struct remap_change c;
    lidx *source;
    int32_t *location;
    double (*come)[8];
};

/* Registers oct i as new oct `number`. */
static void serve(struct served *t, const struct level *lv, lidx i, lidx number)
{
    t->location[number] = 8 * lv->parent[i] + oct_slot(lv, i);
    t->source[i] = -1 - number;
}

static void serve_values(const struct served *t, const struct created *b, int64_t number,
                         const char *row)
{
    const struct remap_fields *want = &b->values->dev->f;
    double(*to)[8] = t->come + (size_t)number * (size_t)want->n;
    for (int f = 0, k = 0; f < b->nfld && k < want->n; f++)
        if (b->fld[f] == want->fld[k])
            memcpy(to[k++], row + 64 + sizeof *to * (size_t)f, sizeof *to);
}

/* Describes the change of level l to the device; the links of the level must be set. */
static void created_serve(const struct created *b, struct mesh *m, int l, int64_t nhere,
                          const struct keyref *ref, const char *come)
{
    struct adapt_dev *dev = b->values->dev;
    struct level *lv = &m->lev[l];
    if (!dev || !dev->remap.x) return;
    size_t n = (size_t)(b->nnew + lv->noct - lv->nown);
    struct served t = {
        .source = dev->moves.from,
        .location = mem_new(sizeof *t.location * n + 1, "mesh created"),
        .come = mem_new(sizeof *t.come * (size_t)(b->nnew - nhere) * (size_t)dev->f.n + 1,
                        "mesh created")};
    t.c.here = (lidx)nhere;
    t.c.rows = t.c.created = (lidx)b->nnew;
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < b->nnew; j++) {
        int64_t k = ref[j].at - nhere;
        serve(&t, lv, ref[j].oct, ref[j].at);
        if (k >= 0) serve_values(&t, b, k, come + b->row * (size_t)k);
    }
    for (lidx i = lv->nown; i < lv->noct; i++)
        if (t.source[i] < 0) serve(&t, lv, i, t.c.created++);
    t.c.source = t.source;
    t.c.location = t.location;
    t.c.come = t.come;
    adapt_dev_end(dev, m, l, &t.c);
}

struct adapt_changes adapt_count(const struct mesh *m, int l)
{
    const struct level *lv = &m->lev[l];
    return (struct adapt_changes){created_count(lv), created_removed(lv + 1, lv)};
}

int64_t adapt_refine(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                     adapt_prolong *f, void *ctx)
{
    ghost_fill_flags(c, m, l);
    struct adapt_changes here = adapt_count(m, l), all = here;
    comm_add_i64(c, &all.created, 2);
    adapt_change(m, c, d, l, here, all, &(struct adapt_values){.f = f, .ctx = ctx});
    return all.created + all.removed;
}

void adapt_change(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                  struct adapt_changes here, struct adapt_changes all, const struct adapt_values *v)
{
    struct level *lv = &m->lev[l];
    struct mesh_moves moves = {.from = NULL};
    struct created b = {.values = v, .moves = v->dev ? &v->dev->moves : &moves, .n = here.created};
    if (all.created + all.removed == 0) return;

    int64_t ncome = 0;
    char *come = NULL;
    const bool had_octs = m->lev[l + 1].total > 0;
    const field_set were_valid = ghosts_all_valid(m, l + 1);
    b.nfld = mesh_fields(m, ALL, b.fld);
    b.row = 64 + sizeof(double[8]) * (size_t)b.nfld;
    b.everywhere = c->size > 1 && !v->sent && !(m->magnetic && v->f);
    if (v->dev) adapt_dev_begin(v->dev, m, l + 1, c->size == 1);
    places_find(&b, lv, c, d);
    if (b.everywhere) {
        fill_stale(&b, m, c, l);
        places_own(&b, lv, c, d);
    } else if (c->size > 1) {
        created_pack(&b, m, c, l);
        come = comm_exchange(c, b.data, &b.to, b.row, &ncome, NULL);
        comm_counts_free(&b.to);
        FREE(b.data);
    }
    struct keyref *ref = created_sort(&b, lv, c->rank, ncome, come, &b.nnew);
    const int64_t nhere = b.nhere = created_here(&b, c->rank);
    created_install(m, c, d, l + 1, m->lev[l + 1].total + all.created - all.removed, &b, ref);
    created_fill(&b, m, l + 1, nhere, ref, come);
    created_serve(&b, m, l + 1, nhere, ref, come);
    if (b.everywhere)
        created_ghosts(&b, m, l + 1, had_octs, were_valid);
    else
        level_fill(c, m, l + 1, v->dev);
    FREE(b.early);
    FREE(b.moves->from);
    FREE(ref);
    FREE(come);
    FREE(b.location);
}
