/* tracer/flux: the mass that passed through faces of cells in Godunov steps. Private to tracer.
 *
 * Fluxes are kept for octs that tracers are in, and only from the step to the jump. Masses are
 * densities, in single precision: a probability is right to 1e-7, far below what any number of
 * tracers shows. */
#pragma once
#include "tracer/tracer.h"

/* Of an oct: density of its cells before the step, later the probability to leave them; what left
 * them through the faces −x,+x,−y,+y,−z,+z, as density. */
struct tracer_gone {
    float mass[8], out[6][8];
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
    /* [nown of the coarser level] whether a leaf cell of the oct touches this level */
    unsigned char *near;
};

struct tracer_flux {
    struct patch_flow flow;
    int level;    /* of the step that is watched */
    lidx *row;    /* [nown] row of each oct with tracers, or −1 */
    lidx *oct, n; /* [n] oct of each row */
    struct tracer_gone *gone;
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
