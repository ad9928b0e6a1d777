/* oct/mesh: the octree as one set of arrays per level.
 *
 * Levels 1..levelmin are complete. In each level the octs this rank owns come first, in Morton
 * order, then the ghost octs (copies of other ranks' octs), in Morton order. Fields are
 * double[noct][8], an oct's eight cells in one cache line; cell c = cx + 2 cy + 4 cz. All fields of
 * a level live as long as its octs and move with them when the mesh changes (lib/adapt). Ghosts are
 * present for: the 26 neighbours of every own oct, the 27 octs around the ancestor (on any level)
 * of every own oct, the children and grandchildren of every own oct, and the children of its
 * neighbours that touch it. The parent of every present oct is present.
 * Each field knows whether its ghosts are valid (oct/fields.h); dom/ghost fills them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "oct/gas.h"
#include "oct/okey.h"

enum { LEVEL_MAX = OKEY_LEVELS, NVAR_MAX = 64 };

/* Values of the fields of a level, in the order of fields.def. */
enum field {
#define ROW(symbol, n, ...) FLD_##symbol, FLD_##symbol##_END = FLD_##symbol + (n)-1,
#include "oct/fields.def"
    FLD_MAX,
    FLD_FX = FLD_FORCE,
    FLD_FY,
    FLD_FZ,
    FLD_U = FLD_GAS
};
/* A set of fields: bits of oct/fields.h, 32 for each of four levels (sim/phase.h). */
__extension__ typedef unsigned __int128 field_set;
enum { FLD_FLAG = FLD_MAX }; /* stands for level.flag where ghosts are looked after */

enum {
    NBR_NONE = -1,
    NBR_BOUNDARY = -2
}; /* no oct there · beyond a physical boundary of the box */

struct okhash {
    lidx *slot; /* -1 empty */
    uint64_t mask;
    int shift;
};

/* Which own octs go to which peer, and which ghosts come back. Lists are in Morton order on both
 * sides. */
struct xplan {
    bool shared; /* some rank has peers: all take part in exchanges */
    int npeer;
    int *peer;    /* ranks, ascending */
    lidx *sfirst; /* [npeer+1] into send */
    lidx *send;   /* own octs */
    lidx *rfirst; /* [npeer+1] into recv */
    lidx *recv;   /* ghost octs */
};

/* Corrections from the octs at the boundary of a level to unrefined cells of the coarser one, for
 * one system of conservation laws (patch/reflux.h); from one update of the coarser level to the
 * next. */
struct reflux {
    lidx *row; /* [noct] row in flux or -1; NULL when there is none */
    lidx n;
    int nflux;
    double *flux; /* [n][6 faces][nflux] */
};
enum { REFLUX_GAS, REFLUX_SECOND, REFLUX_SYSTEMS };

struct level {
    int level;
    int64_t total; /* own octs of all ranks (lib/adapt) */
    lidx nown, noct, cap;
    /* how often the list of octs, and the links, have changed (oct/mirror.h, grav/cached.h); lists
     * of a level change on all ranks together */
    uint64_t octs, links;
    okey *key; /* [noct] */
    /* oct of level+1 in each cell, -1: leaf (or, in outer ghosts, not present here) */
    lidx (*child)[8];
    lidx *parent; /* oct of level-1 (level 1: -1) */
    /* face neighbours −x,+x,−y,+y,−z,+z on this level, or NBR_NONE, NBR_BOUNDARY */
    lidx (*nbr)[6];
    /* 1: this cell is to be split at the next refinement (RAMSES flag1) */
    unsigned char (*flag)[8];
    /* quasi-Lagrangian criterion of the last deposit (own octs; NULL without gravity) */
    unsigned char (*dense)[8];
    double (*fld[FLD_MAX])[8]; /* NULL: the run has no such field */
    bool valid[FLD_MAX + 1];   /* ghosts hold what their owners hold (oct/fields.h) */
    struct okhash hash;
    struct xplan plan;
    struct reflux reflux[REFLUX_SYSTEMS];
};

