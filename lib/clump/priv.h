/* clump/priv: declarations shared by the files of clump. Private to clump. */
#pragma once
#include "clump/clump.h"
#include "clump/fixed.h"

/* A leaf cell. */
struct spot {
    lidx oct;
    unsigned char level, cell;
};

/* A cell above the threshold and its densest neighbour; up.level is 0 for a peak. */
struct patch_cell {
    struct spot at, up;
};

struct peak {
    okey label;
    struct spot at;
    double max;        /* density of the peak */
    bool alive;        /* true until merged in this phase */
    int level;         /* merging round */
    okey clump;        /* label of the relevant peak that has absorbed the cells */
    okey parent, halo; /* labels set by the second phase */
    int64_t index;     /* number among all peaks, from 1 */
    double relevance;  /* ratio of peak to saddle; 0: merged as irrelevant */
    double saddle;     /* highest saddle after irrelevant peaks were merged */
    fixed mass;        /* mass of the cells */
    struct clump c;    /* list entry of the clump */
};

/* A saddle point between two peaks; this rank owns peak a. */
struct saddle {
    okey a, b;
    double v, bmost; /* density of the saddle · of peak b */
};

struct finder {
    const struct clump_par *par;
    const struct clump_field *f;
    const struct mesh *m;
    const struct parts *p;
    const struct domain *d;
    const struct comm *c;
    int64_t ncell;
    struct patch_cell *cell; /* own cells, in the order of the mesh */
    okey (*label[LEVEL_MAX + 2])[8];
    int64_t npeak;
    struct peak *peak; /* own peaks, by label */
    int64_t nsaddle;
    struct saddle *saddle; /* saddles of own peaks, by a, then b */
    struct fixed_scale mass_scale;
    struct clumps *out;
};

/* ---- labels and their owners (share.c) ---- */

static inline okey label_make(int level, okey key, int cell)
{
    return (okey)1 << 3 * level | key << 3 | (okey)cell;
}

/* A set of labels, each with a row of data, and the own peaks requested by other ranks. */
struct share {
    int64_t n;
    okey *label;    /* ascending labels; row i belongs to label[i] */
    int64_t *order; /* row index by position in the send buffer */
    struct comm_counts to, from;
    int64_t nin, *at; /* own peaks requested by other ranks, in order of requesting rank */
};
/* Builds the set from n labels in any order, duplicates allowed; takes ownership of label. All
 * labels must be labels of peaks. (collective) */
void share_make(struct share *s, const struct finder *f, int64_t n, okey *label);
void share_free(struct share *s);
int64_t share_seek(const struct share *s, okey label); /* row of a label; −1: not found */
int64_t share_find(const struct share *s, okey label); /* row of a label that must exist */
/* Fetches rows of data from the owners: own[npeak] → rows[n]. (collective) */
void share_fetch(const struct share *s, const struct finder *f, size_t bytes, const void *own,
                 void *rows);
/* Sends rows[n] to the owners; row k of the result (FREE) is of own peak at[k]. (collective) */
void *share_give(const struct share *s, const struct finder *f, size_t bytes, const void *rows);
int label_rank(const struct finder *f, okey label);

/* Builds the set of the labels of own cells. (collective) */
void share_cells(struct share *s, const struct finder *f);

/* ---- cells (around.c, patch.c) ---- */

enum { AROUND = 99 };

/* Neighbourhood of an oct. there, refined: which of the 4³ cells in and around it exist, and are
 * refined; coarse is valid if the oct is not on levelmin and one of the 4³ does not exist. */
struct around {
    const struct mesh *m;
    int level;
    lidx oct, same[27], coarse[27];
    uint64_t there, refined;
};
/* Sets the neighbourhood to the oct of s, unless it is set already; level must be 0 at first. */
void around_set(struct around *a, const struct mesh *m, struct spot s);
/* Index, in a cube of 3³ octs, of the oct that contains the cell at offset x (each −2..3) from the
 * first cell of the central oct; *cell receives the cell. */
static inline lidx cube_cell(const lidx cube[27], const int x[3], int *cell)
{
    int at = 0, stride = 1;
    *cell = 0;
    for (int d = 0; d < 3; d++, stride *= 3) {
        at += stride * ((x[d] + 2) >> 1);
        *cell |= (x[d] & 1) << d;
    }
    return cube[at];
}
/* Lists the leaf cells that touch this cell, and the cell itself, on the coarser, same and finer
 * level, each by z, y, x and without repetition. Returns their number. */
int around_leaves(const struct around *a, int cell, struct spot s[AROUND]);
/* Centre of a cell, units of the box. */
void spot_centre(const struct mesh *m, struct spot s, double x[3]);
/* Centre of a cell in code units, as the periodic image nearest to `to`. */
void spot_near(const struct mesh *m, struct spot s, const double to[3], double x[3]);
void image_near(const struct mesh *m, const double to[3], double x[3]);

/* Finds cells and peaks and labels own and ghost cells. (collective) */
MUST_USE enum err patch_find(struct finder *f);
void patch_saddles(struct finder *f); /* finds saddle points (collective) */
/* Collects in f->saddle the edges of all ranks whose peak a is owned by this rank. (collective) */
void saddles_send(struct finder *f, int64_t n, const struct saddle *e);
void patch_ghosts(struct finder *f); /* copies labels of ghost cells from the owners (collective) */

/* ---- peaks ---- */

/* merge.c: merges irrelevant peaks; cells receive the labels of the absorbing peaks (collective) */
void merge_irrelevant(struct finder *f);
void merge_halos(struct finder *f);    /* merge.c: finds parents and halos (collective) */
void measure_clumps(struct finder *f); /* measure.c: measures masses and positions (collective) */
void measure_halos(struct finder *f);  /* measure.c: measures halos (collective) */
void unbind(struct finder *f);         /* unbind.c: unbinds particles (collective) */
void list_number(struct finder *f);    /* list.c: numbers all peaks (collective) */
void list_make(struct finder *f);      /* list.c: makes the list f->out (collective) */
/* core.c: makes the list of cores (collective) */
void cores_make(struct finder *f, const struct clump_core_par *par, struct clump_cores *out);
