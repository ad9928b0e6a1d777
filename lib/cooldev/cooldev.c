/* cooldev: see cooldev.h. The table of rates (cool/table.h) has 16 000 nodes, of which the gas of a
 * run reads one or two thousand at an expansion factor. The device has those that cells have asked
 * for: a cell that needs another one stays as it is, asks, and is cooled again when the host has
 * computed and sent it. Nodes that were read at the expansion factor before are sent without being
 * asked for, so that most levels are cooled by one launch. What is sent of a node are the bytes
 * that differ from those of the expansion factor before (kernels.h). */
#include "cooldev/cooldev.h"

#include <string.h>

#include "base/mem.h"
#include "cool/table.h"
#include "cooldev/kernels.h"
#include "oct/field_sets.h"

enum {
    CHUNK = 1024, /* nodes sent at a time */
    SHORT = 31    /* places that come with their number */
};

struct cooldev {
    struct mirror *mirror; /* mirror of the mesh, lent, with its device and stream */
    struct table_node *node;
    int32_t *state, *asked; /* [TABLE_PLACES]; [1 + TABLE_PLACES] (kernels.h) */
    uint32_t *bits;         /* [TABLE_WORDS] */
    unsigned char *parcel;  /* nodes and places on their way */
    struct dev_room left;   /* cells that still have to cool */
    /* [TABLE_NODES] the nodes that the device has, of any expansion factor */
    double (*has)[NODE_NUMBERS];
    double aexp;            /* expansion factor of the nodes on the device; 0: none */
    bool sent[TABLE_NODES]; /* flags of these nodes */
};

/* Where the parts of a parcel of nodes and places begin; their order keeps numbers aligned. */
struct parcel_plan {
    size_t node, place, half, bytes;
};

static struct parcel_plan parcel_plan(int nodes, int places)
{
    struct parcel_plan p = {.node = sizeof(int32_t) *
                                    (size_t)((nodes + NODE_GROUP - 1) / NODE_GROUP)};
    p.place = p.node + sizeof(uint16_t) * (size_t)nodes;
    p.half = p.place + sizeof(uint16_t) * (size_t)places;
    p.bytes = p.half + NODE_HALVES * (size_t)nodes;
    return p;
}

/* The largest parcel. */
static size_t parcel_most(void)
{
    return parcel_plan(CHUNK, TABLE_PLACES).bytes + sizeof(double[CHUNK][NODE_NUMBERS]);
}

_Static_assert(TABLE_PLACES <= UINT16_MAX, "a parcel has places of two bytes");

struct cooldev *cooldev_new(struct mirror *x)
{
    struct cooldev *d = mem_zero(sizeof *d, "device");
    d->mirror = x;
    return d;
}

void cooldev_free(struct cooldev **d)
{
    if (!*d) return;
    struct dev *dev = (*d)->mirror->dev;
    dev_free(dev, (*d)->node);
    dev_free(dev, (*d)->state);
    dev_free(dev, (*d)->asked);
    dev_free(dev, (*d)->bits);
    dev_free(dev, (*d)->parcel);
    FREE((*d)->has);
    dev_free(dev, (*d)->left.p);
    FREE(*d);
}

static enum err room(struct cooldev *d, int64_t cells)
{
    static const char NAME[] = "cooling table";
    struct dev *dev = d->mirror->dev;
    if (!d->node) {
        TRY(dev_new(dev, &d->node, sizeof *d->node * TABLE_NODES, NAME));
        dev_fill(d->mirror->stream, d->node, 0, sizeof *d->node * TABLE_NODES);
        d->has = mem_zero(sizeof *d->has * TABLE_NODES, NAME);
    }
    if (!d->state) TRY(dev_new(dev, &d->state, sizeof *d->state * TABLE_PLACES, NAME));
    if (!d->asked) TRY(dev_new(dev, &d->asked, sizeof *d->asked * (1 + TABLE_PLACES), NAME));
    if (!d->bits) TRY(dev_new(dev, &d->bits, sizeof *d->bits * TABLE_WORDS, NAME));
    if (!d->parcel) TRY(dev_new(dev, &d->parcel, parcel_most(), NAME));
    return dev_room_need(d->mirror->stream, &d->left, (size_t)cells, "cells to cool");
}

/* ---- places and nodes ---- */

struct places {
    int n;
    int32_t at[TABLE_PLACES];
};

