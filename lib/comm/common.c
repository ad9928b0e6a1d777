#include "comm/common.h"

#include <mpi.h>
#include <string.h>

#include "base/mem.h"

/* Where the first rank of a node has put the data. */
struct place {
    int owner;
    struct share_slip slip;
};

/* Allocates the block of this node. All of its ranks have the same place; slip.data is 0 if there
 * is none. *fill: what this rank has to fill; NULL: nothing. */
static struct place place_new(const struct comm *c, size_t bytes, char **fill)
{
    struct place p = {.owner = c->rank};
    *fill = NULL;
    if (!c->share) return p;
    if (c->node_rank == 0) *fill = share_get(c->share, bytes, c->node_size, &p.slip);
    MPI_Bcast(&p, sizeof p, MPI_BYTE, 0, MPI_Comm_f2c(c->node));
    return p;
}

/* Copies data from rank 0 to all ranks, in pieces, of which a rank keeps those that it has to fill.
 */
static void spread(const struct comm *c, const char *data, size_t bytes, char *fill)
{
    enum { PIECE = 1 << 16 };
    char *piece = mem_new(PIECE, "exchange");
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < PIECE ? bytes - at : PIECE;
        if (c->rank == 0) memcpy(piece, data + at, n);
        comm_bcast(c, piece, n, 0);
        if (fill) memcpy(fill + at, piece, n);
    }
    FREE(piece);
}

struct comm_common comm_common_new(const struct comm *c, const void *data, size_t bytes)
{
    struct comm_common k = {.at = NULL};
    char *fill;
    struct place p = place_new(c, bytes, &fill);
    if (p.slip.data) {
        k.share = c->share;
        k.owner = p.owner;
        k.slip = p.slip;
    } else
        fill = mem_new(bytes + 1, "common data");
    spread(c, data, bytes, fill);
    /* the ranks of the node read what the first has written */
    if (k.share) MPI_Barrier(MPI_Comm_f2c(c->node));
    k.at = k.share ? share_at(k.share, k.owner, k.slip) : fill;
    return k;
}

void comm_common_free(struct comm_common *k)
{
    if (!k->at) return;
    if (k->share)
        share_done(k->share, k->owner, k->slip);
    else
        mem_free((void *)k->at);
    *k = (struct comm_common){.at = NULL};
}
