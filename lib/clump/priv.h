/* clump/priv: what the files of this module share. Private to clump. */
#pragma once
#include "clump/clump.h"
#include "clump/fixed.h"

/* A leaf cell. */
struct spot {
    lidx oct;
    unsigned char level, cell;
};

/* A cell above the threshold, and its densest neighbour; up.level 0: it is a peak. */
struct patch_cell {
    struct spot at, up;
};

struct peak {
    okey label;
    struct spot at;
    double max;        /* its density */
    bool alive;        /* was not merged with another one in this phase */
    int level;         /* round in which it was merged */
    okey clump;        /* of the relevant peak that has its cells */
    okey parent, halo; /* labels, of the second phase */
    int64_t index;     /* place among all peaks, from 1 */
    double relevance;  /* 0: merged as irrelevant */
    double saddle;     /* highest one, when irrelevant ones were merged */
    fixed mass;        /* of its cells */
    struct clump c;    /* the clump as it is listed */
};

/* A saddle point between two peaks, of which a is this rank's. */
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
    struct patch_cell *cell; /* own, by descending density */
    okey (*label[LEVEL_MAX + 2])[8];
    int64_t npeak;
    struct peak *peak; /* own, by label */
    int64_t nsaddle;
    struct saddle *saddle; /* of own peaks, by a, then b */
    struct fixed_scale mass_scale;
    struct clumps *out;
};

/* ---- labels and their owners (share.c) ---- */

static inline okey label_make(int level, okey key, int cell)
{
    return (okey)1 << 3 * level | key << 3 | (okey)cell;
}

/* A set of labels that this rank meets, each with a row of something; and, as the owner of peaks,
 * those of its own that others meet. */
struct share {
    int64_t n;
    okey *label;    /* ascending; row i is that of label[i] */
    int64_t *order; /* row that comes at this place when packed by rank */
    struct comm_counts to, from;
    int64_t nin, *at; /* own peaks that were asked for, in the order of asking ranks */
};
/* Takes over label (n, in any order, repeated ones too). All labels are those of peaks.
 * (collective) */
void share_make(struct share *s, const struct finder *f, int64_t n, okey *label);
void share_free(struct share *s);
int64_t share_seek(const struct share *s, okey label); /* row, −1: it is not there */
int64_t share_find(const struct share *s, okey label); /* row; the label must be there */
/* Rows of the owners, own[npeak] → rows[n]. (collective) */
void share_fetch(const struct share *s, const struct finder *f, size_t bytes, const void *own,
                 void *rows);
/* rows[n] → owners: row k of the result belongs to own peak at[k] (owner: caller, FREE).
 * (collective) */
void *share_give(const struct share *s, const struct finder *f, size_t bytes, const void *rows);
int label_rank(const struct finder *f, okey label);

/* Rows of the cells' peaks: the labels that own cells have. (collective) */
void share_cells(struct share *s, const struct finder *f);

/* ---- cells (around.c, patch.c) ---- */

enum { AROUND = 99 };

/* The neighbourhood of an oct. */
struct around {
    const struct mesh *m;
    int level;
    lidx oct, same[27], coarse[27];
};
/* Nothing is done if it is that of this oct already; begins with level 0. */
void around_set(struct around *a, const struct mesh *m, struct spot s);
/* The oct of a cube around an oct that has the cell at x from the first cell of the oct in its
 * middle, each −2..3; which of its cells. */
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
/* The leaf cells that touch this cell or are it, of the level above, of its own, of the next:
 * each level by z, y, x. Cells of the level above and of the next occur once. Their number. */
int around_leaves(const struct around *a, int cell, struct spot s[AROUND]);
/* Centre of a cell, units of the box. */
void spot_centre(const struct mesh *m, struct spot s, double x[3]);
/* Centre of a cell in code units, as the image that is next to `to`. */
void spot_near(const struct mesh *m, struct spot s, const double to[3], double x[3]);
void image_near(const struct mesh *m, const double to[3], double x[3]);

/* Cells, peaks, labels of own and ghost cells. (collective) */
MUST_USE enum err patch_find(struct finder *f);
void patch_saddles(struct finder *f); /* saddle points (collective) */
/* f->edge := those of all ranks whose a is this rank's (collective) */
void saddles_send(struct finder *f, int64_t n, const struct saddle *e);
void patch_ghosts(struct finder *f); /* labels of ghost cells := owners' (collective) */

/* ---- peaks ---- */

/* merge.c: irrelevant peaks; cells get the labels of those they were merged with (collective) */
void merge_irrelevant(struct finder *f);
void merge_halos(struct finder *f);    /* merge.c: parents and halos (collective) */
void measure_clumps(struct finder *f); /* measure.c: masses, places (collective) */
void measure_halos(struct finder *f);  /* measure.c (collective) */
void unbind(struct finder *f);         /* unbind.c (collective) */
void list_number(struct finder *f);    /* list.c: index of all peaks (collective) */
void list_make(struct finder *f);      /* list.c: f->out (collective) */
/* core.c (collective) */
void cores_make(struct finder *f, const struct clump_core_par *par, struct clump_cores *out);
