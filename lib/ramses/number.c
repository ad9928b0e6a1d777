/* ramses/number: numbers of a rank's octs in its files, and the lists of octs (out.h). */
#include "base/mem.h"
#include "ramses/out.h"

static void number_level(struct ramses_out *w, int l)
{
    const struct level *lv = &w->o.m->lev[l];
    int size = w->o.c->size;
    int32_t *count = w->count + (size_t)(l - 1) * (size_t)size,
            *first = w->first + (size_t)(l - 1) * (size_t)size;
    lidx nghost = lv->noct - lv->nown;
    int *owner = mem_new(sizeof *owner * (size_t)nghost + 1, "checkpoint");
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < nghost; i++) owner[i] = domain_rank(w->o.d, l, lv->key[lv->nown + i]);
    count[w->o.c->rank] = lv->nown;
    for (lidx i = 0; i < nghost; i++) {
        BUG_ON(owner[i] == w->o.c->rank);
        count[owner[i]]++;
    }
    int32_t *next = mem_new(sizeof *next * (size_t)size, "checkpoint");
    int32_t start = w->ngrid + 1;
    for (int r = 0; r < size; r++) {
        next[r] = first[r] = start;
        start += count[r];
    }
    w->order[l] = mem_new(sizeof(lidx) * (size_t)lv->noct + 1, "checkpoint");
    w->number[l] = mem_new(sizeof(int32_t) * (size_t)lv->noct + 1, "checkpoint");
    for (lidx i = 0; i < lv->noct; i++) {
        int r = i < lv->nown ? w->o.c->rank : owner[i - lv->nown];
        w->number[l][i] = next[r]++;
        w->order[l][w->number[l][i] - w->ngrid - 1] = i;
    }
    w->ngrid += lv->noct;
    FREE(next);
    FREE(owner);
}

enum err ramses_out_number(struct ramses_out *w)
{
    size_t lists = (size_t)w->o.nlevel * (size_t)w->o.c->size;
    /* maximum cell index: coarse cells + 7 ngridmax + oct */
    int64_t octs = 0, limit = (INT32_MAX - BOUNDARY_CODES) / 8;
    if (w->o.h->boundary.n) {
        w->boundary_octs = mem_zero(sizeof *w->boundary_octs, "checkpoint");
        w->boundary_octs->nregion = w->o.h->boundary.n;
        TRY(boundary_lay_out(&w->o.h->boundary, w->o.h->ndim, w->o.final, &w->boundary_octs->lay));
    }
    w->count = mem_zero(sizeof(int32_t) * lists, "checkpoint");
    w->first = mem_zero(sizeof(int32_t) * lists, "checkpoint");
    for (int l = 1; l <= w->o.nlevel; l++) octs += w->o.m->lev[l].noct;
    for (int l = 1; l <= w->o.nlevel && octs <= limit; l++) {
        number_level(w, l);
        if (!w->boundary_octs) continue;
        boundary_octs_number(w->boundary_octs, w->o.m, l, w->ngrid + 1);
        w->ngrid += w->boundary_octs->level[l].n;
        octs += w->boundary_octs->level[l].n;
    }
    if (octs > limit)
        FAIL(ERR_LIMIT,
             "%s: rank %d has %ld octs, but RAMSES files can number %ld at most: use more ranks",
             w->o.final, w->o.c->rank, (long)octs, (long)limit);
    w->o.ngridmax = w->o.h->ngridmax > octs && w->o.h->ngridmax <= limit ? w->o.h->ngridmax : octs;
    if (w->o.ngridmax < 1) w->o.ngridmax = 1;
    return OK;
}

static struct ramses_block block_beyond(const struct ramses_out *w, int level, int rank)
{
    const struct boundary_octs_level *e = &w->boundary_octs->level[level];
    int32_t at = e->region[rank - w->o.c->size], end = e->region[rank - w->o.c->size + 1];
    return (struct ramses_block){.w = w,
                                 .level = level,
                                 .rank = rank,
                                 .first = e->first + at,
                                 .n = end - at,
                                 .oct = end > at ? e->ref + at : NULL};
}

const struct boundary_rule *ramses_block_rule(const struct ramses_block *b, int32_t i, int32_t *end)
{
    const struct boundary_octs *e = b->w->boundary_octs;
    if (b->rank < b->w->o.c->size) return NULL;
    int32_t at = b->first - e->level[b->level].first, last;
    int code = boundary_octs_code(e, b->level, at + i, &last);
    if (end) *end = last - at < b->n ? last - at : b->n;
    return &e->lay.rule[code];
}

struct ramses_block ramses_block_of(const struct ramses_out *w, int level, int rank)
{
    if (rank >= w->o.c->size) return block_beyond(w, level, rank);
    size_t list = (size_t)(level - 1) * (size_t)w->o.c->size + (size_t)rank,
           row = list - (size_t)rank;
    struct ramses_block b = {
        .w = w, .level = level, .rank = rank, .first = w->first[list], .n = w->count[list]};
    if (b.n) b.oct = w->order[level] + (w->first[list] - w->first[row]);
    return b;
}

void ramses_block_header(struct fort_out *f, int level, int32_t n)
{
    fort_i4(f, level);
    fort_i4(f, n);
}

void ramses_out_forget(struct ramses_out *w)
{
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        FREE(w->order[l]);
        FREE(w->number[l]);
    }
    FREE(w->first);
    FREE(w->count);
    boundary_octs_free(&w->boundary_octs);
}
