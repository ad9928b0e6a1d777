/* gravdev/mg_tables: arguments of the kernels that make the tables of a multigrid hierarchy
 * (mg_tables_kernel.c), one thread per oct. Pointers are device addresses. Private to gravdev. */
#pragma once
#include "dev/kernel.h"
#include "grav/mg_kern.h"

/* Marks octs of a level of the mesh that have a child in `fine` (fine_map, fine_mask: NULL for all
 * octs, and 1), and computes their masks, MG_NO_MASK for other octs. *inside: any cell is
 * inside. */
enum { MG_NO_MASK = -2 };
struct mg_keep_args {
    lidx n;
    int ndim;
    const lidx (*child)[8];
    const lidx *fine_map;
    const double (*fine_mask)[8];
    int32_t *keep; /* [n] flags of kept octs */
    double (*mask)[8];
    int32_t *inside;
    lidx *self; /* [n] index of a kept oct, −1 for others; NULL: not computed */
};

/* Marks ghosts n ≤ i < noct whose masks have been received from their owners. */
struct mg_retained_args {
    lidx n, noct;
    const double (*mask)[8];
    int32_t *keep;
};

/* Lists kept octs, up to the available room, with their masks, for the other ranks. */
struct mg_own_slot {
    int64_t oct;
    double mask[8];
};
struct mg_slots_args {
    lidx n;
    int64_t room;
    const int32_t *keep, *first;
    const double (*mask)[8];
    struct mg_own_slot *slot;
};

/* Compact numbers, links and masks (NULL: none) of kept octs. first: prefix sums of keep. */
struct mg_compact_args {
    lidx n;
    const int32_t *keep, *first;
    const lidx (*mesh_nbr)[6];
    const double (*mesh_mask)[8];
    lidx *map;
    lidx (*nbr)[6];
    double (*mask)[8];
};

/* Links of octs to octs of the finer level, by compact number. */
struct mg_children_args {
    lidx n;
    const lidx *map, *fine_map; /* maps from mesh to compact index; NULL: identity */
    const lidx (*mesh_child)[8];
    lidx (*child)[8];
};

/* is[i]: oct i is at the boundary of the domain. */
struct mg_boundary_find_args {
    lidx n;
    const lidx (*nbr)[6];
    const double (*mask)[8];
    int32_t *is;
};

/* boundary[i]: row of oct i in boundaries, or −1. first: prefix sums of is. */
struct mg_boundary_make_args {
    lidx n;
    int ndim;
    const lidx (*nbr)[6];
    const double (*mask)[8];
    const int32_t *is, *first;
    lidx *boundary;
    struct mg_boundary *boundaries;
};

/* is[i − n]: ghost i touches an own oct. */
struct mg_halo_args {
    lidx n, noct;
    const lidx (*nbr)[6];
    int32_t *is;
};

/* List of marked octs: to[first[i]] = base + i where is[i]; first: prefix sums of is. */
struct mg_list_args {
    lidx n, base;
    const int32_t *is, *first;
    lidx *to;
};

/* read[i] becomes 1 for octs that sweeps read (mg_octs_read); halo[i − n]: ghost i is in the halo;
 * wants[i]: oct i of the coarser level has such a child. */
struct mg_read_args {
    lidx n, noct;
    const lidx (*nbr)[6];
    const int32_t *halo;
    int32_t *read;
};
struct mg_wants_args {
    lidx n;
    const lidx (*child)[8];
    const int32_t *read;
    int32_t *wants;
};

/* Neighbourhoods of the octs of level l of the mesh that have a number and are wanted (NULL: all);
 * first: prefix sums of these octs. */
struct mg_cubes_args {
    const struct mesh *mesh;
    int l;
    const lidx *map; /* map from mesh to compact index; NULL: identity */
    const int32_t *wants, *first;
    struct mg_cube *cube;
};

/* Exchange of a level restricted to octs with a number: is[j] marks the n entries of the mesh's
 * lists; first[2 (npeer + 1)] receives the first entries per peer to send and to receive; then the
 * lists follow. sum: prefix sums of is. */
struct mg_entries_args {
    lidx n;
    const lidx *list, *map;
    int32_t *is;
};
struct mg_entries_first_args {
    int32_t npeer;
    lidx nsend;
    const lidx *old; /* first entries per peer on the level of the mesh */
    const int32_t *sum;
    lidx *first;
};
struct mg_entries_list_args {
    lidx n;
    const lidx *list, *map;
    const int32_t *is, *sum;
    lidx *to;
};

/* up[fine oct]: mg_up_slot; boundary NULL: no oct is at the boundary. */
struct mg_ups_args {
    lidx n;
    int cells;
    const lidx (*child)[8];
    const lidx *boundary;
    const struct mg_boundary *boundaries;
    int32_t *up;
};

/* Missing faces of own octs: count per oct; then lists (struct dev_faces) from prefix sums. */
struct faces_count_args {
    lidx n;
    int faces;
    const lidx (*nbr)[6];
    int32_t *count;
};

struct faces_list_args {
    lidx n;
    int faces;
    const lidx (*nbr)[6];
    const int32_t *sum;
    int32_t *first, *missing;
};

#ifndef __CUDACC__
extern const struct dev_kernel mg_keep, mg_retained, mg_slots, mg_compact, mg_children,
    mg_boundary_find, mg_boundary_make, mg_halo, mg_list, mg_read, mg_wants, mg_cubes, mg_ups,
    mg_entries, mg_entries_first, mg_entries_list, faces_count, faces_list;
#endif
