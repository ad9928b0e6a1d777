/* rt/lights: what shines in a run besides sources of the namelist: stars, stellar objects in sinks,
 * accreting black holes, and the ultraviolet background (lib/sed). */
#pragma once
#include "rt/rt.h"

/* Reads spectra; rt->lights is NULL in a run that needs none. cosmo: NULL without cosmology. All
 * ranks return the same error. (collective) */
MUST_USE enum err rt_lights_new(struct rt *rt, const struct comm *c, const struct cosmo_par *cosmo);
/* In a run that resumes: the n groups of the checkpoint have these properties, which have followed
 * the stars. Runs whose groups do not follow stars, or of another number of groups, keep theirs.
 * Local. */
void rt_lights_restore(struct rt *rt, int n, const struct chem_group *group);
void rt_lights_free(struct rt *rt);
/* At the start of a coarse step, before chem_derive: the rates of the background, the lamps of
 * sinks, properties of groups that follow stars or the background, and whether photons are
 * transported from now on. (collective) */
void rt_lights_coarse(const struct rt_run *r);
/* Whether any of these emits now: the next two functions have work. */
bool rt_lights_shine(const struct rt *rt);
/* Photons of stars and sinks between the code times t0 and t1 on own cells of level l, after their
 * transport, and heat of regions that they ionise. Local. */
void rt_lights_emit(const struct rt_run *r, int l, double t0, double t1);
/* The background on own cells of level l. Local. */
void rt_lights_fill(const struct rt_run *r, int l);
