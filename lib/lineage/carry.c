/* lineage/carry: what is remembered from output to output: merged groups and peak masses. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "lineage/link.h"

void lineage_groups_make(struct lineage_groups *g, int64_t n, int64_t particles)
{
    *g = (struct lineage_groups){
        .n = n,
        .id = mem_new(sizeof *g->id * (size_t)n + 1, "lineage"),
        .mass = mem_new(sizeof *g->mass * (size_t)n + 1, "lineage"),
        .peak = mem_new(sizeof *g->peak * (size_t)n + 1, "lineage"),
        .first = mem_new(sizeof *g->first * (size_t)(n + 1), "lineage"),
        .particle = mem_new(sizeof *g->particle * (size_t)particles + 1, "lineage")};
    g->first[0] = 0;
}

void lineage_groups_free(struct lineage_groups *g)
{
    FREE(g->id);
    FREE(g->mass);
    FREE(g->peak);
    FREE(g->noise);
    FREE(g->first);
    FREE(g->particle);
    g->n = 0;
}

void lineage_past_free(struct lineage_past *p)
{
    FREE(p->at);
    p->n = p->room = 0;
}

MEM_ORDER2(order_galaxy, struct lineage_merged, galaxy, output)

void lineage_past_sort(struct lineage_past *past)
{
    mem_sort(past->at, (size_t)past->n, sizeof *past->at, order_galaxy);
}

/* Removes past progenitors that were found again, too old ones, and those whose galaxy is that of
 * a group which has merged since. The list is sorted by galaxy, then by output. */
static void forget(const struct lineage_par *par, int output, struct lineage_past *past)
{
    int64_t n = 0;
    for (int64_t i = 0; i < past->n; i++) {
        struct lineage_merged *m = &past->at[i];
        bool again = i + 1 < past->n && past->at[i + 1].galaxy == m->galaxy;
        bool old = par->max_past > 0 && output - m->output > par->max_past;
        if (m->output >= 0 && !again && !old) past->at[n++] = *m;
    }
    past->n = n;
}

static void raise_peaks(const struct lineage_groups *earlier, struct lineage_groups *later,
                        const struct lineage_links *k, const struct lineage_past *past)
{
    for (int64_t b = 0; b < later->n; b++) {
        int64_t a = k->progenitor[b], jumped = k->jumped[b];
        double was = a >= 0 ? earlier->peak[a] : jumped >= 0 ? past->at[jumped].peak : 0;
        later->peak[b] = fmax(later->peak[b], was);
    }
}

void lineage_carry(const struct lineage_par *par, const struct lineage_groups *earlier,
                   struct lineage_groups *later, const struct lineage_links *k,
                   struct lineage_past *past)
{
    raise_peaks(earlier, later, k, past);
    for (int64_t b = 0; b < later->n; b++)
        if (k->jumped[b] >= 0) past->at[k->jumped[b]].output = -1;
    for (int64_t a = 0; a < earlier->n; a++) {
        bool lost = k->descendant[a] < 0;
        if (!k->merged[a] || (lost && !par->keep_lost)) continue;
        if (earlier->first[a] == earlier->first[a + 1]) continue;
        MEM_ROOM(past->at, past->n, past->room, 16, "lineage");
        past->at[past->n++] = (struct lineage_merged){
            .id = earlier->id[a],
            .output = earlier->output,
            .galaxy = earlier->particle[earlier->first[a]],
            .mass = earlier->mass[a],
            .peak = earlier->peak[a]};
    }
    lineage_past_sort(past);
    forget(par, later->output, past);
}
