/* cooldev: see cooldev.h. The host computes the parts of the table of rates (cool/table.h) that gas
 * of a level needs for the first time at this expansion factor; each part is sent once. */
#include "cooldev/cooldev.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cooldev/kernels.h"
#include "oct/field_sets.h"

enum { BLOCKS = 1024 };

struct cooldev {
    struct mirror *mirror; /* mirror of the mesh, lent, with its device and stream */
    struct table_node *node;
    double (*range)[2];     /* [BLOCKS] density ranges of the blocks */
    double aexp;            /* expansion factor of the parts on the device */
    bool sent[TABLE_PARTS]; /* flags of the parts on the device */
};

struct cooldev *cooldev_new(struct mirror *x)
{
    struct cooldev *d = mem_zero(sizeof *d, "device");
    d->mirror = x;
    return d;
}

void cooldev_free(struct cooldev **d)
{
    if (!*d) return;
    dev_free((*d)->mirror->dev, (*d)->node);
    dev_free((*d)->mirror->dev, (*d)->range);
    FREE(*d);
}

/* ---- the table ---- */

static enum err room(struct cooldev *d)
{
    struct dev *dev = d->mirror->dev;
    if (!d->range) TRY(dev_new(dev, &d->range, sizeof *d->range * BLOCKS, "cooling table"));
    if (d->node) return OK;
    return dev_new(dev, &d->node, sizeof *d->node * TABLE_N * TABLE_T, "cooling table");
}

/* Minimum and maximum density of the leaves of the level. */
static enum err range_find(struct cooldev *d, const struct mesh *m, int l,
                           const struct cooling_law *law, double *low, double *high)
{
    double range[BLOCKS][2];
    struct mirror *x = d->mirror;
    int64_t blocks = dev_blocks(8 * (int64_t)m->lev[l].nown);
    if (blocks > BLOCKS) blocks = BLOCKS;
    dev_launch(x->stream, &gas_range, blocks,
               &(struct gas_range_args){x->mesh_dev, *law, l, d->range});
    dev_get(x->stream, range, d->range, sizeof *range * (size_t)blocks);
    TRY(dev_wait(x->stream));
    *low = HUGE_VAL;
    *high = 0;
    for (int64_t i = 0; i < blocks; i++) {
        *low = fmin(*low, range[i][0]);
        *high = fmax(*high, range[i][1]);
    }
    return OK;
}

/* Sends the parts computed since the last call. The stream is empty, so no part in transit is
 * overwritten; parts on the device stay valid until the next expansion factor. */
static void parts_send(struct cooldev *d, const struct cool_table *t)
{
    const size_t row = sizeof t->node[0];
    if (d->aexp != t->aexp) memset(d->sent, 0, sizeof d->sent);
    d->aexp = t->aexp;
    for (int part = 0; part < TABLE_PARTS; part++) {
        if (!t->made[part] || d->sent[part]) continue;
        int first = part * TABLE_PART,
            end = first + TABLE_PART < TABLE_N ? first + TABLE_PART : TABLE_N;
        dev_put(d->mirror->stream, d->node + first * TABLE_T, t->node[first],
                row * (size_t)(end - first));
        d->sent[part] = true;
    }
}

enum err cooldev_apply(struct cooldev *d, struct mesh *m, int l, const struct cooling_law *law,
                       struct cooling *c, enum cool_method method)
{
    double low, high;
    struct mirror *x = d->mirror;
    if (m->lev[l].nown == 0) return OK;
    TRY(mirror_need_set(x, m, l, GAS, LOCATION_DEVICE));
    mirror_send(x, m);
    if (c) {
        TRY(room(d));
        TRY(range_find(d, m, l, law, &low, &high));
        if (high > 0)
            cool_need(c, vec_first(cooling_seen(law, vec_of(low * law->hydrogen))),
                      vec_first(cooling_seen(law, vec_of(high * law->hydrogen))));
        parts_send(d, cool_table_of(c));
    }
    dev_launch(
        x->stream, &gas_cool, dev_blocks(8 * (int64_t)m->lev[l].nown),
        &(struct gas_cool_args){x->mesh_dev, *law, l, method == COOL_IMPLICIT, c ? d->node : NULL});
    mirror_wrote_set(x, m, l, GAS, LOCATION_DEVICE);
    return OK;
}
