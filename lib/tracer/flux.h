/* tracer/flux: the mass that passed through faces of cells in Godunov steps. Private to tracer.
 *
 * Fluxes are kept for octs that tracers are in, and only from the step to the jump. Masses are
 * densities, in single precision: a probability is right to 1e-7, far below what any number of
 * tracers shows. */
#pragma once
#include "base/mem.h"
#include "dom/event.h"
#include "tracer/tracer.h"

/* Of an oct: the mass that left its cells through each of their faces, as density, and the
 * probabilities to leave them. */
struct tracer_left {
    float out[6][8], share[8];
};

/* Of an oct at the boundary of its level: what entered its cells through the outer faces from
 * coarser cells, as density, in this step of the level, and before it in the same step of the
 * coarser level. The four cells at a face are numbered by tracer_at_face. */
struct tracer_entry {
    float now[6][4], before[6][4];
};

struct tracer_entries {
    lidx *row; /* [noct] row of each oct at the boundary, or −1; NULL: none */
    struct tracer_entry *at;
    /* [nown of the coarser level] leaf cells of the oct that touch this level, bits */
    unsigned char *near;
};

struct tracer_flux {
    struct patch_flow flow;
    int level;     /* of the step that is watched */
    uint8_t walls; /* bit f: no mass passes the boundary of the box at face f */
    lidx *row;     /* [nown] of each oct in `left`; −1: no tracers are in it */
    struct tracer_left *left;
    /* [nown] of the octs with a row, 256 times the probabilities to leave their cells, rounded
     * down, at most 255 */
    uint8_t (*most)[8];
    struct tracer_entries entry[LEVEL_MAX + 2];
    uint64_t settled[LEVEL_MAX + 2]; /* lists of octs (struct level) when tracers were settled */
    struct star_ledger ledger;
};

/* Number of a cell among those at a face along this axis. */
static inline int tracer_at_face(int axis, int c)
{
    return axis == 0 ? c >> 1 : axis == 1 ? (c & 1) | (c >> 1 & 2) : c & 3;
}

/* The cell of this number at the lower or upper face along the axis. */
static inline int tracer_face_cell(int axis, int side, int at)
{
    if (axis == 0) return at << 1 | side;
    if (axis == 1) return (at & 1) | side << 1 | (at & 2) << 1;
    return at | side << 2;
}

/* The oct of the finer level across face f of cell c of oct i, −1: none. */
static inline lidx tracer_finer_across(const struct level *lv, lidx i, int c, int f)
{
    const int bit = 1 << (f >> 1);
    const lidx j = ((c & bit) != 0) == (f & 1) ? lv->nbr[i][f] : i;
    return j >= 0 ? lv->child[j][c ^ bit] : -1;
}

/* Mass, as density of the coarse cell, that entered the finer level from cell c of oct i of
 * level l, in the present step (now) or before. */
float tracer_entered(const struct tracer_flux *flux, const struct mesh *m, int l, lidx i, int c,
                     bool now);
/* A swap as it is sent: with the state of a star that was born. */
struct swap {
    struct star_swap s;
    double x[3], v[3];
    okey key; /* of the cell: tracer_cell_key */
};
/* Position of a cell of level l along the curve of the finest cells: different for leaf cells. */
static inline okey tracer_cell_key(int l, const int64_t cell[3])
{
    return okey_make((uint64_t)cell[0], (uint64_t)cell[1], (uint64_t)cell[2])
           << 3 * (LEVEL_MAX - l);
}
/* Sends swaps to the ranks of octs that touch their cells; sorts them there. (collective) */
MUST_USE enum err tracer_swaps_send(const struct tracer_run *r, const struct star_swaps *from,
                                    mem_order *order, struct events *to);

/* Sends this step's entries of ghost octs from their owners. (collective) */
void tracer_entries_exchange(const struct tracer_run *r, int l);
/* Ends the step of level l: adds what entered to the sum, frees what left; the finer level's sums
 * are no longer needed. */
void tracer_flux_end(const struct tracer_run *r, int l);
/* Whether a particle is a tracer that jumps; whether it is one in a cell of level l. */
static inline bool tracer_jumps(const struct parts *p, int64_t i)
{
    return p->family[i] == FAM_GAS_TRACER;
}

static inline bool tracer_on(const struct parts *p, int64_t i, int l)
{
    return tracer_jumps(p, i) && p->levelp[i] == l;
}

/* Number of its cell in its oct (struct parts.jumps). */
static inline int tracer_cell(const struct parts *p, int64_t i)
{
    return p->partner[i] & 7;
}

/* A cell of level l as numbers of cells along each axis; position of its centre along an axis. */
static inline double tracer_centre(const struct mesh *m, int l, int64_t cell)
{
    return ((double)cell + 0.5) * mesh_dx(m, l);
}
