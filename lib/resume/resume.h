/* resume/resume: the mesh, the gas and the particles of a checkpoint of any number of files, on any
 * number of ranks.
 *
 * The pieces are divided among the ranks, or, if there are fewer, each among several, which take
 * its batches in turns. The tree and the particles are read first: from them follows the cost of
 * each part of the box, and the domains are balanced before any value is read. Each oct is sent to
 * its owner as a key, the levels are built from the keys (lib/adapt), and the tree is checked,
 * since the contents of a file may be anything. Then the values follow in rounds: every rank reads
 * a batch, all exchange, until none has more; so the memory of the exchange is bounded. */
#pragma once
#include "ckpt/source.h"
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"
#include "part/part.h"

struct resume {
    struct source *from; /* after source_state */
    const struct comm *comm;
    struct mesh *mesh;          /* without levels, which become those of the checkpoint */
    struct parts *parts;        /* with the columns that are wanted; NULL: none are read */
    bool drop_clouds;           /* clouds of sinks are not read */
    const struct gas_vars *gas; /* variables of the mesh */
    enum domain_kind kind;      /* domains to be made */
    const double *oct_cost;     /* [LEVEL_MAX + 2] of an oct, by level; */
    double part_cost;           /* of a particle: what domains are balanced by */
    struct domain *dom;         /* out, after errors too (owner: caller); NULL: not made yet */
    int64_t particles;          /* out: over all ranks */
};

/* Octs are on their owners, with all ghosts valid; particles are on the rank that read them, for
 * part_distribute. An error of any rank is that of all. (collective) */
MUST_USE enum err resume_read(struct resume *r);

/* ---- between the files of resume ---- */
/* The pieces of this rank are first..last-1: neighbouring files, whose domains are neighbours, too.
 */
static inline void resume_pieces(const struct resume *r, int *first, int *last)
{
    int64_t n = r->from->npiece, size = r->comm->size, rank = r->comm->rank;
    *first = (int)(n * rank / size);
    *last = n < size ? *first + 1 : (int)(n * (rank + 1) / size);
}
MUST_USE enum err resume_parts(struct resume *r);        /* parts.c (collective, agreed) */
MUST_USE enum err resume_tree(struct resume *r);         /* tree.c: r->dom, octs, links, flags */
MUST_USE enum err resume_values(const struct resume *r); /* values.c: of own octs */
