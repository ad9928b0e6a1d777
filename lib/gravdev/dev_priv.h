/* gravdev/dev_priv: what gravity has on a device. The multigrid hierarchy of a level (mg.h) stays
 * there until the mesh changes. Private to gravdev. */
#pragma once
#include "dom/ghost_dev.h"
#include "gravdev/fourier_kernels.h"
#include "gravdev/grav_dev.h"
#include "gravdev/kernels.h"

/* ---- mg_tables_dev.c ---- */

/* A level there; what it does not have is the mesh's. */
struct mg_dev_own {
    lidx n, ncube; /* n: own octs */
    void *nbr, *child, *boundary, *boundaries, *cube, *up, *u, *rhs;
    /* on several ranks: also ghosts, those that touch own octs, and their exchange */
    lidx noct, nhalo;
    void *halo, *mean;
    struct ghost_dev_plan plan;
    struct xplan own_plan; /* of a part of the octs; its lists are there alone */
};

struct grav_dev;

/* Zero: none. */
struct mg_dev {
    bool known;
    int top, bottom;
    uint64_t octs[LEVEL_MAX + 2]; /* of the levels that it was made from */
    struct mg_dev_own lev[LEVEL_MAX + 2];
    /* on several ranks: levels that all share, which the host solves; their rows of the octs that
     * the coarsest level here has, and its corrections */
    struct mg *host;
    lidx *row;
    double (*come)[8];
};

/* Makes the hierarchy of level l, unless it exists. ERR_LIMIT: it does not fit; there is none. */
MUST_USE enum err mg_dev_need(struct grav_dev *d, const struct mesh *m, int l);
bool mg_dev_has(const struct mg_dev *g, const struct mesh *m, int l);

/* ---- mg_dev.c ---- */

/* One cycle of the top level, whose u is PHI of the mesh there. Levels of at most `low` octs are
 * one launch. norm[0], norm[1]: Σ residual² before and after the correction (struct sum, there;
 * NULL: none) is added. */
void mg_dev_cycle(const struct mg_dev *g, const struct mirror *x, double (*rhs)[8], int64_t low,
                  bool safe, int64_t *const norm[2]);

struct mg_dev_level mg_dev_view(const struct mg_dev *g, const struct mirror *x, double (*rhs)[8],
                                int k);
/* Residuals of own octs; mean: of those of an oct (NULL: they go to `below`, if that is not NULL).
 */
void mg_dev_down(const struct mirror *x, const struct mg_dev_level *g,
                 const struct mg_dev_level *below, double *mean, int64_t *norm);

/* ---- grav_dev.c ---- */

/* Faces of a level without a neighbour. */
struct dev_faces {
    bool known;
    uint64_t octs;
    int32_t n;
    int32_t *first, *missing; /* kernels.h; NULL: none */
};

/* For levels of n³ cells; 0: no tables there. */
struct fourier_dev {
    int n;
    enum green kind;
    struct fft_passes whole, half;
    struct dev_room root, denominator, exact, window, part, factor, wave;
};

/* Energy and highest density on their way. */
enum { ENERGY_BLOCKS = 1024 };
struct dev_energy {
    int64_t blocks;
    double top[ENERGY_BLOCKS];
    int64_t sum[GRAV_NORM];
};

/* The criterion of refinement of a level on its way, a bit a cell. NULL: none. */
struct dev_dense {
    int64_t mark;
    uint64_t octs; /* of the level */
    unsigned char *bits;
};

/* Before the first cycle of a solve and after each; at least the four sums of gas_mass. */
enum { GRAV_NORMS = 1 + GRAV_CYCLES };

struct grav_dev {
    struct mirror *mirror;
    struct ghost_dev *ghost; /* NULL on one rank */
    const struct comm *comm;
    struct dev *dev; /* of the mirror, as the stream */
    struct dev_stream *stream;
    struct mg_dev mg[LEVEL_MAX + 2];
    struct dev_faces faces[LEVEL_MAX + 2];
    struct fourier_dev fourier;
    struct dev_room rhs, beyond, all;         /* all: of levels that every rank solves */
    struct dev_room com[LEVEL_MAX + 2], gas;  /* 3 and 8 numbers an oct */
    struct dev_room dense, top;               /* a byte an oct; one number a block */
    struct dev_room count, sum;               /* of octs, while lists are made */
    int64_t *norm;                            /* there: [GRAV_NORMS][GRAV_NORM] */
    int64_t norm_here[GRAV_NORMS][GRAV_NORM]; /* its copy */
    struct dev_energy energy;
    struct dev_dense dense_of[LEVEL_MAX + 2];
};

static inline int64_t grav_blocks(int64_t n, int each)
{
    return (n + each - 1) / each;
}

/* ---- mg_tables_dev.c: what was made is freed ---- */

/* When what is in the stream has run; on several ranks it is empty. */
void mg_dev_drop(struct grav_dev *d, struct mg_dev *g);

/* ---- exchange_dev.c: collective; nothing on one rank ---- */

enum { PAYLOAD_ARRAYS = 3 };
/* Arrays there, [noct]. */
struct grav_payload {
    enum {
        PAYLOAD_ROWS,
        PAYLOAD_BLACK /* black cells of one array */,
        PAYLOAD_SUMS /* ghost_add_i64 */
    } what;
    enum comm_use use; /* of sums that of ghost_add_i64 */
    struct ghost_dev_plan *plan;
    lidx noct;
    int n;
    void *arr[PAYLOAD_ARRAYS];
    size_t stride[PAYLOAD_ARRAYS];
};
void grav_exchange(struct grav_dev *d, const struct grav_payload *k);
/* By the plan of level l; the caller leaves plan and noct out. */
void grav_exchange_level(struct grav_dev *d, const struct mesh *m, int l, struct grav_payload k);

/* ---- the same on several ranks; all are collective ---- */

/* Arrays of what crosses for levels that every rank solves. */
#define MG_SHARED "multigrid shared"

/* mg_ranks_tables.c: made anew. ERR_LIMIT: it does not fit here; the others may have it. */
MUST_USE enum err mg_ranks_need(struct grav_dev *d, const struct mesh *m, int l,
                                struct grav_par *p);
/* mg_ranks_dev.c */
/* Ghosts of the right-hand side and of the first guess. */
void mg_ranks_source(struct grav_dev *d, int l, double (*rhs)[8]);
void mg_ranks_cycle(struct grav_dev *d, int l, double (*rhs)[8], bool safe, int64_t *const norm[2]);
void mg_ranks_force(struct grav_dev *d, struct mesh *m, int l);

/* ---- fourier_dev.c: complete levels in Fourier space, on one rank ---- */

bool fourier_dev_can(int l);
void fourier_dev_drop(struct grav_dev *g); /* the stream is empty */
MUST_USE enum err fourier_dev_solve(struct grav_dev *g, struct mesh *m, int l, double fourpi,
                                    double rho_tot, const struct grav_par *p);
