/* clump: see clump.h and docs/method/clumps.md. */
#include "clump/clump.h"

#include <string.h>

#include "base/mem.h"
#include "clump/priv.h"

/* Finds peaks, clumps and halos. */
static enum err find(struct finder *f)
{
    TRY(patch_find(f));
    patch_saddles(f);
    list_number(f);
    merge_irrelevant(f);
    measure_clumps(f);
    merge_halos(f);
    measure_halos(f);
    return OK;
}

static void finder_close(struct finder *f)
{
    for (int l = 0; l < LEVEL_MAX + 2; l++) FREE(f->label[l]);
    FREE(f->cell);
    FREE(f->peak);
    FREE(f->saddle);
}

enum err clump_find(const struct clump_par *par, const struct clump_field *field,
                    const struct mesh *m, const struct parts *p, const struct domain *d,
                    const struct comm *c, struct clumps *out)
{
    struct finder f = {.par = par, .f = field, .m = m, .p = p, .d = d, .c = c, .out = out};
    memset(out, 0, sizeof *out);
    enum err err = find(&f);
    if (err == OK && par->unbind.on) unbind(&f);
    if (err == OK) list_make(&f);
    finder_close(&f);
    return err;
}

enum err clump_find_cores(const struct clump_par *par, const struct clump_field *field,
                          const struct clump_core_par *core, const struct mesh *m,
                          const struct domain *d, const struct comm *c, struct clump_cores *out)
{
    struct clumps total = {0};
    struct finder f = {.par = par, .f = field, .m = m, .d = d, .c = c, .out = &total};
    memset(out, 0, sizeof *out);
    enum err err = find(&f);
    if (err == OK) cores_make(&f, core, out);
    finder_close(&f);
    return err;
}

void clumps_free(struct clumps *k)
{
    FREE(k->at);
    FREE(k->member);
    k->n = k->nmember = 0;
}
