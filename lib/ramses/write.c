/* ramses/write: a mesh as a RAMSES snapshot (docs/method/ckpt.md) that yt, osyris and pynbody read
 * too.
 *
 * Each rank writes one file of each kind with its own octs and, under their owners, its ghosts.
 * Numbers of octs follow from the order level, owner, Morton, so all links are computed while they
 * are written: beside the numbering (8 bytes an oct) and fixed buffers no memory is needed. Octs
 * beyond the boundary of the box are made from those before it (ramses/beyond.h).
 *
 * All files go to output_NNNNN.tmp, each synced; once every rank has agreed that it succeeded, rank
 * 0 renames the directory. */
#include "ramses/write.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "ckpt/names.h"
#include "io/dir.h"
#include "io/file.h"
#include "ramses/exact.h"
#include "ramses/out.h"
#include "ramses/stored.h"

static enum err write_snapshot(struct ramses_out *o);

enum err ckpt_write_ramses(const char *dir, int number, const struct ckpt_head *h,
                           const struct mesh *m, const struct parts *p, const struct domain *d,
                           const struct comm *c, char *path, size_t n)
{
    struct ramses_out *o = mem_zero(sizeof *o, "checkpoint");
    struct manifest list = {.backup = h->backup};
    *o = (struct ramses_out){.h = h,
                             .m = m,
                             .p = p,
                             .d = d,
                             .c = c,
                             .output = number,
                             .npart = p ? p->n : 0,
                             .nlevel = h->levelmax,
                             .columns = h->particles ? &p->columns : NULL,
                             .lock = -1,
                             .list = &list};
    BUG_ON(domain_nrank(d) != c->size);
    BUG_ON(o->nlevel > LEVEL_MAX || m->levelmax > o->nlevel);
    enum err err = OK;
    if (number < 0 || number > 99999)
        err = err_set(ERR_LIMIT, "%s: output number %d has more than five digits", dir, number);
    if (snprintf(o->final, sizeof o->final, "%s/output_%05d", dir, number) + 5 >
        (int)sizeof o->final)
        err = err_set(ERR_FILE, "%.80s…: path too long", dir);
    snprintf(path, n, "%s", o->final);
    snprintf(o->tmp, sizeof o->tmp, "%.3990s.tmp", o->final);
    if (err == OK) err = write_snapshot(o);
    manifest_fini(&list);
    ramses_out_forget(o);
    FREE(o);
    return err;
}

/* ---- numbering ---- */

static void number_level(struct ramses_out *o, int l)
{
    const struct level *lv = &o->m->lev[l];
    int size = o->c->size;
    int32_t *count = o->count + (size_t)(l - 1) * (size_t)size,
            *first = o->first + (size_t)(l - 1) * (size_t)size;
    lidx nghost = lv->noct - lv->nown;
    int *owner = mem_new(sizeof *owner * (size_t)nghost + 1, "checkpoint");
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < nghost; i++) owner[i] = domain_rank(o->d, l, lv->key[lv->nown + i]);
    count[o->c->rank] = lv->nown;
    for (lidx i = 0; i < nghost; i++) {
        BUG_ON(owner[i] == o->c->rank);
        count[owner[i]]++;
    }
    int32_t *next = mem_new(sizeof *next * (size_t)size, "checkpoint");
    int32_t start = o->ngrid + 1;
    for (int r = 0; r < size; r++) {
        next[r] = first[r] = start;
        start += count[r];
    }
    o->order[l] = mem_new(sizeof(lidx) * (size_t)lv->noct + 1, "checkpoint");
    o->number[l] = mem_new(sizeof(int32_t) * (size_t)lv->noct + 1, "checkpoint");
    for (lidx i = 0; i < lv->noct; i++) {
        int r = i < lv->nown ? o->c->rank : owner[i - lv->nown];
        o->number[l][i] = next[r]++;
        o->order[l][o->number[l][i] - o->ngrid - 1] = i;
    }
    o->ngrid += lv->noct;
    FREE(next);
    FREE(owner);
}

