/* gravdev/mg_tables: arguments of the kernels that make the tables of a multigrid hierarchy
 * (mg_tables_kernel.c), a thread an oct. Pointers are the device's. Private to gravdev. */
#pragma once
#include "dev/kernel.h"
#include "grav/mg_kern.h"

/* Octs of a level of the mesh that have a child in `fine` (map, mask: of its octs; NULL: all, and
 * 1), and their masks, MG_NO_MASK of others. *inside becomes 1 if a cell is. */
enum { MG_NO_MASK = -2 };
struct mg_keep_args {
    lidx n;
    const lidx (*child)[8];
    const lidx *fine_map;
    const double (*fine_mask)[8];
    int32_t *keep; /* [n] */
    double (*mask)[8];
    int32_t *inside;
    lidx *self; /* [n] each that is kept, −1 for others; NULL: not wanted */
};

/* keep of ghosts n ≤ i < noct, whose masks have come from their owners. */
struct mg_retained_args {
    lidx n, noct;
    const double (*mask)[8];
    int32_t *keep;
};

/* Kept octs that there is room for, with their masks, for the other ranks. */
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

/* Their compact numbers, links and masks (NULL: not). first: sums of keep. */
struct mg_compact_args {
    lidx n;
    const int32_t *keep, *first;
    const lidx (*mesh_nbr)[6];
    const double (*mesh_mask)[8];
    lidx *map;
    lidx (*nbr)[6];
    double (*mask)[8];
};

/* Links of octs to those of the level above (fine_map NULL: identity), at compact numbers. */
struct mg_children_args {
    lidx n;
    const lidx *map, *fine_map; /* NULL: identity */
    const lidx (*mesh_child)[8];
    lidx (*child)[8];
};

/* is[i]: at the boundary of the domain. */
struct mg_boundary_find_args {
    lidx n;
    const lidx (*nbr)[6];
    const double (*mask)[8];
    int32_t *is;
};

/* edge[i]: row in edges, or −1. first: sums of is. */
struct mg_boundary_make_args {
    lidx n;
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

/* to[first[i]] = base + i for those with is[i]; first: sums of is. */
struct mg_list_args {
    lidx n, base;
    const int32_t *is, *first;
    lidx *to;
};

/* read[i] becomes 1 for octs that sweeps read (mg_octs_read), halo[i − n]: ghost i is one of the
 * halo; wants[i]: oct i of the level below has such a child. */
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

/* The octs around those of level l of the mesh that have a number, and are wanted (NULL: all);
 * first: sums of that. */
struct mg_cubes_args {
    const struct mesh *mesh;
    int l;
    const lidx *map; /* NULL: identity */
    const int32_t *wants, *first;
    struct mg_cube *cube;
};

/* The exchange of a level of the mesh for octs with a number: is[j] of the n entries of its lists,
 * and what a peer sends and gets begins at first[2 (npeer + 1)]; then the lists. sum: of is. */
struct mg_entries_args {
    lidx n;
    const lidx *list, *map;
    int32_t *is;
};
struct mg_entries_first_args {
    int32_t npeer;
    lidx nsend;
    const lidx *old; /* of the level of the mesh */
    const int32_t *sum;
    lidx *first;
};
struct mg_entries_list_args {
    lidx n;
    const lidx *list, *map;
    const int32_t *is, *sum;
    lidx *to;
};

/* up[fine oct]: mg_up_slot; edge NULL: no oct is at the boundary. */
struct mg_ups_args {
    lidx n;
    const lidx (*child)[8];
    const lidx *boundary;
    const struct mg_boundary *boundaries;
    int32_t *up;
};

/* Missing faces of own octs: their number by octs; then lists of them (struct dev_faces), from its
 * sums. */
struct faces_count_args {
    lidx n;
    const lidx (*nbr)[6];
    int32_t *count;
};

struct faces_list_args {
    lidx n;
    const lidx (*nbr)[6];
    const int32_t *sum;
    int32_t *first, *missing;
};

#ifndef __CUDACC__
extern const struct dev_kernel mg_keep, mg_retained, mg_slots, mg_compact, mg_children,
    mg_boundary_find, mg_boundary_make, mg_halo, mg_list, mg_read, mg_wants, mg_cubes, mg_ups,
    mg_entries, mg_entries_first, mg_entries_list, faces_count, faces_list;
#endif
