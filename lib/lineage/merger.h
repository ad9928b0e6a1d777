/* lineage/merger: merger trees of a series of outputs, from the groups (halos or clumps) of each
 * and their members. Method: docs/method/trees.md.
 *
 * Outputs are added in order of time. The groups of an output are known to rank 0, their members to
 * any rank. Rank 0 keeps a node for each group of all outputs, and the tracers, the most bound
 * members, of the groups of the last output and of those that are lost or merged and may be found
 * again. The trees are equal for any number of ranks. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "clump/clump.h"
#include "halo/table.h"
#include "lineage/link.h"

/* A group of an output. Masses in Msun, lengths in kpc and velocities in km/s are proper, without
 * factors of h; NAN: not known. */
struct merger_node {
    int64_t number;  /* number of the group in the table of its output, from 1 */
    int64_t within;  /* node of the group that contains it; −1: none */
    int64_t members; /* number of particles */
    double mass;     /* mass of the members */
    double x[3];     /* centre, units of the box */
    double v[3];     /* mean velocity of the members */
    double m200m, r200m, m200c, r200c, mvir, rvir;
    double sigma, spin; /* of the dark matter within rvir: dispersion along an axis, parameter */

    /* Set by merger_add: */
    int output;         /* index of its output */
    int64_t descendant; /* node; −1: none */
    bool main;          /* true if it is the main progenitor of its descendant */

    /* Set by merger_grow. Depth-first numbers count from 0 over all trees. */
    int64_t progenitors;
    double peak;        /* highest mass of the node and its main progenitors */
    double major;       /* expansion factor, or time, of the last major merger; NAN: none */
    int64_t root;       /* node at the root of its tree */
    int64_t depth;      /* depth-first number: after itself its main branch, then the others */
    int64_t breadth;    /* breadth-first number */
    int64_t last, leaf; /* highest depth-first number of its progenitors, of its main branch */
    int64_t next; /* depth-first number of the next progenitor of its descendant; −1: none */
};

struct merger_output {
    char *path; /* as given by the user */
    int number;
    double t, gyr; /* code units; Gyr since the Big Bang or t = 0, NAN: no units */
    struct halo_box box;
    double particle;  /* lowest mass of a particle of dark matter, Msun; 0: no particle */
    int64_t first, n; /* nodes of its groups */
};

/* A member of a group. */
struct merger_member {
    int64_t id, group; /* group: its number */
};

/* The groups of an output, and their members on this rank. */
struct merger_groups {
    struct lineage_groups links; /* groups with their tracers, on rank 0, by ascending number */
    struct merger_node *node;    /* [links.n] node.within: row in this array */
    int64_t nmember;
    struct merger_member *member;
};
void merger_groups_free(struct merger_groups *g);
/* Groups of a catalogue with members and tracers. (collective) */
void merger_of_halos(const struct halo_list *l, const struct halo_box *b, const struct comm *c,
                     struct merger_groups *out);
/* Groups of all clumps with members (clump_unbind.members). nmost: maximum number of tracers.
 * (collective) */
void merger_of_clumps(const struct clumps *k, const struct halo_box *b, const struct comm *c,
                      int nmost, struct merger_groups *out);

struct merger_lost;
struct mergers {
    int jump; /* maximum number of outputs without a halo that is found again */
    int noutput;
    struct merger_output *output;
    /* The following are on rank 0 only. */
    int64_t n, room;
    struct merger_node *node;
    int64_t ntree, *tree; /* roots, the last output first, by descending mass (merger_grow) */
    int64_t *by_depth;    /* [n] nodes by depth-first number (merger_grow) */
    struct lineage_groups earlier; /* of the last output */
    struct merger_lost *lost;
    int64_t nlost, doubles; /* doubles: members whose id another member has, too */
};
void merger_free(struct mergers *f);
/* Adds the next output; takes o->path (base/mem), and frees *g. (collective) */
void merger_add(struct mergers *f, const struct comm *c, struct merger_output *o,
                struct merger_groups *g);
/* Makes trees of the nodes, after the last output. On rank 0. */
void merger_grow(struct mergers *f);
