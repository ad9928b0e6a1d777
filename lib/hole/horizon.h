/* hole/horizon: black holes as Horizon-AGN and cuRAMSES have them (Dubois et al. 2010, 2012, 2014):
 * what they take from the gas of their clouds (sink/cloud), and what that does to them. Method:
 * docs/method/blackholes.md. */
#pragma once
#include "phys/term.h"
#include "sink/run.h"

/* The laws of a step, for sink/run. */
extern const struct sink_kind hole_kind;

/* At a coarse step, before anything else: energy is set free (hole/agn), holes merge (hole/merge)
 * and are born (hole/create). *changed: did gas of this rank? (collective) */
MUST_USE enum err hole_coarse(const struct term_run *r, struct sinks *s, bool *changed);
