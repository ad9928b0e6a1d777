/* audit/check_parts: particles are finite, inside the box or beyond its boundaries, and have mass;
 * each id occurs once in its family; each particle is with the rank of its levelmin oct.
 *
 * Ids are sorted, eight bytes each; if memory does not hold them all, each pass takes the ids of
 * one remainder. Clouds of sinks share ids by design. Particles that are not with their rank are
 * counted: RAMSES leaves some that crossed a cut plane in the last step with their old rank, so
 * strays are damage only in checkpoints of Ptah. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "audit/check_priv.h"
#include "base/mem.h"

struct ids {
    int64_t n, room, *id;
};

struct partcheck {
    struct check *k;
    const struct tree_table *t;
    int64_t turn, turns;
    struct ids of[1 << 8]; /* ids of each family, by family byte */
};

static void at_part(struct check *k, enum check_kind kind, const struct source_parts *p, int64_t i,
                    const char *fmt, double x)
{
    char path[PATH_MAX], location[CHECK_LOCATION];
    if (k->count[kind] >= CHECK_MAX) {
        k->count[kind]++, k->found->damages++;
        return;
    }
    source_file(k->r, FILES_PART, p->piece, path);
    snprintf(location, sizeof location, "particle %ld of family %d", (long)p->id[i],
             (int)p->family[i]);
    char what[200];
    snprintf(what, sizeof what, "%s %.15g", fmt, x);
    check_report(k, kind, path, location, "%s", what);
}

/* The first axis on which the particle lies outside the box by more than `reach`; −1 if none. */
static int outside(const struct source_parts *p, int64_t i, const double reach[3])
{
    const struct ckpt_head *h = &p->source->head;
    for (int d = 0; d < h->ndim; d++) {
        double x = p->x[d][i];
        bool in = x >= 0 && x < h->boxlen,
             near = reach && x >= -reach[d] && x <= h->boxlen + reach[d];
        if (!in && !near) return d;
    }
    return -1;
}

static void check_value(struct check *k, const struct source_parts *p, int64_t i)
{
    int far = outside(p, i, k->reach), beyond = far < 0 ? outside(p, i, NULL) : -1;
    k->found->beyond += beyond >= 0 && k->reach[beyond] >= p->source->head.boxlen;
    double x = far < 0 ? 0 : p->x[far][i], m = p->m[i];
    for (int d = 0; d < p->source->head.ndim; d++)
        if (!isfinite(p->v[d][i]))
            at_part(k, BAD_PART_FINITE, p, i, "has the velocity", p->v[d][i]);
    if (far >= 0)
        at_part(k, isfinite(x) ? BAD_LOCATION : BAD_PART_FINITE, p, i, "is outside the box: at", x);
    if (!isfinite(m))
        at_part(k, BAD_PART_FINITE, p, i, "has the mass", m);
    else if (m < 0)
        at_part(k, BAD_MASS, p, i, "has the mass", m);
}

void check_part_values(struct check *k, const struct source_parts *p)
{
    for (int64_t i = 0; i < p->n; i++) check_value(k, p, i);
}

/* Checks that the rank of the file owns the levelmin oct around the particle. */
static void check_rank(struct partcheck *c, const struct source_parts *p, int64_t i)
{
    struct check *k = c->k;
    int l = k->r->head.levelmin;
    uint64_t x[3] = {0};
    if (!k->r->by_rank || l > LEVEL_MAX) return;
    for (int d = 0; d < k->r->head.ndim; d++)
        x[d] = (uint64_t)ldexp(p->x[d][i] / k->r->head.boxlen, l - 1);
    const struct tree_row *row = tree_table_find(c->t, l, okey_make(x[0], x[1], x[2]));
    if (!row || row->piece == p->piece) return;
    k->found->strays++;
    if (k->ours) at_part(k, BAD_RANK, p, i, "belongs to rank", row->piece + 1);
}

static void take_id(struct partcheck *c, const struct source_parts *p, int64_t i)
{
    struct ids *t = &c->of[(uint8_t)p->family[i]];
    uint64_t id = (uint64_t)p->id[i];
    int family = (int)p->family[i];
    /* supernova debris has -id of its star as id */
    if (family == FAM_CLOUD || (family == FAM_DEBRIS && p->id[i] < 0) ||
        (int64_t)((id ^ id >> 32) * 0x9e3779b97f4a7c15u >> 33) % c->turns != c->turn)
        return;
    if (t->n == t->room) {
        t->room += t->room / 2 + CKPT_PART_BATCH;
        t->id = mem_grow(t->id, sizeof *t->id * (size_t)t->room, "check");
    }
    t->id[t->n++] = p->id[i];
}

static enum err take_parts(const struct source_parts *p, void *ctx)
{
    struct partcheck *c = ctx;
    for (int64_t i = 0; i < p->n; i++) {
        if (c->turn == 0 && outside(p, i, NULL) < 0) check_rank(c, p, i);
        take_id(c, p, i);
    }
    return OK;
}

MEM_ORDER_OF(by_value, int64_t)

static void check_ids(struct check *k, struct ids *t, int8_t family)
{
    mem_sort(t->id, (size_t)t->n, sizeof *t->id, by_value);
    for (int64_t i = 1; i < t->n; i++) {
        if (t->id[i] != t->id[i - 1]) continue;
        char location[CHECK_LOCATION];
        snprintf(location, sizeof location, "particle %ld of family %d", (long)t->id[i], family);
        check_report(k, BAD_ID, k->r->path, location, "its id occurs twice");
    }
    t->n = 0;
}

enum err check_parts(struct check *k, const struct tree_table *t)
{
    struct partcheck c = {.k = k, .t = t, .turns = 1};
    struct source *r = k->r;
    if (!r->head.particles) return OK;
    int64_t max = (int64_t)(k->how->memory / (2 * sizeof *c.of->id)); /* sorting may need a copy */
    if (max < 1) max = 1;
    c.turns += k->found->particles / max;
    enum err err = OK;
    for (c.turn = 0; err == OK && c.turn < c.turns; c.turn++) {
        for (int piece = 0; err == OK && piece < r->npiece; piece++)
            err = check_judge(k, source_parts(r, piece, SOURCE_STORED, take_parts, &c));
        for (int f = 0; f < 1 << 8; f++) check_ids(k, &c.of[f], (int8_t)f);
    }
    for (int f = 0; f < 1 << 8; f++) FREE(c.of[f].id);
    return err;
}
