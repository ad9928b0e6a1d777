/* audit/domains: how a checkpoint was divided among the ranks that wrote it, and what each rank
 * had.
 *
 * Hilbert (and other orders of the cells): the key at which each rank begins. k-section (cuRAMSES):
 * a tree whose nodes are divided by cut planes along one axis; leaves are ranks. An HDF5 checkpoint
 * of Ptah belongs to no particular rank: it has one domain. */
#pragma once
#include "ckpt/source.h"

/* of the k-section tree, in the order of the file: breadth first, 0 the root */
struct domain_node {
    int depth, axis;   /* axis 0..2 along which it is cut; -1: a leaf */
    int nchild, child; /* the first; the others follow */
    double *cut;       /* [nchild - 1], code units */
    int first, last;   /* ranks in it, from 1 */
};

struct rank_row {
    int64_t octs[LEVEL_MAX + 2], split[LEVEL_MAX + 2], ghosts, particles, bytes;
    /* ranks, from 1, ascending, whose octs its file has as ghosts; with a k-section tree see `walk`
     */
    int npartner, *partner;
    int nwalk, *walk; /* k-section: the ranks with which it exchanges along the tree */
};

struct domains {
    char ordering[129];
    int nrank;
    int nbound;
    double *bound; /* [nbound] keys; NULL */
    int nnode;
    struct domain_node *node;
    double *cut;           /* of all nodes */
    double (*box)[2][3];   /* [nrank] lower, upper corner; NULL */
    bool ghosts_known;     /* rows have ghosts and partners */
    struct rank_row *rank; /* [nrank] */
};

/* Reads the tree (without values) and the counts of particles. s->tally counts all of them. */
MUST_USE enum err domains_read(struct source *s, struct domains *d);
void domains_free(struct domains *d);
