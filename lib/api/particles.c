/* api/particles: particles and the tables of sinks as columns. */
#include <string.h>

#include "api/priv.h"
#include "base/mem.h"
#include "part/family.h"

struct particles {
    struct ptah *p;
    const struct ptah_particles_ask *ask;
    struct ptah_table *t;
    struct zone zone;
    struct ckpt_pick pick;
    int family;  /* row of the family; -1: all */
    int *column; /* [t->columns] columns of a batch */
    int64_t room;
    int64_t taken[CKPT_PART_BATCH]; /* particles of a batch that are taken */
};

/* ---- the request ---- */

static enum err find_family(struct particles *q)
{
    static const char *const lists[2] = {"families", NULL};
    q->family = -1;
    if (!q->ask->family) return OK;
    for (int i = 0; i < FAMILIES; i++)
        if (strcmp(FAMILY_ROW[i].name, q->ask->family) == 0) q->family = i;
    return q->family < 0 ? no_name(q->p, q->ask->family, lists) : OK;
}

static enum err add_column(struct particles *q, int i, const char *name)
{
    const struct source *s = q->p->s;
    static const char *const lists[2] = {"particles", NULL};
    const int c = part_column_find(&s->columns, name);
    if (c < 0 || !s->columns.has[c]) return no_name(q->p, name, lists);
    q->column[i] = c;
    const char type = part_column(&s->columns, c)->type;
    table_add(q->t, name, "", part_type_is_real(type) ? 'd' : type);
    return OK;
}

static enum err add_columns(struct particles *q)
{
    if (!q->p->s->head.particles) FAIL(ERR_PARAM, "%s: has no particles", q->p->s->path);
    TRY(find_family(q));
    q->column = mem_new(sizeof *q->column * (size_t)q->ask->n + 1, "table");
    for (int i = 0; i < q->ask->n; i++) TRY(add_column(q, i, q->ask->name[i]));
    return OK;
}

/* ---- reading ---- */

static bool is_near(const struct particles *q, const double *const x[3], int64_t i)
{
    double at[3] = {0};
    for (int d = 0; d < q->zone.ndim; d++) at[d] = x[d][i];
    return zone_meets(&q->zone, at, 0);
}

static bool pick_parts(void *ctx, int64_t n, const double *const x[3])
{
    for (int64_t i = 0; i < n; i++)
        if (is_near(ctx, x, i)) return true;
    return false;
}

static int64_t take(struct particles *q, const struct source_parts *p)
{
    int64_t n = 0;
    for (int64_t i = 0; i < p->n; i++) {
        if (q->family >= 0 && family_row(p->family[i]) != q->family) continue;
        if (!q->zone.shape || is_near(q, p->x, i)) q->taken[n++] = i;
    }
    return n;
}

/* Copies the taken values of a column of a batch, 8 bytes each, to its type. */
static enum err put_column(struct particles *q, const struct source_parts *p, int k, int64_t n)
{
    const struct ptah_column *c = &q->t->column[k];
    const int size = part_type_size(c->type);
    const uint64_t *from = p->col[q->column[k]];
    char *to = (char *)c->data + (size_t)size * (size_t)q->t->n;
    if (n == p->n && size == 8) {
        memcpy(to, from, 8 * (size_t)n);
        return OK;
    }
    uint64_t *wide = size == 8 ? (uint64_t *)(void *)to : mem_new(8 * (size_t)n, "table");
    for (int64_t i = 0; i < n; i++) wide[i] = from[q->taken[i]];
    const bool fits = size == 8 || part_column_narrow(c->type, n, wide, to);
    if (size != 8) mem_free(wide);
    if (!fits)
        FAIL(ERR_FORMAT, "%s: %s has a value beyond the integers of %d bytes", p->file, c->name,
             size);
    return OK;
}

static enum err add_parts(const struct source_parts *p, void *ctx)
{
    struct particles *q = ctx;
    const int64_t n = take(q, p), end = q->t->n + n;
    struct err_first first = {0};
    if (n == 0) return OK;
    if (end > q->room) TRY(table_room(q->t, &q->room, 2 * q->room + n, q->p->s->path));
#pragma omp parallel for schedule(dynamic, 1)
    for (int k = 0; k < q->t->columns; k++) err_save(&first, put_column(q, p, k, n), k);
    q->t->n = end;
    return err_restore(&first);
}

static enum err read_parts(struct particles *q)
{
    struct source *s = q->p->s;
    TRY(add_columns(q));
    q->pick = (struct ckpt_pick){.parts = pick_parts, .ctx = q};
    s->pick = q->zone.shape ? &q->pick : NULL;
    memset(&s->counts, 0, sizeof s->counts);
    for (int i = 0; i < s->npiece; i++) TRY(source_parts(s, i, SOURCE_STORED, add_parts, q));
    return OK;
}

int ptah_particles(struct ptah *p, const struct ptah_particles_ask *ask, struct ptah_table *out)
{
    const int threads = call_begin();
    struct particles *q = mem_zero(sizeof *q, "table");
    *out = (struct ptah_table){0};
    q->p = p, q->ask = ask, q->t = out;
    enum err e = zone_of(&q->zone, p, &ask->region);
    if (e == OK) e = read_parts(q);
    if (e == OK && q->room == 0) e = table_room(out, &q->room, 1, p->s->path);
    p->s->pick = NULL;
    table_trim(out, q->room, e);
    mem_free(q->column);
    ptah_free(q);
    return call_end(threads, e);
}

/* ---- tables beside the mesh ---- */

int ptah_catalog(const struct ptah *p, const char *what, struct ptah_table *out)
{
    const struct catalog *t = strcmp(what, "stellar") == 0 ? p->s->stellar : p->s->sinks;
    int64_t room = 0;
    *out = (struct ptah_table){0};
    for (int i = 0; i < t->ncol; i++)
        table_add(out, t->col[i].name, "", t->col[i].real ? 'd' : 'q');
    const enum err e = table_room(out, &room, t->n > 0 ? t->n : 1, p->s->path);
    out->n = t->n;
    for (int i = 0; i < t->ncol && e == OK && t->n > 0; i++) {
        const void *from = t->col[i].real ? (const void *)t->col[i].real : t->col[i].whole;
        memcpy(out->column[i].data, from, 8 * (size_t)t->n);
    }
    if (e != OK) ptah_table_free(out);
    return (int)e;
}
