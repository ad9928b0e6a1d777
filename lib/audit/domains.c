#include "audit/domains.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static enum err read_tree(struct source *s, struct domains *d);
static enum err read_ranks(struct source *s, struct domains *d);

enum err domains_read(struct source *s, struct domains *d)
{
    *d = (struct domains){.nrank = s->nwriter, .ghosts_known = s->by_rank};
    memcpy(d->ordering, s->ordering, sizeof d->ordering);
    d->rank = mem_zero(sizeof *d->rank * (size_t)d->nrank, "domains");
    enum err err = read_tree(s, d);
    if (err == OK) err = read_ranks(s, d);
    if (err == OK) err = source_check_tree(s);
    if (err != OK) domains_free(d);
    return err;
}

void domains_free(struct domains *d)
{
    for (int i = 0; d->rank && i < d->nrank; i++) {
        FREE(d->rank[i].partner);
        FREE(d->rank[i].walk);
    }
    FREE(d->rank);
    FREE(d->bound);
    FREE(d->node);
    FREE(d->cut);
    FREE(d->box);
}

/* ---- the k-section tree ---- */

static enum err bad_tree(const char *path)
{
    FAIL(ERR_FORMAT, "%s: the tree of domains is damaged", path);
}

/* Builds the nodes. Child nodes come after their parent, so one pass through the array visits all
 * nodes and cycles cannot occur. */
static enum err make_nodes(const struct source_domains *k, struct domains *d, const char *path)
{
    if (k->nlev > 31 || k->kmax < 1 || k->nnode < 1 || k->nnode > 3 * (int64_t)d->nrank + 4)
        return bad_tree(path);
    d->nnode = (int)k->nnode;
    d->node = mem_zero(sizeof *d->node * (size_t)d->nnode, "domains");
    d->cut = mem_new(sizeof *d->cut * (size_t)(k->nnode * k->kmax), "domains");
    for (int64_t i = 0; i < k->nnode; i++) {
        struct domain_node *node = &d->node[i];
        node->axis = -1;
        for (int64_t j = 0; j < k->kmax; j++) {
            int64_t to = k->next[j * k->nnode + i];
            if (to == 0) break;
            if (to < i + 2 || to > k->nnode || node->depth >= k->nlev) return bad_tree(path);
            if (j == 0) node->child = (int)to - 1;
            if (to - 1 != node->child + j) return bad_tree(path);
            node->nchild++;
            d->node[to - 1].depth = node->depth + 1;
        }
        node->cut = d->cut + i * k->kmax;
        for (int j = 0; j < node->nchild - 1; j++) node->cut[j] = k->cut[j * k->nnode + i];
        if (node->nchild) {
            node->axis = (int)k->axis[node->depth] - 1;
            if (node->axis < 0 || node->axis > 2) return bad_tree(path);
        } else {
            node->first = node->last = k->rank[i] >= 1 && k->rank[i] <= d->nrank ? (int)k->rank[i]
                                                                                 : 0;
            if (d->nnode > 1 && node->first == 0) return bad_tree(path);
        }
    }
    for (int i = d->nnode - 1; i >= 0; i--)
        for (int j = 0; j < d->node[i].nchild; j++) {
            const struct domain_node *to = &d->node[d->node[i].child + j];
            if (j == 0) d->node[i].first = to->first;
            d->node[i].last = to->last;
        }
    return OK;
}

/* Lists the exchange partners of a rank: on each level of the tree, the rank at the corresponding
 * position in every other child of its node (the exchange pattern of Kim 2026). */
static void walk_down(struct domains *d, int rank)
{
    struct rank_row *row = &d->rank[rank - 1];
    int room = 0;
    for (int at = 0; d->node[at].nchild;) {
        const struct domain_node *node = &d->node[at];
        int mine = 0;
        while (mine < node->nchild - 1 && rank > d->node[node->child + mine].last) mine++;
        int location = rank - d->node[node->child + mine].first;
        for (int j = 0; j < node->nchild; j++) {
            const struct domain_node *other = &d->node[node->child + j];
            int last = other->last - other->first;
            if (j == mine) continue;
            if (row->nwalk == room)
                row->walk = mem_grow(row->walk, sizeof *row->walk * (size_t)(room += 16),
                                     "domains");
            row->walk[row->nwalk++] = other->first + (location < last ? location : last);
        }
        at = node->child + mine;
    }
}

