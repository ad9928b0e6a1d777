/* param/compare: compares the parameters of two runs. */
#include <ctype.h>
#include <string.h>

#include "param/row.h"

/* Number of elements used in both runs. */
static int elements(const struct params *was, const struct params *is, const struct param_row *row)
{
    int n = row->n1, levels = PARAM_LEVELS;
    const struct params *both[] = {was, is};
    bool by_level = strcmp(row->group, "run") == 0 || strcmp(row->group, "amr") == 0 ||
                    strcmp(row->group, "refine") == 0;
    for (int k = 0; k < 2; k++) {
        int here = both[k]->amr.levelmax - both[k]->amr.levelmin + 1;
        if (here < levels) levels = here;
    }
    if (row->array && by_level && n == PARAM_LEVELS) return levels > 0 ? levels : 0;
    if (row->array && strcmp(row->group, "boundary") == 0)
        return was->boundary.nboundary < is->boundary.nboundary ? was->boundary.nboundary
                                                                : is->boundary.nboundary;
    return n;
}

static bool is_same(const struct param_row *row, const void *a, const void *b)
{
    if (row->kind == PARAM_TEXT) return strcmp(a, b) == 0;
    if (row->kind == PARAM_REAL) return *(const double *)a == *(const double *)b;
    return memcmp(a, b, param_element_size(row)) == 0;
}

static void compare_row(const struct params *was, const struct params *is,
                        const struct param_row *row, param_change_fn *fn, void *ctx)
{
    char old[PARAM_VALUE], new[PARAM_VALUE], index[32] = "";
    int n = elements(was, is, row);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < row->n2; j++) {
            const void *a = param_element_const(was, row, i, j),
                       *b = param_element_const(is, row, i, j);
            if (is_same(row, a, b)) continue;
            struct param_change c = {.was = param_value_text(row, a, old),
                                     .is = param_value_text(row, b, new),
                                     .model = row->effect == PARAM_MODEL};
            if (row->n2 > 1)
                snprintf(index, sizeof index, "(%d,%d)", i + row->base, j + 1);
            else if (row->array)
                snprintf(index, sizeof index, "(%d)", i + row->base);
            snprintf(c.name, sizeof c.name, "%s/%s%s", param_group_find(row->group, true)->namelist,
                     row->name, index);
            for (char *t = c.name; *t; t++) *t = (char)tolower((unsigned char)*t);
            fn(ctx, &c);
            return;
        }
}

enum { SOME = 2 }; /* number of ranks, which does not affect a restart */

void param_compare(const struct params *was, const struct params *is, param_change_fn *fn,
                   void *ctx)
{
    const char *why;
    for (int i = 0; i < PARAM_ROWS; i++) {
        const struct param_row *row = param_row_at(i);
        bool counts = row->effect != PARAM_LOCATION && row->status != PARAM_HARMLESS &&
                      (param_holds(was, row->when, SOME) || param_holds(is, row->when, SOME));
        if (counts && param_group_read(was, row->group, &why) &&
            param_group_read(is, row->group, &why))
            compare_row(was, is, row, fn, ctx);
    }
}
