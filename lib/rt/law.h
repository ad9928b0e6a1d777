/* rt/law: photons as a system of conservation laws (patch/law.h): density and flux of each group,
 * at first order, with the fluxes of rt/m1_kern.h. Private to rt. */
#pragma once
#include "patch/patch.h"
#include "rt/point_kern.h"
#include "rt/rt.h"

struct rt_law {
    struct law law;
    const struct rt *rt; /* lent */
    int groups;
    bool vacuum; /* beyond the faces of a periodic box is nothing */
};

struct rt_law rt_law_make(const struct rt *rt, const struct mesh *m);
/* Flux, not yet times dt/dx, through a face along axis d between the states u of a group, below and
 * above: its first n components (1: that of the density, which costs less). */
void rt_law_flux(const struct rt *rt, int d, const double *const u[2], int n, double *flux);
/* State of a group beyond boundary f of the box, from that within. */
void rt_law_beyond(const struct rt *rt, int group, int f, double u[RT_COMPONENTS]);
/* Empties the registers of level l, if it has any. */
void rt_registers_clear(struct mesh *m, int l);
/* The parts of a sub-step (rt/rt.h) of photons and cells at the host, in transport.c, sources.c,
 * settle.c and cells.c. */
void rt_host_transport(struct rt *rt, struct mesh *m, int l, double dt, bool first);
void rt_host_confine(struct rt *rt, struct mesh *m, int l);
void rt_host_sources(const struct rt_run *r, int l, double dt);
void rt_host_settle(const struct rt_run *r, int l);
MUST_USE enum err rt_host_chemistry(const struct rt_run *r, int l, double dt);
/* settle.c: registers of ghost octs of level l from their owners. (collective) */
void rt_registers_exchange(const struct rt_run *r, int l);
/* waves.c: the table of RAMSES-RT (owner: caller, mem_free), and the waves of a state of a group
 * along axis d by it. */
struct rt_waves *rt_waves_new(void);
struct m1_waves rt_waves_at(const struct rt_waves *t, const double u[RT_COMPONENTS], int d,
                            double c);