static enum err finish_tree(const struct source_domains *k, struct domains *d, const char *path)
{
    TRY(make_nodes(k, d, path));
    for (int r = 1; r <= d->nrank; r++) walk_down(d, r);
    return OK;
}

static void free_stored(struct source_domains *k)
{
    FREE(k->bound);
    FREE(k->axis);
    FREE(k->next);
    FREE(k->rank);
    FREE(k->cut);
    FREE(k->lo);
    FREE(k->hi);
}

static void take_boxes(struct domains *d, const double *lo, const double *hi)
{
    d->box = mem_new(sizeof *d->box * (size_t)d->nrank, "domains");
    for (int i = 0; i < d->nrank; i++)
        for (int a = 0; a < 3; a++) {
            d->box[i][0][a] = lo[a * d->nrank + i];
            d->box[i][1][a] = hi[a * d->nrank + i];
        }
}

static enum err read_tree(struct source *s, struct domains *d)
{
    struct source_domains k = {0};
    char path[PATH_MAX];
    enum err err = s->kind->domains ? s->kind->domains(s, &k) : OK;
    source_file(s, FILES_AMR, 0, path);
    if (err == OK) {
        d->bound = k.bound, d->nbound = (int)k.nbound;
        k.bound = NULL;
        if (k.lo && k.hi) take_boxes(d, k.lo, k.hi);
        if (strcmp(d->ordering, "ksection") == 0 && d->nrank > 1) err = finish_tree(&k, d, path);
    }
    free_stored(&k);
    return err;
}

/* ---- ranks ---- */

/* Distribution of rows over ranks. Rows are in rank order; counts give the first row of a rank. */
struct shares {
    struct domains *d;
    const struct source_rank *row;
    int64_t left[LEVEL_MAX + 2]; /* rows left of the current rank, per level */
    int rank[LEVEL_MAX + 2];     /* rank of the next row, from 0 */
};

static enum err share_octs(const struct source_octs *o, void *ctx)
{
    struct shares *s = ctx;
    int l = o->level, *rank = &s->rank[l];
    for (int i = 0; i < o->n; i++, s->left[l]--) {
        while (*rank < s->d->nrank - 1 && s->left[l] <= 0) s->left[l] = s->row[++*rank].octs[l];
        s->d->rank[*rank].octs[l]++;
        s->d->rank[*rank].split[l] += __builtin_popcount(o->split[i]);
    }
    return OK;
}

static enum err pass_parts(const struct source_parts *p, void *ctx)
{
    (void)p, (void)ctx;
    return OK;
}

static enum err read_shares(struct source *s, struct domains *d, const struct source_rank *row)
{
    struct shares k = {.d = d, .row = row};
    for (int l = 0; l < LEVEL_MAX + 2; l++) k.left[l] = row[0].octs[l];
    memset(&s->counts, 0, sizeof s->counts);
    for (int piece = 0; piece < s->npiece; piece++) {
        TRY(source_octs(s, piece, SOURCE_TREE, share_octs, &k));
        if (s->by_rank) TRY(source_parts(s, piece, SOURCE_STORED, pass_parts, NULL));
    }
    s->counts.particles = 0;
    for (int i = 0; i < d->nrank; i++) s->counts.particles += d->rank[i].particles;
    return OK;
}

static enum err read_ranks(struct source *s, struct domains *d)
{
    struct source_rank *row = mem_zero(sizeof *row * (size_t)d->nrank, "domains");
    enum err err = s->kind->ranks ? s->kind->ranks(s, row) : OK;
    for (int i = 0; i < d->nrank; i++) {
        struct rank_row *to = &d->rank[i];
        to->ghosts = row[i].ghosts, to->particles = row[i].particles, to->bytes = row[i].bytes;
        to->npartner = row[i].npartner, to->partner = row[i].partner;
    }
    if (err == OK) err = read_shares(s, d, row);
    FREE(row);
    return err;
}
