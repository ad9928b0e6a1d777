/* resume/resume: the mesh, the gas and the particles of a checkpoint of any number of files, on any
 * number of ranks.
 *
 * The pieces are divided among the ranks, or, if there are fewer, each among several, which take
 * its batches in turns. The tree and the particles are read first: from them follows the cost of
 * each part of the box, and the domains are balanced before any value is read. Each oct is sent to
 * its owner as a key, the levels are built from the keys (lib/adapt), and the tree is checked,
 * since the contents of a file may be anything. Then the values follow in rounds: every rank reads
 * a batch, and all ranks exchange values, until no rank has a further batch; this bounds the memory
 * of the exchange. */
#pragma once
#include "ckpt/source.h"
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/fields.h"
#include "part/part.h"

struct resume {
    struct source *from; /* source, opened by source_state */
    const struct comm *comm;
    struct mesh *mesh; /* mesh without levels, which are built from the checkpoint */
    /* particles, with the columns to be read; NULL: particles are not read */
    struct parts *parts;
    bool drop_clouds;           /* skip the particles of sink clouds */
    const struct gas_vars *gas; /* gas variables of the mesh */
    /* Number of the variable of the mesh for each of the first nremap scalars of the checkpoint;
     * -1: none. Others go by name. */
    int nremap, remap[GAS_VARS];
    enum domain_kind kind;  /* kind of domains to make */
    const double *oct_cost; /* [LEVEL_MAX + 2] cost of an oct by level, for load balance */
    double part_cost;       /* cost of a particle, for load balance */
    struct domain *dom;     /* out, after errors too (owner: caller); NULL: no domains made */
    int64_t particles;      /* out: number of particles on all ranks */
};

/* Afterwards octs are on their owners, with all ghosts valid; particles are on the rank that read
 * them, ready for part_distribute. Errors are agreed. (collective) */
MUST_USE enum err resume_read(struct resume *r);

/* ---- shared by the files of resume ---- */
/* Pieces of this rank: first..last-1, neighbouring files, whose domains are neighbours too. */
static inline void resume_pieces(const struct resume *r, int *first, int *last)
{
    int64_t n = r->from->npiece, size = r->comm->size, rank = r->comm->rank;
    *first = (int)(n * rank / size);
    *last = n < size ? *first + 1 : (int)(n * (rank + 1) / size);
}
MUST_USE enum err resume_parts(struct resume *r); /* parts.c (collective, agreed) */
/* tree.c: r->dom, octs, links, flags (collective, agreed) */
MUST_USE enum err resume_tree(struct resume *r);
/* values.c: fields of own octs (collective, agreed) */
MUST_USE enum err resume_values(const struct resume *r);
/* Fields of which resume_values sets every own oct. */
void resume_filled(const struct resume *r, bool filled[FIELD_ALL]);
