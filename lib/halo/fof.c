/* halo/fof: friends of friends over ranks.
 *
 * Each rank sends copies of its points to the ranks whose domain is within the link of them, finds
 * the groups of its own points and the copies, and labels each with its least point. Owners send
 * the labels of what they have copies of, and the lesser label is taken, until none changes. A link
 * between two ranks has a copy of each end on the other, so labels pass in both directions. That
 * takes as many rounds as the widest group spans ranks, and no table has a row for each rank. */
#include "halo/halo_priv.h"

struct fof {
    const struct halo_space *s;
    int64_t n, ncopy;
    double *x[3];          /* own points, then copies */
    int32_t *group;        /* [n+ncopy] the least point of its group here */
    int64_t *label;        /* [n+ncopy] of groups, by that point */
    struct comm_counts to; /* copies */
    int64_t *sent;         /* own point of each copy that was sent, by rank */
};

struct place {
    double x[3];
};

/* Copies to the ranks near; the points received follow the own ones. */
static void send_copies(struct fof *f, const double *const x[3], double link)
{
    struct rank_list near = {0}, scratch = {0};
    int64_t n = 0, cap = 0, *point = NULL;
    int *rank = NULL;
    for (int64_t i = 0; i < f->n; i++) {
        halo_ranks_near(f->s, (double[3]){x[0][i], x[1][i], x[2][i]}, link, &near, &scratch);
        for (int k = 0; k < near.n; k++, n++) {
            if (n == cap) {
                cap = 2 * cap + 1024;
                rank = mem_grow(rank, sizeof *rank * (size_t)cap, "halos: copies");
                point = mem_grow(point, sizeof *point * (size_t)cap, "halos: copies");
            }
            rank[n] = near.rank[k];
            point[n] = i;
        }
    }
    int64_t *order = mem_new(sizeof *order * (size_t)n + 1, "halos: copies");
    f->to = comm_counts_of(n, rank, order);
    struct place *send = mem_new(sizeof *send * (size_t)n + 1, "halos: copies");
    f->sent = mem_new(sizeof *f->sent * (size_t)n + 1, "halos: copies");
    for (int64_t k = 0; k < n; k++) {
        f->sent[k] = point[order[k]];
        for (int a = 0; a < 3; a++) send[k].x[a] = x[a][f->sent[k]];
    }
    struct place *got = comm_exchange(f->s->c, send, &f->to, sizeof *send, &f->ncopy, NULL);
    for (int a = 0; a < 3; a++) {
        f->x[a] = mem_new(sizeof(double) * (size_t)(f->n + f->ncopy) + 1, "halos: points");
        for (int64_t i = 0; i < f->n; i++) f->x[a][i] = x[a][i];
        for (int64_t i = 0; i < f->ncopy; i++) f->x[a][f->n + i] = got[i].x[a];
    }
    FREE(got);
    FREE(send);
    FREE(order);
    FREE(rank);
    FREE(point);
    FREE(near.rank);
    FREE(scratch.rank);
}

static enum err find_local(struct fof *f, double link)
{
    int64_t all = f->n + f->ncopy;
    struct tree_points p = {.n = all};
    struct tree *t;
    for (int a = 0; a < 3; a++) {
        p.x[a] = f->x[a];
        p.period[a] = f->s->periodic[a] ? 1 : 0;
    }
    TRY(tree_new(&p, TREE_AUTO, link, &t));
    f->group = mem_new(sizeof *f->group * (size_t)all + 1, "halos: groups");
    f->label = mem_new(sizeof *f->label * (size_t)all + 1, "halos: labels");
    tree_groups(t, link, f->group);
    tree_free(&t);
    for (int64_t i = 0; i < all; i++)
        f->label[i] = i < f->n ? (int64_t)f->s->c->rank << 32 | i : INT64_MAX;
    return OK;
}

/* Groups take the labels that the owners of their copies have. Returns whether one changed. */
static bool lower_labels(struct fof *f)
{
    int64_t n = comm_counts_total(&f->to), ngot;
    int64_t *send = mem_new(sizeof *send * (size_t)n + 1, "halos: labels");
    bool changed = false;
    for (int64_t k = 0; k < n; k++) send[k] = f->label[f->group[f->sent[k]]];
    int64_t *got = comm_exchange(f->s->c, send, &f->to, sizeof *send, &ngot, NULL);
    for (int64_t k = 0; k < ngot; k++) {
        int64_t *label = &f->label[f->group[f->n + k]];
        changed |= got[k] < *label;
        if (got[k] < *label) *label = got[k];
    }
    FREE(got);
    FREE(send);
    return changed;
}

static void join_ranks(struct fof *f)
{
    int64_t changed = 1;
    while (changed) {
        changed = lower_labels(f);
        comm_max_i64(f->s->c, &changed, 1);
    }
}

static void free_fof(struct fof *f)
{
    for (int a = 0; a < 3; a++) FREE(f->x[a]);
    FREE(f->group);
    FREE(f->label);
    FREE(f->sent);
    comm_counts_free(&f->to);
}

enum err halo_groups(const struct halo_space *s, int64_t n, const double *const x[3], double link,
                     int64_t *label)
{
    struct fof f = {.s = s, .n = n};
    const bool *p = s->periodic;
    /* in a periodic box no two places are further apart than half of its diagonal */
    if (p[0] && p[1] && p[2] && link * link > 0.75 * (1 + 1e-9)) {
        int64_t least = n ? (int64_t)s->c->rank << 32 : INT64_MAX;
        comm_min_i64(s->c, &least, 1);
        for (int64_t i = 0; i < n; i++) label[i] = least;
        return OK;
    }
    send_copies(&f, x, link);
    enum err err = err_agree(s->c, find_local(&f, link));
    if (err == OK) join_ranks(&f);
    for (int64_t i = 0; i < n && err == OK; i++) label[i] = f.label[f.group[i]];
    free_fof(&f);
    return err;
}