/* Computes what belongs to the places. */
static void places_fill(const struct cool_table *t, const struct places *p)
{
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < p->n; k++) {
        if (p->at[k] < TABLE_NODES)
            table_fill(t, p->at[k]);
        else
            table_fill_part(t, p->at[k] - TABLE_NODES);
    }
}

static void node_add(struct cooldev *d, int at, struct places *nodes)
{
    if (!d->sent[at]) nodes->at[nodes->n++] = at;
    d->sent[at] = true;
}

/* Adds the nodes of a place that the device lacks, and all places that exist with it. */
static void place_add(struct cooldev *d, int place, struct places *nodes, struct places *there)
{
    const int first = place < TABLE_NODES ? place : (place - TABLE_NODES) * TABLE_T,
              last = place < TABLE_NODES ? place : first + TABLE_T - 2;
    for (int at = first; at <= last; at++) {
        for (int k = 0; k < 2; k++) {
            node_add(d, at + k, nodes);
            node_add(d, at + k + TABLE_T, nodes);
        }
    }
    there->at[there->n++] = place;
}

/* Writes the differences of a node from what the device has; returns the end of the bytes. */
static unsigned char *node_pack(double has[NODE_NUMBERS], const struct table_node *node,
                                unsigned char half[NODE_HALVES], unsigned char *to)
{
    memset(half, 0, NODE_HALVES);
    for (int r = 0; r < NODE_NUMBERS; r++) {
        const double *x = r < RATE_COUNT ? &node->value[r] : &node->slope[r - RATE_COUNT];
        uint64_t bits, old;
        int n = 0;
        memcpy(&bits, x, sizeof bits);
        memcpy(&old, &has[r], sizeof old);
        has[r] = *x;
        for (bits ^= old; bits != 0; bits >>= 8, n++) *to++ = (unsigned char)bits;
        half[r / 2] |= (unsigned char)(n << 4 * (r % 2));
    }
    return to;
}

/* Sends nodes of the list from `first` on, at most CHUNK, and the places. */
static void parcel_send(struct cooldev *d, const struct cool_table *t, const struct places *nodes,
                        int first, const struct places *there)
{
    struct dev_stream *s = d->mirror->stream;
    const int n = nodes->n - first < CHUNK ? nodes->n - first : CHUNK;
    const struct parcel_plan at = parcel_plan(n, there->n);
    const size_t most = at.bytes + sizeof(double[NODE_NUMBERS]) * (size_t)n;
    unsigned char *p = mem_new(most, "cooling table"), *end = p + at.bytes;
    unsigned char(*half)[NODE_HALVES] = (unsigned char(*)[NODE_HALVES])(p + at.half);
    for (int k = 0; k < n; k++) {
        const int node = nodes->at[first + k];
        if (k % NODE_GROUP == 0) ((int32_t *)p)[k / NODE_GROUP] = (int32_t)(end - (p + at.bytes));
        ((uint16_t *)(p + at.node))[k] = (uint16_t)node;
        end = node_pack(d->has[node], &t->node[0][node], half[k], end);
    }
    for (int k = 0; k < there->n; k++) ((uint16_t *)(p + at.place))[k] = (uint16_t)there->at[k];
    dev_put(s, d->parcel, p, (size_t)(end - p));
    dev_drop_host(s, p);
    const struct table_put_args a = {
        .bytes = d->parcel + at.bytes,
        .half = (const unsigned char(*)[NODE_HALVES])(d->parcel + at.half),
        .first = (const int32_t *)d->parcel,
        .node = (const uint16_t *)(d->parcel + at.node),
        .place = (const uint16_t *)(d->parcel + at.place),
        .nodes = n,
        .places = there->n,
        .to = d->node,
        .state = d->state};
    dev_launch(s, &table_put, dev_blocks(n > there->n ? n : there->n), &a);
}

/* Computes and sends what belongs to the places. */
static void places_send(struct cooldev *d, const struct cool_table *t, const struct places *p)
{
    static const struct places none;
    struct places *nodes = mem_new(2 * sizeof *nodes, "cooling table"), *there = nodes + 1;
    nodes->n = there->n = 0;
    places_fill(t, p);
    for (int k = 0; k < p->n; k++) place_add(d, p->at[k], nodes, there);
    int first = 0;
    for (; nodes->n - first > CHUNK; first += CHUNK) parcel_send(d, t, nodes, first, &none);
    if (there->n > 0) parcel_send(d, t, nodes, first, there);
    FREE(nodes);
}

/* ---- what cells read ---- */

