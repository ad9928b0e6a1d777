/* oct/mesh: the octree as one set of arrays per level.
 *
 * Levels 1..levelmin are complete. In each level the octs this rank owns come first, in Morton
 * order, then the ghost octs (copies of other ranks' octs), in Morton order. Fields are
 * double[noct][8], an oct's eight cells in one cache line; cell c = cx + 2 cy + 4 cz. All fields of
 * a level live as long as its octs and move with them when the mesh changes (lib/adapt). Ghosts are
 * present for: the 26 neighbours of every own oct, the 27 octs around the ancestor (on any level)
 * of every own oct, the children and grandchildren of every own oct, and the children of its
 * neighbours that touch it; with a magnetic field also for all octs within two octs of every own
 * one, so that what lies across the faces of its neighbours is known. The parent of every present
 * oct is present. Each field knows whether its ghosts are valid (oct/fields.h); dom/ghost fills
 * them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "oct/gas.h"
#include "oct/okey.h"

enum { LEVEL_MAX = OKEY_LEVELS, NVAR_MAX = 64 };
/* Photons have a density and three components of a flux for each group. */
enum { PHOTON_VALUES = 4, PHOTON_GROUPS = 8, NPHOTON_MAX = PHOTON_VALUES * PHOTON_GROUPS };

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
enum { FLD_FLAG = FLD_MAX }; /* index of level.flag where ghosts are tracked */

/* absent oct; position beyond a physical boundary of the box */
enum { NBR_NONE = -1, NBR_BOUNDARY = -2 };

struct okhash {
    lidx *slot; /* index of the first oct of a family; -1: empty */
    uint64_t mask;
    int shift;
};

/* Exchange plan of a level: own octs to send to each peer, ghosts to receive. Lists are in Morton
 * order on both sides. */
struct xplan {
    bool shared; /* whether any rank has peers, so that all take part in exchanges */
    int npeer;
    int *peer;    /* [npeer] ranks, ascending */
    lidx *sfirst; /* [npeer+1] start of each peer's list in send */
    lidx *send;   /* own octs to send */
    lidx *rfirst; /* [npeer+1] start of each peer's list in recv */
    lidx *recv;   /* ghost octs to receive */
};

/* Reflux registers: corrections from the octs at the boundary of a level to unrefined cells of the
 * coarser level, for one system of conservation laws (patch/reflux.h); valid from one update of the
 * coarser level to the next. */
struct reflux {
    lidx *row; /* [noct] row of each oct in flux, or -1; NULL: no registers */
    lidx n;
    int nflux, nedge; /* nedge: 12 for a law with a field on faces, or 24; otherwise 0 */
    int nlower;       /* numbers of each row behind all rows, on hosts (patch/reflux.h) */
    /* [n] rows of corrections: [6 faces][nflux], then [nedge]: four edges along each axis */
    double *flux;
};
enum { REFLUX_GAS, REFLUX_SECOND, REFLUX_RT, REFLUX_SYSTEMS };

struct level {
    int level;
    int64_t total; /* number of own octs on all ranks (lib/adapt) */
    lidx nown, noct, cap;
    /* Change counters of the list of octs and of the links (oct/mirror.h, grav/cached.h); lists of
     * a level change on all ranks together. */
    uint64_t octs, links;
    int nener; /* number of non-thermal energies of the gas (struct gas_energies) */
    okey *key; /* [noct] Morton keys */
    /* [noct] oct of level+1 in each cell, -1: leaf (or, in outer ghosts, absent on this rank) */
    lidx (*child)[8];
    lidx *parent; /* [noct] oct of level-1 (level 1: -1) */
    /* [noct] face neighbours −x,+x,−y,+y,−z,+z on this level, or NBR_NONE, NBR_BOUNDARY */
    lidx (*nbr)[6];
    /* [noct] 1: cell to be split at the next refinement (RAMSES flag1) */
    unsigned char (*flag)[8];
    /* [nown] quasi-Lagrangian criterion at the last deposit; NULL without gravity */
    unsigned char (*dense)[8];
    double (*fld[FLD_MAX])[8]; /* arrays of the fields [noct]; NULL: the run has no such field */
    bool valid[FLD_MAX + 1];   /* whether ghosts hold the values of their owners (oct/fields.h) */
    struct okhash hash;
    struct xplan plan;
    struct reflux reflux[REFLUX_SYSTEMS];
};

/* Accessors of the field arrays: level_phi(lv), level_force(lv, d) … */
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
#define GROUPS VECTOR
#define VARIABLES VECTOR
#include "oct/fields.def"

/* Value in cell c of a new oct, prolonged from a value `own` of the parent cell on its side `side`
 * along the axes `fixed` (0: at the centre) and the value `other` on the opposite side. */
