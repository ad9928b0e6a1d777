#include "cool/cool.h"

#include <math.h>

#include "base/mem.h"
#include "cool/ism.h"
#include "cool/table.h"

struct cooling {
    struct cool_par par;
    struct uv_table *uv_table;
    struct cool_table *table;
    struct exact_table *exact;
    struct cool_compared compared;
};

/* Whether the method reads the table of rates. */
static bool has_table(const struct cool_par *p)
{
    return p->method != COOL_EXACT && p->method != COOL_ISM;
}

static bool has_exact(const struct cool_par *p)
{
    return p->method == COOL_EXACT || p->method == COOL_COMPARE;
}

static enum err tables_read(struct cooling *c)
{
    const struct cool_par *p = &c->par;
    if (p->uv.model == UV_TABLE)
        TRY(err_of_param(uv_table_read(p->uv_table, &c->uv_table), "cooling_params/uv_table"));
    if (has_exact(p))
        TRY(err_of_param(exact_read(p->exact_table, &c->exact), "physics_params/grackle_table"));
    return OK;
}

enum err cool_new(const struct cool_par *p, struct cooling **out)
{
    *out = NULL;
    struct cooling *c = mem_zero(sizeof *c, "cooling");
    c->par = *p;
    c->table = mem_zero(sizeof *c->table, "cooling table");
    enum err err = tables_read(c);
    if (err != OK) {
        cool_free(c);
        return err;
    }
    struct uv *uv = &c->par.uv;
    uv->table = c->uv_table;
    if (p->cosmo) uv->z_reion = fmin(1 / (1.1 * p->aexp_ini) - 1, uv->z_reion);
    uv->j_floor = start_floor(&p->mean, uv);
    *out = c;
    return OK;
}

void cool_free(struct cooling *c)
{
    if (!c) return;
    uv_table_free(c->uv_table);
    exact_free(c->exact);
    table_free(&c->table);
    mem_free(c);
}

enum err cool_start_T2(const struct cooling *c, double *T2)
{
    return start_temperature(&c->par.mean, &c->par.uv, c->par.aexp_ini, T2);
}

void cool_set(struct cooling *c, double a)
{
    if (c->exact) exact_set(c->exact, c->par.cosmo ? 1 / a - 1 : 0);
    if (has_table(&c->par) && c->table->aexp != a) table_begin(c->table, &c->par.uv, a);
}

void cool_need(struct cooling *c, double low, double high)
{
    if (has_table(&c->par)) table_need(c->table, low, high);
}

bool cool_recall(struct cooling *c)
{
    const enum cool_method method = c->par.method;
    if (has_table(&c->par) && method != COOL_IMPLICIT) table_recall(c->table);
    return method != COOL_IMPLICIT;
}

struct cool_table *cool_rows_of(struct cooling *c)
{
    return has_table(&c->par) && c->par.method != COOL_IMPLICIT ? c->table : NULL;
}

const struct cool_table *cool_table_of(const struct cooling *c)
{
    return c->table;
}

char *cool_file(const struct cooling *c, double a, size_t *n)
{
    return has_table(&c->par) ? table_file(&c->par.uv, a, n) : NULL;
}

const struct uv *cool_uv(const struct cooling *c)
{
    return &c->par.uv;
}

struct cool_compared cool_take_compared(struct cooling *c)
{
    struct cool_compared r = c->compared;
    c->compared = (struct cool_compared){0};
    return r;
}

static void compare(struct cooling *c, double dt, struct solve_cells *cells)
{
    struct solve_cells other = *cells;
    struct cool_compared r = {.cells = cells->n};
    double before[SOLVE_BLOCK];
    for (int k = 0; k < cells->n; k++) before[k] = cells->T2[k];
    solve_original(c->table, dt, 1, cells);
    solve_exact(c->exact, dt, &other);
    for (int k = 0; k < cells->n; k++) {
        double mine = cells->T2[k], theirs = other.T2[k];
        int64_t off = (int64_t)(1e9 * fmin(fabs(theirs / mine - 1), 1e3));
        r.signs += (mine > before[k]) != (theirs > before[k]);
        r.sum += off;
        if (off > r.max) r.max = off;
    }
#pragma omp critical(cool_compare)
    {
        c->compared.cells += r.cells;
        c->compared.signs += r.signs;
        c->compared.sum += r.sum;
        if (r.max > c->compared.max) c->compared.max = r.max;
    }
}

void cool_cells(struct cooling *c, double dt, struct solve_cells *cells)
{
    switch (c->par.method) {
    case COOL_ORIGINAL:
        solve_original(c->table, dt, 1, cells);
        return;
    case COOL_IMPLICIT:
        solve_implicit(c->table, dt, 1, cells);
        return;
    case COOL_EXACT:
        solve_exact(c->exact, dt, cells);
        return;
    case COOL_COMPARE:
        compare(c, dt, cells);
        return;
    case COOL_ISM:
        solve_ism(c->par.mu, c->par.gamma, dt, cells);
        return;
    }
}
