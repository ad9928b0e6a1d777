/* grid: the header of a checkpoint: its fields, keys and their names. */
#include "grid/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grid/priv.h"

void grid_set(struct grid_head *h, const char *key, double value)
{
    int i = 0;
    while (i < h->nkey && strcmp(h->key[i], key) != 0) i++;
    BUG_ON(i == GRID_KEYS || strlen(key) >= GRID_NAME);
    if (i == h->nkey) {
        memset(h->key[i], 0, GRID_NAME); /* these bytes are in the file */
        memcpy(h->key[h->nkey++], key, strlen(key));
    }
    h->value[i] = value;
}

bool grid_get(const struct grid_head *h, const char *key, double *value)
{
    for (int i = 0; i < h->nkey; i++)
        if (strcmp(h->key[i], key) == 0) {
            *value = h->value[i];
            return true;
        }
    return false;
}

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

static enum err check_names(const char *file, const char *what, int n,
                            const char (*name)[GRID_NAME])
{
    for (int i = 0; i < n; i++) {
        size_t k = strnlen(name[i], GRID_NAME);
        if (k == 0 || k == GRID_NAME || name[i][0] < 'a' || name[i][0] > 'z' ||
            strspn(name[i], "abcdefghijklmnopqrstuvwxyz0123456789_") != k)
            FAIL(ERR_FORMAT, "%s: /header: name %d of the %s is not a word of lower-case letters",
                 file, i + 1, what);
        for (int j = 0; j < i; j++)
            if (strcmp(name[i], name[j]) == 0)
                FAIL(ERR_FORMAT, "%s: /header: two of the %s have the name %s", file, what,
                     name[i]);
    }
    return OK;
}

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
    if (h->it < 0)
        FAIL(ERR_FORMAT, "%s: /header: it is %ld, expected 0 or more", file, (long)h->it);
    if (!isfinite(h->t)) FAIL(ERR_FORMAT, "%s: /header: t is %g", file, h->t);
    if (!(h->dt >= 0 && isfinite(h->dt)))
        FAIL(ERR_FORMAT, "%s: /header: dt is %g, expected 0 or more", file, h->dt);
    if (h->order < 2 || h->order > 8 || h->order % 2)
        FAIL(ERR_FORMAT, "%s: /header: order is %d, expected 2, 4, 6 or 8", file, h->order);
    if (h->nfield < 1 || h->nfield > GRID_FIELDS)
        FAIL(ERR_FORMAT, "%s: /header: has %d fields, expected 1 to %d", file, h->nfield,
             GRID_FIELDS);
    TRY(check_names(file, "fields", h->nfield, h->field));
    TRY(check_names(file, "keys", h->nkey, h->key));
    for (int i = 0; i < h->nkey; i++)
        if (isnan(h->value[i]))
            FAIL(ERR_FORMAT, "%s: /header: %s is not a number", file, h->key[i]);
    return OK;
}
