/* stellar/table: stellar objects in checkpoints: the columns of RAMSES, and two for exact restarts.
 */
#include <math.h>

#include "base/log.h"
#include "base/mem.h"
#include "stellar/stellar.h"

/* Names as in catalogs (ckpt/catalog.h). */
static const struct column {
    const char *name;
    size_t offset;
    bool whole, needed;
} COLUMN[] = {{"identity", offsetof(struct stellar_object, sink), true, true},
              {"mass", offsetof(struct stellar_object, mass), false, true},
              {"birth_time", offsetof(struct stellar_object, birth), false, true},
              {"tlife", offsetof(struct stellar_object, life), false, true},
              {"born_in", offsetof(struct stellar_object, born_in), true, false},
              {"number", offsetof(struct stellar_object, number), true, false}};
enum { COLUMNS = sizeof COLUMN / sizeof *COLUMN };

enum err stellar_store(const struct stellar *k, struct catalog *t)
{
    if (!k) return OK;
    catalog_free(t);
    *t = (struct catalog){.n = k->n, .from = "stellar objects"};
    for (int c = 0; c < COLUMNS; c++) {
        const struct column *from = &COLUMN[c];
        struct catalog_column *to;
        TRY(catalog_add(t, "stellar objects", from->name, !from->whole, &to));
        for (int64_t i = 0; i < k->n; i++) {
            const char *at = (const char *)&k->at[i] + from->offset;
            if (from->whole)
                to->whole[i] = *(const int64_t *)at;
            else
                to->real[i] = *(const double *)at;
        }
    }
    return OK;
}

/* ---- restart ---- */

static void take_column(struct stellar *k, const struct column *to, const struct catalog_column *c)
{
    for (int64_t i = 0; i < k->n; i++) {
        char *at = (char *)&k->at[i] + to->offset;
        if (to->whole)
            *(int64_t *)at = c->whole ? c->whole[i] : (int64_t)c->real[i];
        else
            *(double *)at = c->real ? c->real[i] : (double)c->whole[i];
    }
}

struct location {
    int64_t sink, at;
};
MEM_ORDER2(location_order, struct location, sink, at)

/* RAMSES's files have no numbers: objects of a sink are counted in the order of the file. */
static void count_numbers(struct stellar *k)
{
    struct location *by = mem_new(sizeof *by * (size_t)k->n + 1, "stellar objects");
    int64_t number = 0;
    for (int64_t i = 0; i < k->n; i++) by[i] = (struct location){k->at[i].sink, i};
    mem_sort(by, (size_t)k->n, sizeof *by, location_order);
    for (int64_t i = 0; i < k->n; i++) {
        number = i > 0 && by[i].sink == by[i - 1].sink ? number + 1 : 0;
        k->at[by[i].at].born_in = by[i].sink;
        k->at[by[i].at].number = number;
    }
    FREE(by);
}

static enum err check_object(const char *path, int64_t row, const struct stellar_object *o)
{
    bool good = o->mass > 0 && isfinite(o->mass) && isfinite(o->birth) && o->life >= 0 &&
                isfinite(o->life) && o->sink > 0 && o->born_in > 0 && o->number >= 0;
    if (!good)
        FAIL(
            ERR_FORMAT,
            "%s: stellar object %ld, of sink %ld, mass %g, birth %g and lifetime %g, needs a sink, "
            "a mass above 0 and finite times: the file is damaged",
            path, (long)row + 1, (long)o->sink, o->mass, o->birth, o->life);
    return OK;
}

static enum err take_all(struct stellar *k, const struct catalog *t, const char *path)
{
    bool numbered = catalog_find(t, "born_in") && catalog_find(t, "number");
    stellar_add(k, t->n);
    for (int c = 0; c < COLUMNS; c++) {
        const struct catalog_column *from = catalog_find(t, COLUMN[c].name);
        if (!from && COLUMN[c].needed)
            FAIL(ERR_FORMAT, "%s: its stellar objects have no column %s", path, COLUMN[c].name);
        if (from) take_column(k, &COLUMN[c], from);
    }
    if (!numbered) count_numbers(k);
    for (int64_t i = 0; i < k->n; i++) TRY(check_object(path, i, &k->at[i]));
    return OK;
}

/* The next object of a sink has a number of its own. */
static void count_made(const struct sink_run *s, const struct stellar *k)
{
    for (int64_t i = 0; i < k->n; i++) {
        struct sink *a = sinks_find(&s->sinks->table, k->at[i].born_in);
        if (a && k->at[i].number >= a->made) a->made = k->at[i].number + 1;
    }
}

enum err stellar_restore(const struct sink_run *s, struct stellar *k, const struct catalog *t,
                         const char *path)
{
    int64_t max = s->par->stellar.nstellarmax;
    char file[600];
    if (!k || t->n == 0) return OK;
    snprintf(file, sizeof file, "%.400s: %.128s", path, t->from);
    if (t->n > max)
        FAIL(ERR_PARAM,
             "%s has %ld stellar objects, more than nstellarmax=%ld: raise nstellarmax in "
             "&STELLAR_PARAMS",
             file, (long)t->n, (long)max);
    TRY(take_all(k, t, file));
    count_made(s, k);
    log_info(" %ld stellar objects", (long)k->n);
    return OK;
}
