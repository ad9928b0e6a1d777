/* lineage/link: links between the groups (clumps, halos) of two successive outputs by their most
 * bound particles, as for the merger trees of Ivkovic & Teyssier (2022). Method, with all rules:
 * docs/method/trees.md.
 *
 * The caller tells where the tracer particles of the earlier groups are in the later output. All
 * calls are local; with equal data they give equal results on all ranks. Ties go to the heavier
 * group, then to the smaller id: the order of the groups has no effect. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Groups of one output, in any order. */
struct lineage_groups {
    int output;   /* number of the output */
    int64_t n;    /* number of groups */
    int64_t *id;  /* [n] number of a group in its output, > 0, distinct */
    double *mass; /* [n] mass in the merit, > 0 */
    double *peak; /* [n] greatest mass of the group and its main progenitors so far */
    /* [n] relative uncertainty of the mass: masses that differ by less count as different by it;
     * NULL: none */
    double *noise;
    /* Particle ids of the tracers of group k are at first[k] to first[k + 1], the most bound first:
     * it is the galaxy of the group. */
    int64_t *first, *particle;
};

/* Number of tracers of all groups; the groups may be empty, with first == NULL. */
static inline int64_t lineage_tracers(const struct lineage_groups *g)
{
    return g->n > 0 ? g->first[g->n] : 0;
}

/* Place of a particle in the later output. */
struct lineage_place {
    int64_t group; /* row of its group in the later output; −1: in no group, or lost */
    double energy; /* specific energy in the group; decides between several past progenitors */
};

/* A group that has merged into another group, or has been lost, with its galaxy. */
struct lineage_merged {
    int64_t id;        /* number of the group in the last output in which it was found */
    int64_t output;    /* number of this output */
    int64_t galaxy;    /* particle id of its galaxy */
    double mass, peak; /* mass in this output, greatest mass until then */
};

/* Groups that have merged, over all outputs so far, in ascending order of galaxy. */
struct lineage_past {
    int64_t n, room;
    struct lineage_merged *at; /* [room] */
};

struct lineage_par {
    int max_past;   /* outputs after which a merged group is forgotten; 0: never */
    bool keep_lost; /* true to keep groups without any tracer in a later group, too */
};

/* Links, by rows of both sets of groups and of the past before the call of lineage_carry. */
struct lineage_links {
    int64_t n_later, n_earlier;
    int64_t *progenitor; /* [n_later] main progenitor, row of the earlier groups; −1: none */
    int64_t *jumped;     /* [n_later] without one: past progenitor, row of the past; −1: none */
    int64_t *descendant; /* [n_earlier] row of the later groups; −1: no tracer is in a group */
    bool *merged;        /* [n_earlier] true unless it is the main progenitor of its descendant */
};

/* Links `earlier` to `later`. at: [earlier->first[n]] places of the tracers. past_at: [past->n]
 * places of the galaxies of past progenitors. The tracers of `later` are not used. */
void lineage_link(const struct lineage_groups *earlier, const struct lineage_place *at,
                  const struct lineage_groups *later, const struct lineage_past *past,
                  const struct lineage_place *past_at, struct lineage_links *out);
void lineage_links_free(struct lineage_links *k);

/* Carries the past on to the later output: removes past progenitors that were found again, adds
 * merged and lost groups, forgets those older than par->max_past outputs. later->peak, with present
 * masses on entry, becomes the maximum of these and of the main progenitor's, also after a jump. */
void lineage_carry(const struct lineage_par *par, const struct lineage_groups *earlier,
                   struct lineage_groups *later, const struct lineage_links *k,
                   struct lineage_past *past);

/* Arrays for n groups with `particles` tracers in all; first[0] = 0, all else uninitialised. */
void lineage_groups_make(struct lineage_groups *g, int64_t n, int64_t particles);
void lineage_groups_free(struct lineage_groups *g);
void lineage_past_sort(struct lineage_past *p);
void lineage_past_free(struct lineage_past *p);
