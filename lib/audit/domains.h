/* audit/domains: the decomposition of a checkpoint among the ranks that wrote it, and the counts of
 * each rank.
 *
 * Hilbert (and other orders of the cells): the key at which each rank begins. k-section (cuRAMSES):
 * a tree whose nodes are divided by cut planes along one axis; leaves are ranks. An HDF5 checkpoint
 * of Ptah belongs to no particular rank: it has one domain. */
#pragma once
#include "ckpt/source.h"

/* A node of the k-section tree; nodes are in file order: breadth first, root at index 0. */
struct domain_node {
    int depth, axis;   /* depth; axis 0..2 of the cut planes, -1 for a leaf */
    int nchild, child; /* number of children; index of the first, the others follow */
    double *cut;       /* [nchild - 1] positions of the cut planes, code units */
    int first, last;   /* first and last rank in the node, from 1 */
};

struct rank_row {
    int64_t octs[LEVEL_MAX + 2], split[LEVEL_MAX + 2], ghosts, particles, bytes;
    /* ascending ranks, from 1, whose octs are ghosts in the file; k-section: see walk */
    int npartner, *partner;
    int nwalk, *walk; /* k-section: exchange partners along the tree */
};

struct domains {
    char ordering[129];
    int nrank;
    int nbound;
    double *bound; /* [nbound] keys; NULL without Hilbert order */
    int nnode;
    struct domain_node *node;
    double *cut;           /* cut planes of all nodes */
    double (*box)[2][3];   /* [nrank] lower and upper corner; NULL without k-section */
    bool ghosts_known;     /* true if rows have ghosts and partners */
    struct rank_row *rank; /* [nrank] rows */
};

/* Reads the tree without values, and the particle counts; s->tally receives their totals. */
MUST_USE enum err domains_read(struct source *s, struct domains *d);
void domains_free(struct domains *d);
