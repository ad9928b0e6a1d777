/* movie/priv: the parts of a frame in progress. Private to movie.
 *
 * The columns of cells along the line of sight of a camera that is not turned cover the same
 * pixels: their sums are collected first, an oct at a time (columns.c), and laid on pixels at the
 * end. Cells of other cameras are laid on pixels one by one (raster.c). */
#pragma once
#include "movie/digits.h"
#include "movie/paint.h"
#include "oct/fields.h"
#include "phys/units.h"

enum {
    PAINT_OCTS = 64,                    /* octs of a block */
    PAINT_CELLS = 8 * PAINT_OCTS,       /* their cells */
    PAINT_VALUES = MOVIE_VARIABLES + 1, /* weight and variables */
    PAINT_ROWS = MOVIE_VARIABLES + 9,   /* rows of values of a block */
    PAINT_TILE = 8                      /* sites of a tile along a side */
};
/* Times a value that is too large for sums, the value is not finite. */
static const double PAINT_HUGE = 1e200;

/* ---- sheets ---- */

/* Sums at the sites of a plane, in tiles that exist where something was added: `site` integers
 * each, digits of exact sums, or keys whose maximum counts. */
struct sheet {
    int nu, nv; /* sites */
    int across, down, site;
    int64_t empty; /* value of an integer to which nothing was added */
    int64_t **tile;
};
void sheet_init(struct sheet *s, int nu, int nv, int site, int64_t empty);
void sheet_fini(struct sheet *s);
int64_t *sheet_tile(struct sheet *s, int tile); /* makes a missing tile */

static inline int64_t *sheet_at(struct sheet *s, int i, int j)
{
    const unsigned x = (unsigned)i, y = (unsigned)j;
    const int k = (int)(y / PAINT_TILE) * s->across + (int)(x / PAINT_TILE);
    int64_t *t = s->tile[k] ? s->tile[k] : sheet_tile(s, k);
    return t + (y % PAINT_TILE * PAINT_TILE + x % PAINT_TILE) * (size_t)s->site;
}
/* Adds the tiles of `from`, or takes maxima. */
void sheet_join(struct sheet *s, const struct sheet *from);
/* Moves the digits of sum q, of which a site has `parts` parts, by `places` places down. */
void sheet_shift(struct sheet *s, int q, int parts, int places);
/* Adds up the sheets of all ranks on the rank `owner`; elsewhere tiles are freed. (collective) */
void sheet_reduce(struct sheet *s, const struct comm *c, int owner);

/* ---- what is drawn ---- */

/* Cameras whose cells have the same weights and selection share the sums of a block. */
struct group {
    enum movie_method method;
    bool zoom;
    int ivar;
    double min, max;
    int n; /* values: the weight of means, then the variables */
};

/* The columns of octs of a level that a camera which is not turned sees. */
struct columns {
    bool used;
    int from[2], n[2]; /* octs of the frame along u and v: the first, their number */
    int *slot[2];      /* [n] place among the octs that cover a pixel; −1: the oct covers none */
    int *oct[2];       /* [slots] their coordinates */
    int slots[2];
    int *lead[2];     /* [slots] place among the slots of the camera plan.leader */
    int64_t depth[2]; /* cells depth[0] … depth[1]−1 along w are in the frame */
};

/* Footprint of a cell of a level, without perspective. */
struct footprint {
    double h;          /* half side */
    double ext[3];     /* half sides of its box along u, v, w */
    double edge[3][2]; /* half edges of a turned cube along u and v */
    double bound[3];   /* cross products that bound the cube */
    bool skew;         /* in perspective: corners of the cube */
    double corner[8][2];
    double off[8][3]; /* centres of the cells of an oct relative to its own, along u, v, w */
    double far[3];    /* half sides of the box of an oct's footprints */
};

struct plan {
    struct movie_view view;
    int group;
    int leader; /* camera whose columns have all that this one sees: itself, or one before it */
    struct footprint foot[LEVEL_MAX + 2];
    struct columns column[LEVEL_MAX + 2];
    int pass[2]; /* pixels along u and v, of paint.pass */
    int owner;   /* rank that gets the maps */
    float *map[MOVIE_VARIABLES];
};

/* The pixels of a frame along one side: intervals of an axis. */
struct pass {
    int axis, last;
    double lo, hi, side;
};

/* Properties of a particle that its values on maps depend on. */
struct dot {
    double m, birth;
    int family;
};

/* The share of a frame that one thread has drawn. Particles that are like the first one, most of a
 * cosmological box, are only counted; their values are added at the end. */
struct painter {
    struct scale scale[MOVIE_CAMERAS][PAINT_VALUES]; /* by group, value */
    struct scale light[MOVIE_VARIABLES];             /* of sums over particles */
    struct sheet pixels[MOVIE_CAMERAS], dots[MOVIE_CAMERAS], count[MOVIE_CAMERAS];
    struct dot common;
    bool chosen, drawn; /* whether there is a common particle; whether it has any value */
    struct sheet column[MOVIE_CAMERAS][LEVEL_MAX + 2];
    int64_t bad; /* cells and particles with values that are not finite */
    /* [PAINT_ROWS][PAINT_CELLS], by group [PAINT_VALUES][PAINT_CELLS]: scratch of cells.c */
    double *value, *sum[MOVIE_CAMERAS];
};