enum err ramses_out_number(struct ramses_out *o)
{
    size_t lists = (size_t)o->nlevel * (size_t)o->c->size;
    /* cell indices are coarse cells + 7 ngridmax + oct at most */
    int64_t octs = 0, limit = (INT32_MAX - BOUNDARY_CODES) / 8;
    if (o->h->boundary.n) {
        o->beyond = mem_zero(sizeof *o->beyond, "checkpoint");
        o->beyond->nregion = o->h->boundary.n;
        TRY(boundary_lay_out(&o->h->boundary, o->h->ndim, o->final, &o->beyond->lay));
    }
    o->count = mem_zero(sizeof(int32_t) * lists, "checkpoint");
    o->first = mem_zero(sizeof(int32_t) * lists, "checkpoint");
    for (int l = 1; l <= o->nlevel; l++) octs += o->m->lev[l].noct;
    for (int l = 1; l <= o->nlevel && octs <= limit; l++) {
        number_level(o, l);
        if (!o->beyond) continue;
        beyond_number(o->beyond, o->m, l, o->ngrid + 1);
        o->ngrid += o->beyond->level[l].n;
        octs += o->beyond->level[l].n;
    }
    if (octs > limit)
        FAIL(ERR_LIMIT,
             "%s: rank %d holds %ld octs, RAMSES files number %ld at most; use more ranks",
             o->final, o->c->rank, (long)octs, (long)limit);
    o->ngridmax = o->h->ngridmax > octs && o->h->ngridmax <= limit ? o->h->ngridmax : octs;
    if (o->ngridmax < 1) o->ngridmax = 1;
    return OK;
}

static struct ramses_block block_beyond(const struct ramses_out *o, int level, int rank)
{
    const struct beyond_level *e = &o->beyond->level[level];
    int32_t at = e->region[rank - o->c->size], end = e->region[rank - o->c->size + 1];
    return (struct ramses_block){.o = o,
                                 .level = level,
                                 .rank = rank,
                                 .first = e->first + at,
                                 .n = end - at,
                                 .oct = end > at ? e->ref + at : NULL};
}

const struct boundary_rule *ramses_block_rule(const struct ramses_block *b, int32_t i, int32_t *end)
{
    const struct beyond *e = b->o->beyond;
    if (b->rank < b->o->c->size) return NULL;
    int32_t at = b->first - e->level[b->level].first, last;
    int code = beyond_code(e, b->level, at + i, &last);
    if (end) *end = last - at < b->n ? last - at : b->n;
    return &e->lay.rule[code];
}

struct ramses_block ramses_block_of(const struct ramses_out *o, int level, int rank)
{
    if (rank >= o->c->size) return block_beyond(o, level, rank);
    size_t list = (size_t)(level - 1) * (size_t)o->c->size + (size_t)rank,
           row = list - (size_t)rank;
    struct ramses_block b = {
        .o = o, .level = level, .rank = rank, .first = o->first[list], .n = o->count[list]};
    if (b.n) b.oct = o->order[level] + (o->first[list] - o->first[row]);
    return b;
}

void ramses_block_header(struct fort_out *f, int level, int32_t n)
{
    fort_i4(f, level);
    fort_i4(f, n);
}

/* ---- what all ranks must know ---- */

void ramses_out_count(struct ramses_out *o)
{
    const struct parts *p = o->p;
    int n = o->nlevel + 1;
    for (int l = 1; l <= o->nlevel; l++) o->total[l] = o->least[l] = o->most[l] = o->m->lev[l].nown;
    comm_add_i64(o->c, o->total, n);
    comm_min_i64(o->c, o->least, n);
    comm_max_i64(o->c, o->most, n);
    comm_max_i64(o->c, &o->ngridmax, 1);
    if (!o->h->particles) return;
    int64_t span[2] = {0, 0};
    struct sum stars;
    sum_init(&stars);
    for (int64_t i = 0; i < p->n; i++) {
        int k = p->family[i] + 5;
        o->family[k >= 0 && k < RAMSES_FAMILIES - 1 ? k : RAMSES_FAMILIES - 1]++;
        ramses_out_span(span, p->id[i]);
        if (p->family[i] == FAM_STAR) sum_add(&stars, p->m[i]);
    }
    comm_add_i64(o->c, o->family, RAMSES_FAMILIES);
    comm_max_i64(o->c, span, 2);
    comm_sum(o->c, &stars);
    o->star_mass = sum_get(&stars);
    o->wide_ids = o->h->longint || ramses_out_is_wide(span);
}

