/* lineage/merger_link: the links of an output to the one before (lineage/link), and to groups that
 * were lost or had merged and are found again. On rank 0.
 *
 * A group is found again if at least half of its tracers are in one group. If that group has no
 * progenitor in the output before, the two are matched as those of successive outputs are, and a
 * merger that was recorded before is revoked. If it has one, a lost group has merged into it. */
#include <string.h>

#include "base/mem.h"
#include "lineage/merger_priv.h"

/* The lost groups against the groups of the last output. */
struct search {
    struct mergers *f;
    const struct lineage_groups *later;
    const int64_t *place; /* rows of the groups that have the tracers of the lost groups */
    int64_t *best;        /* [f->nlost] row of the group with half of the tracers; −1: none */
    bool *orphan;         /* [later->n] true for a group without progenitor */
    bool *done;           /* [f->nlost] true if the lost group needs no further search */
};

static struct merger_output *last_output(const struct mergers *f)
{
    return &f->output[f->noutput - 1];
}

static struct merger_node *node_of(const struct search *q, int64_t lost)
{
    return &q->f->node[q->f->lost[lost].node];
}

MEM_ORDER_OF(by_row, int64_t)

/* Group with most of the n tracers, and their number in *most; the first row (rows descend in mass)
 * if there are several. −1: no tracer is in a group. */
static int64_t most_common(int64_t n, const int64_t *place, int64_t *most)
{
    int64_t *row = mem_new(sizeof *row * (size_t)n + 1, "trees: places"), best = -1;
    memcpy(row, place, sizeof *row * (size_t)n);
    mem_sort(row, (size_t)n, sizeof *row, by_row);
    *most = 0;
    for (int64_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && row[j] == row[i]; j++) {
        }
        if (row[i] >= 0 && j - i > *most) best = row[i], *most = j - i;
    }
    FREE(row);
    return best;
}

/* Group with at least half of the n tracers; −1: none. */
static int64_t half_of(int64_t n, const int64_t *place)
{
    int64_t most, best = most_common(n, place, &most);
    return 2 * most >= n ? best : -1;
}

/* Sets the places of tracers for lineage_link: those in groups that count. */
static void set_places(int64_t n, const int64_t *group, struct lineage_place *at)
{
    for (int64_t i = 0; i < n; i++) at[i] = (struct lineage_place){group[i], 0};
}

/* Matches lost groups with orphans by their tracers. */
static void match_orphans(struct search *q)
{
    struct mergers *f = q->f;
    const struct lineage_past none = {.n = 0};
    struct lineage_groups lost;
    struct lineage_links k;
    int64_t n = 0;
    for (int64_t i = 0; i < f->nlost; i++) n += f->lost[i].n;
    lineage_groups_make(&lost, f->nlost, n);
    merger_noise_make(&lost);
    struct lineage_place *at = mem_new(sizeof *at * (size_t)n + 1, "trees: places");
    for (int64_t i = 0, to = 0; i < f->nlost; i++) {
        lost.id[i] = f->lost[i].node + 1; /* of several outputs */
        lost.mass[i] = lost.peak[i] = f->lost[i].mass;
        lost.noise[i] = merger_noise(node_of(q, i)->members);
        for (int64_t t = 0; t < f->lost[i].n; t++, to++) {
            const bool counts = q->best[i] >= 0 && q->orphan[q->best[i]] &&
                                q->place[to] == q->best[i];
            lost.particle[to] = f->lost[i].particle[t];
            at[to] = (struct lineage_place){counts ? q->best[i] : -1, 0};
        }
        lost.first[i + 1] = to;
    }
    lineage_link(&lost, at, q->later, &none, NULL, &k);
    for (int64_t i = 0; i < f->nlost; i++) {
        if (k.descendant[i] < 0 || k.merged[i]) continue;
        node_of(q, i)->descendant = last_output(f)->first + k.descendant[i];
        node_of(q, i)->main = q->done[i] = true;
    }
    lineage_links_free(&k);
    lineage_groups_free(&lost);
    FREE(at);
}

/* Drops the lost groups that are done. */
static void keep_rest(struct mergers *f, const bool *done)
{
    int64_t n = 0;
    for (int64_t i = 0; i < f->nlost; i++) {
        if (done[i])
            FREE(f->lost[i].particle);
        else
            f->lost[n++] = f->lost[i];
    }
    f->nlost = n;
}

static void find_lost(struct mergers *f, const struct lineage_groups *later, const int64_t *place,
                      const struct lineage_links *k)
{
    struct search q = {.f = f, .later = later, .place = place};
    if (f->nlost == 0) return;
    q.best = mem_new(sizeof *q.best * (size_t)f->nlost, "trees: lost groups");
    q.orphan = mem_new((size_t)later->n + 1, "trees: lost groups");
    q.done = mem_zero((size_t)f->nlost, "trees: lost groups");
    for (int64_t i = 0; i < later->n; i++) q.orphan[i] = k->progenitor[i] < 0;
    for (int64_t i = 0; i < f->nlost; place += f->lost[i++].n)
        q.best[i] = half_of(f->lost[i].n, place);
    match_orphans(&q);
    for (int64_t i = 0; i < f->nlost; i++) {
        struct merger_node *node = node_of(&q, i);
        if (q.done[i]) continue;
        if (node->descendant < 0 && q.best[i] >= 0) {
            node->descendant = last_output(f)->first + q.best[i];
            q.done[i] = true;
        }
        q.done[i] |= f->noutput - 1 - node->output > f->jump;
    }
    keep_rest(f, q.done);
    FREE(q.best);
    FREE(q.orphan);
    FREE(q.done);
}

/* Keeps the tracers of the groups of the output before the last that are lost or have merged. */
static void lose(struct mergers *f, const struct lineage_links *k)
{
    const struct lineage_groups *e = &f->earlier;
    int64_t first = f->output[f->noutput - 2].first, room = f->nlost;
    for (int64_t i = 0; i < e->n && f->jump > 0; i++) {
        if (!(k->descendant[i] < 0 || k->merged[i])) continue;
        struct merger_lost lost = {first + i, e->first[i + 1] - e->first[i], e->mass[i], NULL};
        MEM_ROOM(f->lost, f->nlost, room, 64, "trees: lost groups");
        lost.particle = mem_new(sizeof *lost.particle * (size_t)lost.n + 1, "trees: lost groups");
        memcpy(lost.particle, e->particle + e->first[i], sizeof *lost.particle * (size_t)lost.n);
        f->lost[f->nlost++] = lost;
    }
}

void merger_link(struct mergers *f, const struct lineage_groups *later, const int64_t *place)
{
    const struct lineage_groups *e = &f->earlier;
    const struct lineage_past none = {.n = 0};
    const int64_t n = e->first[e->n], from = f->output[f->noutput - 2].first;
    struct lineage_links k;
    int64_t most;
    struct lineage_place *at = mem_new(sizeof *at * (size_t)n + 1, "trees: places");
    set_places(n, place, at);
    lineage_link(e, at, later, &none, NULL, &k);
    FREE(at);
    for (int64_t i = 0; i < e->n; i++) {
        if (k.descendant[i] < 0) continue;
        /* a group that has merged is where most of its tracers are, whatever the masses */
        if (k.merged[i])
            k.descendant[i] = most_common(e->first[i + 1] - e->first[i], place + e->first[i],
                                          &most);
        f->node[from + i].descendant = last_output(f)->first + k.descendant[i];
        f->node[from + i].main = !k.merged[i];
    }
    find_lost(f, later, place + n, &k);
    lose(f, &k);
    lineage_links_free(&k);
}