PTAH_HD_FN double field_child(double own, double other, int fixed, int side, int c)
{
    return (c & fixed) == side || !fixed ? own : 0.5 * (own + other);
}
/* Index of the value on the opposite face; first: index of the value on the face −x. */
#define FACE_OPPOSITE(f, first) ((first) + (((f) - (first)) ^ 1))

/* In fewer than three dimensions an oct has 2^ndim cells, and keys are 0 in the axes that are
 * missing, where octs have boundaries on both sides. The values of cell c >= 2^ndim repeat the
 * values of cell c mod 2^ndim, links to finer octs too, but its flag is 0: code that treats each
 * cell by itself need not know of dimensions. Sums over cells use mesh_share. */
struct mesh {
    int levelmin, levelmax;
    int ndim, cells; /* dimensions; 2^ndim, cells of an oct */
    int nvar;        /* number of conserved variables; 0 without hydro */
    int gravity;     /* 0: none, 1: the potential, 2: also the scalar field of other theories */
    bool hydro, magnetic; /* magnetic: whether the gas has a magnetic field */
    int nphoton;          /* values of photons, PHOTON_VALUES for each group; 0: no radiation */
    double boxlen;
    double per_boxlen; /* 1/boxlen if exact, otherwise 0 */
    /* physical boundaries at −x,+x,−y,+y,−z,+z (both false: periodic) */
    bool bounded[6];
    struct level lev[LEVEL_MAX + 2]; /* levels [1..levelmax]; others are empty */
};

/* Copies the values of the cells of an oct to the numbers that repeat them. */
PTAH_HD void oct_repeat(int cells, double row[8])
{
    for (int c = cells; c < 8; c++) row[c] = row[c - cells];
}

/* Whether any face of the box is a boundary. */
static inline bool mesh_has_boundaries(const struct mesh *m)
{
    bool any = false;
    for (int f = 0; f < 2 * m->ndim; f++) any |= m->bounded[f];
    return any;
}

/* Cell size on level l in code units. */
PTAH_HD_FN double mesh_dx(const struct mesh *m, int l)
{
    return m->boxlen / (double)((int64_t)1 << l);
}

/* Length, area or volume of a cell on level l. */
PTAH_HD_FN double mesh_volume(const struct mesh *m, int l)
{
    const double dx = mesh_dx(m, l);
    return m->ndim == 3 ? dx * dx * dx : m->ndim == 2 ? dx * dx : dx;
}

/* The volume that each of the eight numbers of an oct stands for: cells that are repeated share
 * theirs. */
PTAH_HD_FN double mesh_share(const struct mesh *m, int l)
{
    return mesh_volume(m, l) * (0.125 * m->cells);
}

/* Coordinate of a periodic box, less than boxlen outside of it, wrapped into [0, boxlen). */
static inline double coordinate_wrapped(double x, double boxlen)
{
    if (x < 0) x = x + boxlen;
    if (x >= boxlen) x = x - boxlen;
    return x;
}

/* Coordinate x along d, wrapped into [0, boxlen) where the box is periodic, as in RAMSES's files.
 */
static inline double mesh_wrapped(const struct mesh *m, int d, double x)
{
    if (m->bounded[2 * d] || m->bounded[2 * d + 1]) return x;
    return coordinate_wrapped(x, m->boxlen);
}

/* Position in units of cells of level l. Digits are the same on every level, so levels agree about
 * the position of a particle; 0 <= x < boxlen gives 0 <= result < 2^l. */
PTAH_HD double mesh_cells(const struct mesh *m, int l, double x)
{
    /* bitwise the same result */
    double part = m->per_boxlen > 0 ? x * m->per_boxlen : x / m->boxlen;
    return part * (double)((int64_t)1 << l);
}

/* Cell, 0..7, of oct parent[i] on level-1 that contains oct i. */
PTAH_HD_FN int oct_slot(const struct level *lv, lidx i)
{
    return (int)(lv->key[i] & 7);
}

/* Members of struct mesh that decide which fields it has. */
struct mesh_kind {
    int nvar, gravity; /* nvar 0: no gas */
    bool magnetic;
    int nphoton;
};
struct mesh_kind mesh_kind(const struct mesh *m);

/* Bytes of an oct in the arrays of its level, and their sum. */
struct mesh_bytes {
    size_t links, hash, gas, gravity, radiation,
        moments; /* moments: centres of mass, sim/density */
};
struct mesh_bytes mesh_bytes(struct mesh_kind k);
size_t mesh_oct_bytes(struct mesh_kind k);

void mesh_init(struct mesh *m, int levelmin, int levelmax, int nvar, bool hydro, int gravity,
               double boxlen, const bool bounded[6]);
