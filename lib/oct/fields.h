/* oct/fields: sets of what a level holds, and whether ghosts are valid.
 *
 * Each field of a level knows whether its ghosts hold what their owners hold (level.valid): an
 * exchange (dom/ghost) makes them valid, a new list of octs makes them stale, and so does a phase
 * that writes own cells (sim/phase). The flags of refinement count as a field of their own. */
#pragma once
#include <stdint.h>

#include "oct/mesh.h"

typedef uint64_t field_set;

enum {
    SET_GAS = 1 << 0,     /* FLD_U… */
    SET_PHI = 1 << 1,     /* FLD_PHI */
    SET_PHI_OLD = 1 << 2, /* FLD_PHI_OLD */
    SET_FORCE = 1 << 3,   /* FLD_FX… */
    SET_RHO = 1 << 4,     /* FLD_RHO */
    SET_FLAG = 1 << 5,    /* cells to refine */
    SET_GHOSTED = (1 << 6) - 1,
    /* these have no ghosts to look after */
    SET_DENSE = 1 << 6,  /* quasi-Lagrangian criterion */
    SET_EDGE = 1 << 7,   /* registers of fluxes at coarse-fine boundaries */
    SET_PARTS = 1 << 8,  /* particles */
    SET_TIME = 1 << 9,   /* time, expansion factor, time steps */
    SET_DOMAIN = 1 << 10 /* who owns what */
};

bool field_in(field_set set, int f); /* f: enum field, or FLD_FLAG */
const char *field_set_name(field_set one);

/* Ghosts of the fields of the set, as far as they exist, are valid or not. */
void ghosts_set(struct mesh *m, int l, field_set set, bool valid);
bool ghosts_valid(const struct mesh *m, int l, field_set set);
