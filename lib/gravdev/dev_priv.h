/* gravdev/dev_priv: state of gravity on a device. The multigrid hierarchy of a level (mg.h) stays
 * on the device until the mesh changes. Private to gravdev. */
#pragma once
#include "dev/digits.h"
#include "dom/ghost_dev.h"
#include "gravdev/fourier_kernels.h"
#include "gravdev/grav_dev.h"
#include "gravdev/kernels.h"

/* ---- mg_tables_dev.c ---- */

/* A level of the hierarchy on the device; NULL members are shared with the mesh. */
struct mg_dev_own {
    lidx n, ncube; /* own octs; entries of `cube` */
    void *nbr, *child, *boundary, *boundaries, *cube, *up, *u, *rhs;
    /* On several ranks: number of octs with ghosts, ghosts that touch own octs, their exchange. */
    lidx noct, nhalo;
    void *halo, *mean;
    struct ghost_dev_plan plan;
    struct xplan own_plan; /* exchange of a subset of octs, with lists on the device only */
};

struct grav_dev;

/* A hierarchy on the device; zero: none. */
struct mg_dev {
    bool known;
    int top, bottom;
    uint64_t octs[LEVEL_MAX + 2]; /* versions of the levels from which the hierarchy was made */
    struct mg_dev_own lev[LEVEL_MAX + 2];
    /* On several ranks: shared levels, which the host solves; rows of the coarsest unshared level's
     * octs among the shared ones; corrections received from the host. */
    struct mg *host;
    lidx *row;
    double (*come)[8];
};

/* Makes the hierarchy of level l, unless it exists. ERR_LIMIT: too little memory; none is made. */
MUST_USE enum err mg_dev_need(struct grav_dev *d, const struct mesh *m, int l);
bool mg_dev_has(const struct mg_dev *g, const struct mesh *m, int l);

/* ---- mg_dev.c ---- */

/* Runs n cycles of the top level, whose u is PHI of the device mesh. Levels of at most `low` octs
 * in total are processed by one block. To device sums (struct sum) is added residual² before the
 * first correction (before; NULL: not) and after each (after[n]). All cycles are one launch, of a
 * block of 1024 threads on each multiprocessor, if `low` lets one block process at least the
 * coarsest level and not all of them, if the finest has at most MG_CYCLE_OCTS octs, and if all
 * blocks run at the same time (dev_together). */
void mg_dev_cycles(const struct mg_dev *g, const struct mirror *x, double (*rhs)[8], int64_t low,
                   bool safe, int n, int64_t *before, int64_t *after);

struct mg_dev_level mg_dev_view(const struct mg_dev *g, const struct mirror *x, double (*rhs)[8],
                                int k);
/* Computes residuals of own octs; their means go to mean, or if NULL to `below`, unless NULL. */
void mg_dev_down(const struct mirror *x, const struct mg_dev_level *g,
                 const struct mg_dev_level *below, double *mean, int64_t *norm);

/* ---- grav_dev.c ---- */

/* Faces of a level without a neighbour, on the device. */
struct dev_faces {
    bool known;
    uint64_t octs;
    int32_t n;
    int32_t *first, *missing; /* lists of kernels.h; NULL: none */
};

/* For levels of n³ cells; 0: no tables there. */
struct fourier_dev {
    int n;
    enum green kind;
    struct fft_passes whole, half;
    struct dev_room root, denominator, exact, window, part, factor, wave;
};

/* Energy and maximum density in transit from the device. */
enum { ENERGY_BLOCKS = 1024 };
struct dev_energy {
    int64_t blocks;
    double top[ENERGY_BLOCKS];
    int64_t sum[GRAV_NORM];
    struct dev_digits digits; /* these on their way */
};

/* Refinement criterion of a level in transit, one bit per cell; bits NULL: none. */
struct dev_dense {
    int64_t mark;
    uint64_t octs; /* version of the level */
    unsigned char *bits;
};

/* Number of norms, before the first cycle and after each; at least the four of gas_mass. */
enum { GRAV_NORMS = 1 + GRAV_CYCLES };

struct grav_dev {
    struct mirror *mirror;
    struct ghost_dev *ghost; /* ghost exchanges; NULL on one rank */
    const struct comm *comm;
    struct dev *dev; /* device of the mirror */
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
    struct dev_digits digits;                 /* norms on their way */
    struct dev_energy energy;
    struct dev_dense dense_of[LEVEL_MAX + 2];
};

/* Copies n sums to the host: here[n][GRAV_NORM]. Waits. */
MUST_USE enum err grav_sums_get(struct grav_dev *d, int n, const int64_t *there, int64_t *here);

static inline int64_t grav_blocks(int64_t n, int each)
{
    return (n + each - 1) / each;
}

/* ---- mg_tables_dev.c: release ---- */

/* Frees the hierarchy once all work in the stream has run; on several ranks the stream is empty. */
void mg_dev_drop(struct grav_dev *d, struct mg_dev *g);

/* ---- exchange_dev.c: collective; no effect on one rank ---- */

enum { PAYLOAD_ARRAYS = 3 };
/* Device arrays [noct] of an exchange. */
struct grav_payload {
    enum {
        PAYLOAD_ROWS,
        PAYLOAD_BLACK /* black cells of one array */,
        PAYLOAD_SUMS /* ghost_add_i64 */
    } what;
    enum comm_use use; /* use of the exchange; ignored for sums */
    struct ghost_dev_plan *plan;
    lidx noct;
    int n;
    void *arr[PAYLOAD_ARRAYS];
    size_t stride[PAYLOAD_ARRAYS];
};
void grav_exchange(struct grav_dev *d, const struct grav_payload *k);
/* grav_exchange by the plan of level l, which sets plan and noct. */
void grav_exchange_level(struct grav_dev *d, const struct mesh *m, int l, struct grav_payload k);

/* ---- several ranks; all functions are collective ---- */

/* Name of arrays transferred for levels that every rank solves. */
#define MG_SHARED "multigrid shared"

/* mg_ranks_tables.c: makes a new hierarchy. ERR_LIMIT: too little memory on this rank; other ranks
 * may have succeeded. */
MUST_USE enum err mg_ranks_need(struct grav_dev *d, const struct mesh *m, int l,
                                struct grav_par *p);
/* Fills the ghosts of the right-hand side and of the first guess. */
void mg_ranks_source(struct grav_dev *d, int l, double (*rhs)[8]);
void mg_ranks_cycle(struct grav_dev *d, int l, double (*rhs)[8], bool safe, int64_t *const norm[2]);
void mg_ranks_force(struct grav_dev *d, struct mesh *m, int l);

/* ---- fourier_dev.c: complete levels in Fourier space, on one rank ---- */

bool fourier_dev_can(int l);
void fourier_dev_drop(struct grav_dev *g); /* the stream must be empty */
MUST_USE enum err fourier_dev_solve(struct grav_dev *g, struct mesh *m, int l, double fourpi,
                                    double rho_tot, const struct grav_par *p);