/* Arrays of the fields: level_phi(lv), level_force(lv, d) … */
#define FIELD(symbol, get, ...)                                                                    \
    PTAH_HD_FN double(*level_##get(const struct level *lv))[8]                                     \
    {                                                                                              \
        return lv->fld[FLD_##symbol];                                                              \
    }
#define VECTOR(symbol, get, ...)                                                                   \
    PTAH_HD_FN double(*level_##get(const struct level *lv, int v))[8]                              \
    {                                                                                              \
        return lv->fld[FLD_##symbol + v];                                                          \
    }
#define FACES VECTOR
#define EDGES VECTOR
#define VARIABLES VECTOR
#include "oct/fields.def"

/* The value in cell c of a new oct of a value of the parent cell, which is on its side `side` along
 * the axes `fixed` (0: in the middle), where that on the opposite side is `other`. */
PTAH_HD_FN double field_child(double own, double other, int fixed, int side, int c)
{
    return (c & fixed) == side || !fixed ? own : 0.5 * (own + other);
}
/* Of two values on opposite faces the other one; first: that on the face −x. */
#define FACE_OPPOSITE(f, first) ((first) + (((f) - (first)) ^ 1))

struct mesh {
    int levelmin, levelmax;
    int nvar; /* conserved variables; 0 without hydro */
    bool hydro, gravity;
    double boxlen;
    double per_boxlen; /* 1/boxlen if that is exact, else 0 */
    /* physical boundary at −x,+x,−y,+y,−z,+z (both false: periodic) */
    bool bounded[6];
    struct level lev[LEVEL_MAX + 2]; /* [1..levelmax]; others empty */
};

/* Whether some face of the box is a boundary. */
static inline bool mesh_has_boundaries(const struct mesh *m)
{
    bool any = false;
    for (int f = 0; f < 6; f++) any |= m->bounded[f];
    return any;
}

/* Cell size on level l in code units. */
PTAH_HD_FN double mesh_dx(const struct mesh *m, int l)
{
    return m->boxlen / (double)((int64_t)1 << l);
}

/* Coordinate x along d, in [0, boxlen) where the box is periodic, as in RAMSES's files. */
static inline double mesh_wrapped(const struct mesh *m, int d, double x)
{
    if (m->bounded[2 * d] || m->bounded[2 * d + 1]) return x;
    if (x < 0) x = x + m->boxlen;
    if (x >= m->boxlen) x = x - m->boxlen;
    return x;
}

/* Position in cells of level l. The same digits on every level, so levels never disagree about
 * where a particle is; 0 <= x < boxlen gives 0 <= result < 2^l. */
PTAH_HD double mesh_cells(const struct mesh *m, int l, double x)
{
    double part = m->per_boxlen > 0 ? x * m->per_boxlen : x / m->boxlen; /* the same bits */
    return part * (double)((int64_t)1 << l);
}

/* The cell of level-1 that contains an oct: *c in 0..7 of oct parent[i]. */
PTAH_HD_FN int oct_slot(const struct level *lv, lidx i)
{
    return (int)(lv->key[i] & 7);
}

/* Bytes that an oct takes in the arrays of its level, with nvar conserved variables (0: no gas);
 * and their sum. */
struct mesh_bytes {
    size_t links, hash, gas, gravity, moments; /* moments: centres of mass, sim/density */
};
struct mesh_bytes mesh_bytes(int nvar, bool gravity);
size_t mesh_oct_bytes(int nvar, bool gravity);

void mesh_init(struct mesh *m, int levelmin, int levelmax, int nvar, bool hydro, bool gravity,
               double boxlen, const bool bounded[6]);
void mesh_fini(struct mesh *m);
/* Frees all octs: the mesh is as after mesh_init. */
void mesh_empty(struct mesh *m);
lidx mesh_find(const struct level *lv, okey k); /* -1 if not present on this rank */
/* Key of the oct at coordinates x of level l, which may lie outside of the box: periodic, or false
 * beyond a boundary. */
bool mesh_key_at(const struct mesh *m, int l, const int64_t x[3], okey *k);
/* The oct at offset (dx,dy,dz), each in -2..2, from oct i of level l: index, NBR_NONE or
 * NBR_BOUNDARY. */
lidx mesh_neighbour(const struct mesh *m, int l, lidx i, int dx, int dy, int dz);
/* Ghosts among octs nown..noct-1 that have an own oct as face neighbour, ascending; their number in
 * *n (owner: caller, FREE). */
lidx *mesh_halo(lidx nown, lidx noct, const lidx (*nbr)[6], lidx *n);
/* All 27 octs around oct i, index (dx+1) + 3 (dy+1) + 9 (dz+1); entries as above, 13 is i itself.
 */
void mesh_cube(const struct mesh *m, int l, lidx i, lidx cube[27]);
/* Of the eight octs that meet at the corner of oct i in its cell `slot` those that differ from it
 * along `axes` only (bits); bit d of an index: beyond i along d. Entries as above, 0 is i itself.
 */
void mesh_corner(const struct mesh *m, int l, lidx i, int slot, int axes, lidx oct[8]);

/* Is the mesh graded at oct i of level l > 1: do the octs of level l−1 exist that it touches?
 * Levels of cells that touch differ by one at most where all are. (Octs that touch it meet at a
 * corner of its parent.) */
bool mesh_is_graded(const struct mesh *m, int l, lidx i);

/* How a level with links becomes another. */
struct mesh_moves {
    bool skip[FLD_MAX]; /* fields whose values are elsewhere (oct/remap): here they are lost */
    /* the old index of each oct or −1: of own octs, if the caller knows them (else NULL); receives
     * those of all octs (owner: caller, FREE) */
    lidx *from;
};

/* Building block of lib/adapt (oct/replace): replaces level l by `nown` own and `nghost` ghost octs
 * with the given keys (each list ascending; taken over by copy). Keeps the fields, flags of octs
 * that were present before. With `moves` links, also those of the levels beside it, are made from
 * the links before: own octs stay own octs then, and none that has children is removed. Without
 * (NULL) there are none: call mesh_link afterwards. */
void mesh_replace(struct mesh *m, int l, lidx nown, const okey *own, lidx nghost, const okey *ghost,
                  struct mesh_moves *moves);
/* parent and nbr of level l, child of levels l-1 and l, parent of l+1 */
void mesh_link(struct mesh *m, int l);
void mesh_link_down(struct mesh *m,
                    /* the same without level l+1: when all levels are linked in ascending order */
                    int l);
void mesh_link_neighbours(struct mesh *m, int l); /* nbr alone */
bool field_exists(int f, int nvar, bool gravity);
bool mesh_has_field(const struct mesh *m, int f);
/* The name of its memory (base/mem.h): that of gravity has fields that need it. */
const char *field_memory(int f);
void xplan_free(struct xplan *p);
