/* cool: see cool.h. */
#include "cool/cool.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

struct cooling {
    struct cool_par par;
    struct uv_table *uv_table;
    struct cool_table *table;
};

enum err cool_new(const struct cool_par *p, struct cooling **out)
{
    *out = NULL;
    struct cooling *c = mem_zero(sizeof *c, "cooling");
    c->par = *p;
    c->table = mem_zero(sizeof *c->table, "cooling table");
    if (p->uv.model == UV_TABLE) {
        enum err err = uv_table_read(p->uv_table, &c->uv_table);
        if (err != OK) {
            cool_free(c);
            return err;
        }
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
    mem_free(c->table);
    mem_free(c);
}

enum err cool_start_T2(const struct cooling *c, double *T2)
{
    return start_temperature(&c->par.mean, &c->par.uv, c->par.aexp_ini, T2);
}

void cool_set(struct cooling *c, double a)
{
    if (c->table->aexp != a) table_make(c->table, &c->par.uv, a);
}

const struct cool_table *cool_table_of(const struct cooling *c)
{
    return c->table;
}

void cool_cells(const struct cooling *c, double dt, struct solve_cells *cells)
{
    switch (c->par.method) {
    case COOL_ORIGINAL:
        solve_original(c->table, dt, 1, cells);
        return;
    case COOL_IMPLICIT:
        solve_implicit(c->table, dt, 1, cells);
        return;
    }
}