/* ---- files ---- */

static void path_of(const struct ramses_out *o, const char *kind, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s_%05d.out%05d", o->tmp, kind, o->output, o->c->rank + 1);
}

static enum err write_kind(const struct ramses_out *o, const char *kind,
                           enum err write(const struct ramses_out *o, const char *path))
{
    char path[PATH_MAX];
    path_of(o, kind, path);
    return write(o, path);
}

/* Gas, and what its file loses, in one pass. */
static enum err write_gas(const struct ramses_out *o)
{
    char hydro[PATH_MAX], exact[PATH_MAX];
    struct exact_out x;
    path_of(o, "hydro", hydro);
    if (o->stored) return o->h->hydro ? ramses_write_stored(o, hydro, false) : OK;
    path_of(o, "exact", exact);
    enum err err = exact_create(&x, o, exact);
    if (err == OK && o->h->hydro) err = ramses_write_hydro(o, hydro, &x);
    return exact_close(&x, err);
}

static enum err write_gravity(const struct ramses_out *o)
{
    char path[PATH_MAX];
    path_of(o, "grav", path);
    if (!o->h->gravity) return OK;
    return o->stored ? ramses_write_stored(o, path, true) : ramses_write_grav(o, path);
}

static enum err write_file(const struct ramses_out *o, enum ramses_file kind)
{
    switch (kind) {
    case RAMSES_GAS:
        return write_gas(o);
    case RAMSES_AMR:
        return write_kind(o, "amr", ramses_write_amr);
    case RAMSES_GRAV:
        return write_gravity(o);
    case RAMSES_PART:
        return o->h->particles ? write_kind(o, "part", ramses_write_part) : OK;
    case RAMSES_FILES:
        break;
    }
    return OK;
}

enum err ramses_write_files(const struct ramses_out *o, int threads)
{
    struct err_first trouble = {.err = OK};
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int k = 0; k < RAMSES_FILES; k++)
        if (err_kept(&trouble) == OK) err_keep(&trouble, write_file(o, (enum ramses_file)k), k);
    return err_kept(&trouble);
}

enum err ramses_out_begin(struct ramses_out *o)
{
    TRY(dir_take(o->tmp, ckpt_name_is_ours, &o->lock));
    enum err err = dir_may_remove(o->final);
    if (!o->h->overwrite && file_exists(o->final))
        err = err_set(ERR_FILE, "%s: exists already; it is not overwritten", o->final);
    if (err != OK) ramses_out_drop(o, err);
    return err;
}

static void let_go(struct ramses_out *o)
{
    if (o->lock >= 0) close(o->lock);
    o->lock = -1;
}

enum err ramses_out_finish(struct ramses_out *o)
{
    TRY(dir_sync(o->tmp));
    TRY(dir_replace(o->tmp, o->final));
    let_go(o);
    return OK;
}

void ramses_out_drop(struct ramses_out *o, enum err why)
{
    char message[1024];
    if (o->lock < 0) return; /* it was never ours */
    snprintf(message, sizeof message, "%s", err_message());
    enum err left = dir_remove(o->tmp); /* what stays is removed by the next attempt */
    (void)left;
    let_go(o);
    err_set(why, "%s", message);
}

static enum err write_snapshot(struct ramses_out *o)
{
    bool root = o->c->rank == 0;
    TRY(err_agree(o->c, ramses_out_number(o)));
    ramses_out_count(o);
    TRY(err_agree(o->c, root ? ramses_out_begin(o) : OK));
    enum err err = root ? ramses_write_texts(o) : OK;
    if (err == OK) err = ramses_write_files(o, 1);
    err = err_agree(o->c, err);
    if (err == OK) err = err_agree(o->c, manifest_write(o->list, o->c, o->tmp, o->output));
    if (err == OK) err = err_agree(o->c, root ? ramses_out_finish(o) : OK);
    if (err != OK && root) ramses_out_drop(o, err);
    return err;
}

void ramses_out_forget(struct ramses_out *o)
{
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        FREE(o->order[l]);
        FREE(o->number[l]);
    }
    FREE(o->first);
    FREE(o->count);
    beyond_free(&o->beyond);
}
