/* ics/gadget: dark matter from files of Gadget and its relatives (lib/snap): initial conditions of
 * a cosmological run without gas. All types of particles but gas become dark matter; the sum of
 * their masses is that of the box, 1 in code units. */
#pragma once
#include "comm/comm.h"
#include "cosmo/cosmo.h"
#include "oct/mesh.h"
#include "part/part.h"
#include "snap/snap.h"

struct ics_gadget {
    struct snap snap;
    struct snap_units units;
    struct cosmo_par par; /* cosmology of the files */
    int64_t n;            /* particles of all types */
    double total;         /* mass of all, units of the files */
};

/* Finds the files, reads their headers and adds up the masses; each rank reads its share.
 * par.ramses is kept. Call ics_gadget_close after errors too. (collective) */
MUST_USE enum err ics_gadget_open(struct ics_gadget *g, const char *path,
                                  const struct snap_given *given, const struct comm *c);
void ics_gadget_close(struct ics_gadget *g);
/* Appends the particles, each rank an equal share of the rows of each type; part_distribute must
 * follow. (collective) */
MUST_USE enum err ics_gadget_particles(struct ics_gadget *g, const struct mesh *m,
                                       const struct comm *c, struct parts *p);
