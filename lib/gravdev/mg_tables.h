/* gravdev/mg_tables: arguments of the kernels that make the tables of a multigrid hierarchy
 * (mg_tables_kernel.c), a thread an oct. Pointers are the device's. Private to gravdev. */
#pragma once
#include "dev/kernel.h"
#include "grav/mg_kern.h"

/* Octs of a level of the mesh that have a child in `fine` (map, mask: of its octs; NULL: all, and
 * 1), and their masks. *inside becomes 1 if a cell is. */
struct mg_keep_args {
    lidx n;
    const lidx (*child)[8];
    const lidx *fine_map;
    const double (*fine_mask)[8];
    int32_t *keep; /* [n] */
    double (*mask)[8];
    int32_t *inside;
};

/* Their compact numbers, links and masks. first: sums of keep. */
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
struct mg_edge_find_args {
    lidx n;
    const lidx (*nbr)[6];
    const double (*mask)[8];
    int32_t *is;
};

/* edge[i]: row in edges, or −1. first: sums of is. */
struct mg_edge_make_args {
    lidx n;
    const lidx (*nbr)[6];
    const double (*mask)[8];
    const int32_t *is, *first;
    lidx *edge;
    struct mg_edge *edges;
};

/* The octs around those of level l of the mesh that have a number. */
struct mg_cubes_args {
    const struct mesh *mesh;
    int l;
    const lidx *map; /* NULL: identity */
    struct mg_cube *cube;
};

/* up[fine oct]: mg_up_place; edge NULL: no oct is at the boundary. */
struct mg_ups_args {
    lidx n;
    const lidx (*child)[8];
    const lidx *edge;
    const struct mg_edge *edges;
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
extern const struct dev_kernel mg_keep, mg_compact, mg_children, mg_edge_find, mg_edge_make,
    mg_cubes, mg_ups, faces_count, faces_list;
#endif