/* An empty mesh becomes one of ndim = 1, 2 or 3 dimensions. */
void mesh_set_ndim(struct mesh *m, int ndim);
/* An empty mesh becomes one whose gas has a magnetic field, or none. */
void mesh_set_magnetic(struct mesh *m, bool magnetic);
/* An empty mesh becomes one whose gas has n non-thermal energies. */
void mesh_set_energies(struct mesh *m, int n);
/* An empty mesh becomes one with photons of this number of groups, 0: none. */
void mesh_set_photons(struct mesh *m, int groups);
void mesh_flag_all(struct mesh *m, int l); /* all cells are to be split */
void mesh_fini(struct mesh *m);
/* Frees all octs: the mesh is as after mesh_init. */
void mesh_empty(struct mesh *m);
int64_t mesh_own_octs(const struct mesh *m);    /* of all levels */
lidx mesh_find(const struct level *lv, okey k); /* -1 if not present on this rank */
/* Key of the oct at coordinates x of level l, which may lie outside of the box: periodic, or false
 * beyond a boundary. */
bool mesh_key_at(const struct mesh *m, int l, const int64_t x[3], okey *k);
/* Oct at offset (dx,dy,dz), each in -2..2, from oct i of level l: index, NBR_NONE or NBR_BOUNDARY.
 */
lidx mesh_neighbour(const struct mesh *m, int l, lidx i, int dx, int dy, int dz);
/* Lists the ghosts among octs nown..noct-1 that have an own oct as face neighbour, ascending; *n:
 * their number (owner: caller, FREE). */
lidx *mesh_halo(lidx nown, lidx noct, const lidx (*nbr)[6], lidx *n);
/* Finds all 27 octs around oct i, index (dx+1) + 3 (dy+1) + 9 (dz+1): index, NBR_NONE or
 * NBR_BOUNDARY; entry 13 is i itself. */
void mesh_cube(const struct mesh *m, int l, lidx i, lidx cube[27]);
/* Finds, among the eight octs around the corner of oct i in its cell `slot`, the octs that differ
 * from i along `axes` only (bits). Bit d of an index: beyond i along d. Entries: index, NBR_NONE or
 * NBR_BOUNDARY; entry 0 is i itself. */
void mesh_corner(const struct mesh *m, int l, lidx i, int slot, int axes, lidx oct[8]);

/* Whether the mesh is graded at oct i of level l > 1: all octs of level l−1 exist that it touches.
 * If this holds for all octs, levels of cells that touch differ by at most one. (The octs that
 * touch an oct meet at a corner of its parent.) */
bool mesh_is_graded(const struct mesh *m, int l, lidx i);

/* Source of the octs of a level that is replaced. */
struct mesh_moves {
    bool skip[FLD_MAX]; /* fields that mesh_replace does not move, because oct/remap does */
    /* Old index of each oct or −1. On entry: of own octs, if the caller knows them (otherwise
     * NULL); on return: of all octs (owner: caller, FREE). */
    lidx *from;
};

/* Replaces level l by `nown` own and `nghost` ghost octs with the given keys (both lists ascending;
 * copied); a building block of lib/adapt (oct/replace). Fields and flags of octs that were present
 * before are kept. With `moves`, links of the level and of the adjacent levels are updated: own
 * octs must stay own octs then, and no oct with children may be removed. With moves = NULL links
 * are not updated: call mesh_link afterwards. */
void mesh_replace(struct mesh *m, int l, lidx nown, const okey *own, lidx nghost, const okey *ghost,
                  struct mesh_moves *moves);
/* Octs of a level: both lists ascend (lent). */
struct mesh_octs {
    lidx nown, nghost;
    const okey *own, *ghost;
};
/* Gives a level without octs its first ones, as mesh_replace without moves does. The fields of
 * `unset` ([FLD_MAX]) have memory, but no values and, if it is new, no pages yet: the caller sets
 * them. Others are zero. */
void mesh_install(struct mesh *m, int l, const struct mesh_octs *o, const bool *unset);
/* Makes parent and nbr of level l, child of levels l-1 and l, parent of level l+1. */
void mesh_link(struct mesh *m, int l);
void mesh_link_down(struct mesh *m,
                    /* mesh_link without level l+1, for levels linked in ascending order */
                    int l);
void mesh_link_neighbours(struct mesh *m, int l); /* makes nbr alone */
bool field_exists(int f, struct mesh_kind k);
bool mesh_has_field(const struct mesh *m, int f);
/* The name of its memory (base/mem.h): those of gravity and radiation have fields that need
 * these. */
const char *field_memory(int f);
void xplan_free(struct xplan *p);
