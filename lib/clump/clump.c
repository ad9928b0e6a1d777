/* clump: see clump.h and docs/method/clumps.md. */
#include "clump/clump.h"

#include <string.h>

#include "base/mem.h"
#include "clump/priv.h"

static enum err find(struct finder *f)
{
    TRY(patch_find(f));
    patch_edges(f);
    list_number(f);
    merge_irrelevant(f);
    measure_clumps(f);
    merge_halos(f);
    measure_halos(f);
    if (f->par->unbind.on) unbind(f);
    list_make(f);
    return OK;
}

enum err clump_find(const struct clump_par *par, const struct clump_field *field,
                    const struct mesh *m, const struct parts *p, const struct domain *d,
                    const struct comm *c, struct clumps *out)
{
    struct finder f = {.par = par, .f = field, .m = m, .p = p, .d = d, .c = c, .out = out};
    memset(out, 0, sizeof *out);
    enum err err = find(&f);
    for (int l = 0; l < LEVEL_MAX + 2; l++) FREE(f.label[l]);
    FREE(f.cell);
    FREE(f.peak);
    FREE(f.edge);
    return err;
}

void clumps_free(struct clumps *k)
{
    FREE(k->at);
    k->n = 0;
}