/* Places that were read since the table was begun. */
static enum err reads_get(struct cooldev *d, struct places *p)
{
    uint32_t bits[TABLE_WORDS];
    struct dev_stream *s = d->mirror->stream;
    dev_launch(s, &table_reads, dev_blocks(TABLE_WORDS),
               &(struct table_reads_args){d->state, d->bits});
    dev_get(s, bits, d->bits, sizeof bits);
    TRY(dev_wait(s));
    for (int k = 0; k < TABLE_PLACES; k++)
        if (bits[k / 32] >> k % 32 & 1) p->at[p->n++] = k;
    return OK;
}

/* Begins the table of another expansion factor, with the places that were read in the one before.
 */
static enum err table_follow(struct cooldev *d, const struct cool_table *t)
{
    if (d->aexp == t->aexp) return OK;
    struct places *p = mem_new(sizeof *p, "cooling table");
    p->n = 0;
    enum err err = d->aexp > 0 ? reads_get(d, p) : OK;
    if (err == OK) {
        dev_fill(d->mirror->stream, d->state, 0, sizeof *d->state * TABLE_PLACES);
        memset(d->sent, 0, sizeof d->sent);
        d->aexp = t->aexp;
        places_send(d, t, p);
    }
    FREE(p);
    return err;
}

/* The places that cells have asked for. */
static enum err asked_get(struct cooldev *d, struct places *p)
{
    struct dev_stream *s = d->mirror->stream;
    int32_t first[1 + SHORT];
    dev_get(s, first, d->asked, sizeof first);
    TRY(dev_wait(s));
    p->n = first[0];
    const int few = p->n < SHORT ? p->n : SHORT;
    memcpy(p->at, first + 1, sizeof *p->at * (size_t)few);
    if (p->n == few) return OK;
    dev_get(s, p->at + few, d->asked + 1 + few, sizeof *p->at * (size_t)(p->n - few));
    return dev_wait(s);
}

/* Adds, up to `width` temperatures away, places that cells will ask for as they go on: most cool
 * at constant density. */
static void places_widen(struct places *p, int width)
{
    bool *is = mem_zero(TABLE_PLACES, "cooling table");
    for (int k = 0; k < p->n; k++) {
        const int place = p->at[k], row = place / TABLE_T * TABLE_T, at = place - row;
        is[place] = true;
        for (int y = at - width; y <= at + width && place < TABLE_NODES; y++)
            if (y >= 0 && y <= TABLE_T - 2) is[row + y] = true;
    }
    p->n = 0;
    for (int k = 0; k < TABLE_PLACES; k++)
        if (is[k]) p->at[p->n++] = k;
    mem_free(is);
}

/* Cools all leaves, and again those that ask. Each time the places are wider, so that a path
 * through all temperatures takes eight launches at most. */
static enum err cool(struct cooldev *d, const struct cool_table *t, int64_t blocks,
                     struct gas_cool_args *a)
{
    struct dev_stream *s = d->mirror->stream;
    struct places *p = mem_new(sizeof *p, "cooling table");
    enum err err = table_follow(d, t);
    for (int width = 0; err == OK; width = 2 * width + 1, a->again = true) {
        dev_fill(s, d->asked, 0, sizeof *d->asked);
        dev_launch(s, &gas_cool, blocks, a);
        err = asked_get(d, p);
        if (err != OK || p->n == 0) break;
        places_widen(p, width);
        places_send(d, t, p);
    }
    FREE(p);
    return err;
}

enum err cooldev_apply(struct cooldev *d, struct mesh *m, int l, const struct cooling_law *law,
                       struct cooling *c, enum cool_method method)
{
    struct mirror *x = d->mirror;
    const int64_t cells = 8 * (int64_t)m->lev[l].nown;
    struct gas_cool_args a = {.law = *law, .l = l, .implicit = method == COOL_IMPLICIT};
    if (cells == 0) return OK;
    TRY(mirror_need_set(x, m, l, GAS, LOCATION_DEVICE));
    mirror_send(x, m);
    if (c) TRY(room(d, cells));
    a.mesh = x->mesh_dev;
    a.left = d->left.p;
    a.asked = d->asked;
    if (c) a.table = (struct table_there){d->node, d->state};
    if (c)
        TRY(cool(d, cool_table_of(c), dev_blocks(cells), &a));
    else
        dev_launch(x->stream, &gas_cool, dev_blocks(cells), &a);
    mirror_wrote_set(x, m, l, GAS, LOCATION_DEVICE);
    return OK;
}
