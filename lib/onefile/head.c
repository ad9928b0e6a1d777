/* onefile/head: the numbers of a header and their names. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "onefile/onefile.h"

void onefile_set(struct onefile_keys *k, const char *name, double value)
{
    int i = 0;
    while (i < k->n && strcmp(k->name[i], name) != 0) i++;
    BUG_ON(i == ONEFILE_KEYS || strlen(name) >= ONEFILE_NAME);
    if (i == k->n) {
        memset(k->name[i], 0, ONEFILE_NAME); /* these bytes are in the file */
        memcpy(k->name[k->n++], name, strlen(name));
    }
    k->value[i] = value;
}

bool onefile_get(const struct onefile_keys *k, const char *name, double *value)
{
    for (int i = 0; i < k->n; i++)
        if (strcmp(k->name[i], name) == 0) {
            *value = k->value[i];
            return true;
        }
    return false;
}

bool onefile_same_keys(const struct onefile_keys *a, const struct onefile_keys *b)
{
    bool same = a->n == b->n;
    for (int i = 0; i < a->n; i++) {
        double x;
        same &= onefile_get(b, a->name[i], &x) && x == a->value[i];
    }
    return same;
}

/* ---- outputs to come ---- */

static const char NEXT_TIME[] = "next_tout", NEXT_LISTED[] = "next_iout",
                  NEXT_NUMBER[] = "next_ifout";

void onefile_set_next(struct onefile_keys *k, const struct ckpt_head *h)
{
    if (h->tout_next < 1e300) onefile_set(k, NEXT_TIME, h->tout_next);
    onefile_set(k, NEXT_LISTED, h->iout);
    onefile_set(k, NEXT_NUMBER, h->ifout);
}

static void get_count(const struct onefile_keys *k, const char *name, int *count)
{
    double x;
    if (onefile_get(k, name, &x)) *count = (int)fmin(fmax(x, 0), INT_MAX);
}

void onefile_get_next(const struct onefile_keys *k, struct ckpt_head *h)
{
    onefile_get(k, NEXT_TIME, &h->tout_next);
    get_count(k, NEXT_LISTED, &h->iout);
    get_count(k, NEXT_NUMBER, &h->ifout);
}

/* ---- checks ---- */

enum err onefile_check_names(const char *file, const char *what, int n,
                             const char (*name)[ONEFILE_NAME])
{
    for (int i = 0; i < n; i++) {
        size_t k = strnlen(name[i], ONEFILE_NAME);
        if (k == 0 || k == ONEFILE_NAME || name[i][0] < 'a' || name[i][0] > 'z' ||
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

enum err onefile_check_head(const struct onefile_head *h, const char *file)
{
    if (h->it < 0)
        FAIL(ERR_FORMAT, "%s: /header: it is %ld, expected 0 or more", file, (long)h->it);
    if (!isfinite(h->t)) FAIL(ERR_FORMAT, "%s: /header: t is %g", file, h->t);
    if (!(h->dt >= 0 && isfinite(h->dt)))
        FAIL(ERR_FORMAT, "%s: /header: dt is %g, expected 0 or more", file, h->dt);
    TRY(onefile_check_names(file, "keys", h->keys->n, h->keys->name));
    for (int i = 0; i < h->keys->n; i++)
        if (isnan(h->keys->value[i]))
            FAIL(ERR_FORMAT, "%s: /header: %s is not a number", file, h->keys->name[i]);
    return OK;
}
