/* hole/horizon: black holes as in Horizon-AGN and cuRAMSES (Dubois et al. 2010, 2012, 2014):
 * accretion from the gas of their clouds (sink/cloud), drag and growth. Method:
 * docs/method/blackholes.md. */
#pragma once
#include "phys/term.h"
#include "sink/run.h"

/* Functions of black holes for sink/run. */
extern const struct sink_kind hole_kind;

/* First part of a coarse step: holes release energy (hole/agn), merge (hole/merge) and are created
 * (hole/create). *changed: whether gas of this rank changed. (collective) */
MUST_USE enum err hole_coarse(const struct term_run *r, struct sinks *s, bool *changed);
