#include "out/out.h"

#include <stdio.h>
#include <unistd.h>

#include "base/sum.h"
#include "ckpt/files.h"
#include "io/dir.h"
#include "io/file.h"
#include "out/tidy.h"

void out_count(struct ckpt_out *o)
{
    const struct parts *p = o->p;
    int n = o->nlevel + 1;
    for (int l = 1; l <= o->nlevel; l++) o->total[l] = o->min[l] = o->max[l] = o->m->lev[l].nown;
    comm_add_i64(o->c, o->total, n);
    comm_min_i64(o->c, o->min, n);
    comm_max_i64(o->c, o->max, n);
    comm_max_i64(o->c, &o->ngridmax, 1);
    if (!o->h->particles) return;
    int64_t span[2] = {0, 0};
    struct sum stars;
    sum_init(&stars);
    for (int64_t i = 0; i < p->n; i++) {
        o->family[family_row(p->family[i])]++;
        out_span(span, p->id[i]);
        if (p->family[i] == FAM_STAR) sum_add(&stars, p->m[i]);
    }
    comm_add_i64(o->c, o->family, FAMILIES);
    comm_max_i64(o->c, span, 2);
    comm_sum(o->c, &stars);
    o->star_mass = sum_get(&stars);
    o->wide_ids = o->h->longint || out_is_wide(span);
}

struct stars_formed out_formed(const struct ckpt_out *o)
{
    struct stars_formed present = {.number = o->family[family_row(FAM_STAR)], .mass = o->star_mass};
    const struct ckpt_rest *rest = o->h->rest;
    return rest && rest->formed.number >= present.number ? rest->formed : present;
}

bool out_has(const struct ckpt_out *o, int c)
{
    bool old = o->h->legacy & CKPT_BEFORE_2017;
    /* positions and velocities of existing dimensions only */
    if (c < COL_MASS && c % 3 >= o->h->ndim) return false;
    return o->columns && o->columns->has[c] && !(old && (c == COL_FAMILY || c == COL_TAG));
}

char out_type(const struct ckpt_out *o, int c)
{
    return c == COL_ID && !o->wide_ids ? 'i' : part_column(o->columns, c)->type;
}

enum err out_begin(struct ckpt_out *o)
{
    tidy_hold();
    enum err err = dir_take(o->tmp, files_may_go, &o->lock);
    tidy_let(err == OK ? o->tmp : "");
    TRY(err);
    err = dir_may_remove(o->final);
    if (!o->h->overwrite && file_exists(o->final))
        err = err_set(ERR_FILE, "%s: exists already; --force replaces it", o->final);
    if (err != OK) out_drop(o->tmp, &o->lock, err);
    return err;
}

static void let_go(int *lock)
{
    if (*lock >= 0) close(*lock);
    *lock = -1;
}

enum err out_finish(struct ckpt_out *o)
{
    TRY(dir_sync(o->tmp));
    tidy_hold();
    enum err err = dir_replace(o->tmp, o->final);
    tidy_let(err == OK ? "" : o->tmp);
    TRY(err);
    let_go(&o->lock);
    return OK;
}

void out_drop(const char *tmp, int *lock, enum err why)
{
    char message[1024];
    if (*lock < 0) return; /* this process did not create it */
    snprintf(message, sizeof message, "%s", err_message());
    tidy_hold();
    enum err left = dir_remove(tmp); /* remaining files are removed by the next attempt */
    tidy_let("");
    (void)left;
    let_go(lock);
    err_set(why, "%s", message);
}

void out_name_tmp(struct ckpt_out *o)
{
    snprintf(o->tmp, sizeof o->tmp, "%.3970s%s", o->final, DIR_TMP);
}

enum err out_name(struct ckpt_out *o, const char *dir, int number)
{
    o->output = number;
    o->nlevel = o->h->levelmax;
    o->lock = -1;
    o->fields = fields_written(ckpt_kind(o->h, o->h->hydro ? o->h->nvar : 0));
    BUG_ON(o->nlevel > LEVEL_MAX || (o->m && o->m->levelmax > o->nlevel));
    if (snprintf(o->final, sizeof o->final, "%s/output_%05d", dir, number) + 24 >
        (int)sizeof o->final)
        FAIL(ERR_FILE, "%.80s…: the path is too long", dir);
    out_name_tmp(o);
    if (number < 0 || number > 99999)
        FAIL(ERR_LIMIT, "%s: output number %d has more than five digits", dir, number);
    return OK;
}
