/* grid: the header of a checkpoint: its fields, keys and their names. */
#include "grid/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grid/priv.h"

int grid_field(const struct grid_head *h, const char *name)
{
    for (int i = 0; i < h->nfield; i++)
        if (strcmp(h->field[i], name) == 0) return i;
    return -1;
}

bool grid_is_component(const struct grid_head *h, int field, char prefix[GRID_NAME])
{
    char name[GRID_NAME];
    size_t n = strlen(h->field[field]);
    if (n < 2 || !strchr("xyz", h->field[field][n - 1])) return false;
    memcpy(name, h->field[field], n + 1);
    for (const char *axis = "xyz"; *axis; axis++) {
        name[n - 1] = *axis;
        if (grid_field(h, name) < 0) return false;
    }
    name[n - 1] = 0;
    memcpy(prefix, name, n);
    return grid_field(h, name) < 0; /* a group and a dataset cannot have one name */
}

void grid_dataset(const struct grid_head *h, int number, int field, char path[96])
{
    char prefix[GRID_NAME];
    const char *name = h->field[field];
    if (grid_is_component(h, field, prefix))
        snprintf(path, 96, "data/%d/fields/%s/%s", number, prefix, name + strlen(prefix));
    else
        snprintf(path, 96, "data/%d/fields/%s", number, name);
}

/* ---- checks ---- */

static enum err check_mesh(const struct grid_head *h, const char *file)
{
    double cells = 1;
    for (int d = 0; d < 3; d++) {
        cells *= (double)h->n[d];
        if (h->n[d] < 1 || h->n[d] > INT32_MAX)
            FAIL(ERR_FORMAT, "%s: /header: n%c is %ld, expected 1 to %d", file, 'x' + d,
                 (long)h->n[d], INT32_MAX);
        if (!(h->length[d] > 0 && isfinite(h->length[d])))
            FAIL(ERR_FORMAT, "%s: /header: l%c is %g, expected a positive number", file, 'x' + d,
                 h->length[d]);
    }
    if (cells > 1e15) FAIL(ERR_FORMAT, "%s: /header: has %g cells, too many", file, cells);
    return OK;
}

enum err grid_check_head(const struct grid_head *h, const char *file)
{
    TRY(check_mesh(h, file));
    if (h->order < 2 || h->order > 8 || h->order % 2)
        FAIL(ERR_FORMAT, "%s: /header: order is %d, expected 2, 4, 6 or 8", file, h->order);
    if (h->nfield < 1 || h->nfield > GRID_FIELDS)
        FAIL(ERR_FORMAT, "%s: /header: has %d fields, expected 1 to %d", file, h->nfield,
             GRID_FIELDS);
    TRY(onefile_check_names(file, "fields", h->nfield, h->field));
    const struct onefile_head common = grid_common(h);
    return onefile_check_head(&common, file);
}
