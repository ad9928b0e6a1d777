/* lineage/merger: see merger.h. Outputs are added here; merger_link has the links. */
#include "lineage/merger.h"

#include <string.h>

#include "base/mem.h"
#include "lineage/merger_priv.h"

void merger_groups_free(struct merger_groups *g)
{
    lineage_groups_free(&g->links);
    FREE(g->node);
    FREE(g->member);
    g->nmember = 0;
}

void merger_free(struct mergers *f)
{
    for (int i = 0; i < f->noutput; i++) FREE(f->output[i].path);
    for (int64_t i = 0; i < f->nlost; i++) FREE(f->lost[i].particle);
    FREE(f->output);
    FREE(f->node);
    FREE(f->tree);
    FREE(f->by_depth);
    FREE(f->lost);
    lineage_groups_free(&f->earlier);
}

/* ---- one output ---- */

static void append(struct mergers *f, struct merger_output *o, const struct merger_groups *g)
{
    f->output = mem_grow(f->output, sizeof *f->output * (size_t)(f->noutput + 1), "trees: outputs");
    const int64_t n = g->links.n;
    o->first = f->n, o->n = n;
    if (f->n + n > f->room) {
        f->room = 2 * f->room + n;
        f->node = mem_grow(f->node, sizeof *f->node * (size_t)f->room, "trees");
    }
    for (int64_t i = 0; i < n; i++) {
        struct merger_node *to = &f->node[f->n++];
        *to = g->node[i];
        if (to->within >= 0) to->within += o->first;
        to->output = f->noutput;
        to->descendant = -1;
        to->main = false;
    }
    f->output[f->noutput++] = *o;
    o->path = NULL;
}

/* Lists the tracers of the last output, then those of the lost groups. */
static int64_t *list_sought(const struct mergers *f, int64_t *n)
{
    const int64_t adjacent = f->earlier.n ? f->earlier.first[f->earlier.n] : 0;
    *n = adjacent;
    for (int64_t i = 0; i < f->nlost; i++) *n += f->lost[i].n;
    int64_t *id = mem_new(sizeof *id * (size_t)*n + 1, "trees: ids"), *to = id + adjacent;
    if (adjacent) memcpy(id, f->earlier.particle, sizeof *id * (size_t)adjacent);
    for (int64_t i = 0; i < f->nlost; to += f->lost[i++].n)
        memcpy(to, f->lost[i].particle, sizeof *id * (size_t)f->lost[i].n);
    return id;
}

void merger_add(struct mergers *f, const struct comm *c, struct merger_output *o,
                struct merger_groups *g)
{
    int64_t n;
    int64_t *id = list_sought(f, &n);
    int64_t *place = mem_new(sizeof *place * (size_t)n + 1, "trees: ids");
    f->doubles += merger_seek(c, g, n, id, place);
    append(f, o, g);
    if (c->rank == 0 && f->noutput > 1) merger_link(f, &g->links, place);
    FREE(place);
    FREE(id);
    lineage_groups_free(&f->earlier);
    f->earlier = g->links;
    g->links = (struct lineage_groups){.n = 0};
    merger_groups_free(g);
}