struct paint {
    struct movie movie;
    const struct comm *comm;
    const struct ckpt_head *head;
    int ndim, ncamera, ngas, ndots;                 /* variables of gas, of particles */
    int gas[MOVIE_VARIABLES], dot[MOVIE_VARIABLES]; /* their places among the variables */
    int place[MOVIE_VARIABLES];                     /* place of a variable in one of these lists */
    int needs;                                      /* the most that a variable needs: NEEDS_… */
    int finest;                                     /* finest level that is drawn */
    struct units units;
    struct plan *plan; /* [ncamera] */
    int npass;
    struct pass pass[2 * MOVIE_CAMERAS];
    int ngroup;
    struct group group[MOVIE_CAMERAS];
    int npainter;
    struct painter *painter;
    struct light *light; /* of stars; NULL: no variable needs it */
    double *rows;        /* scratch of paint_source_octs */
};
/* Values of cells from which variables are made; each includes those before it. */
enum { NEEDS_NOTHING, NEEDS_INVERSE, NEEDS_VELOCITY, NEEDS_PRESSURE };

/* A block of octs of a level. u: rows of eight cells of each variable and of the faces of the
 * field. */
struct block {
    int level, n;
    const okey *key;
    const unsigned char *split;
    const double (*u[NVAR_MAX])[8];
    const double (*b[6])[8];
};

/* A block with the octs that have drawn cells. */
struct cells {
    int level, n;
    unsigned seen;                    /* cameras that may see the block */
    bool cube;                        /* 4³ octs without children; their order is that of keys */
    int at[PAINT_OCTS];               /* octs of the block */
    unsigned char drawn[PAINT_OCTS];  /* bits of cells */
    int32_t x[3][PAINT_OCTS];         /* coordinates of the octs */
    const double *sum[MOVIE_CAMERAS]; /* by group: [n values][PAINT_CELLS] */
};

/* A vector relative to the centre, turned, along the axes u, v, w of the view. */
static inline void view_turn(const struct movie_view *v, const double x[3], double out[3])
{
    const double turned[3] = {v->cos_theta * x[0] + v->sin_theta * x[1],
                              v->cos_theta * x[1] - v->sin_theta * x[0], x[2]};
    const double at[3] = {turned[0], v->cos_phi * turned[1] + v->sin_phi * turned[2],
                          v->cos_phi * turned[2] - v->sin_phi * turned[1]};
    out[0] = at[v->u], out[1] = at[v->v], out[2] = at[v->w];
}

/* painter.c: one painter for each thread; the number of this thread, and of all. */
void paint_painters(struct paint *p);
void paint_painters_free(struct paint *p);
int paint_thread(void);
int paint_threads(void);
/* painter.c: raises the highest place of a sum of gas or of particles. */
void painter_raise(const struct paint *p, struct painter *a, int g, int v, int top);
void painter_raise_dots(const struct paint *p, struct painter *a, int v, int top);
/* points.c: finds the pixels of a camera; adds the particles of a painter that were counted. */
void points_plan(struct paint *p, struct plan *k);
void points_uncount(const struct paint *p, struct painter *a, int camera);
/* cells.c: draws a block. */
void paint_block(struct paint *p, struct painter *a, const struct block *b);
/* columns.c */
void columns_plan(const struct paint *p, struct plan *k, int level);
/* Finds the leader of a camera, once those before it have theirs. */
void columns_share(struct paint *p, int camera);
void columns_fini(struct columns *c);
void columns_add(struct paint *p, struct painter *a, int camera, const struct cells *c);
/* raster.c */
void raster_plan(const struct paint *p, struct plan *k, int level);
void raster_add(struct paint *p, struct painter *a, int camera, const struct cells *c);
/* Whether a box with half sides ext around x, along u, v, w relative to the centre, misses the
 * frame. */
bool raster_misses(const struct movie_view *v, const double x[3], const double ext[3]);
/* The pixels at[0] … at[1] along a side of the frame, 0 or 1, whose centres are in the interval
 * x ± half of a cell. Returns whether there are any. */
bool raster_reach(const struct movie_view *v, int side, double x, double half, int at[2]);
typedef void raster_fn(void *ctx, int j, int from, int to);
/* Calls fn for the pixels that a cell covers, row by row; x: its projected centre along u, v, w,
 * relative to that of the frame. */
void raster_cell(const struct movie_view *v, const struct footprint *f, const double x[3],
                 raster_fn *fn, void *ctx);
/* light.c: light_of gives the luminosity over c² of a star, code units. */
struct light;
enum err light_new(const struct paint_par *par, struct light **out);
void light_free(struct light **l);
double light_of(const struct light *l, double birth, double mass);
