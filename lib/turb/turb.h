/* turb: driven turbulence of the gas on an octree, and turbulent velocities of its initial state,
 * as &TURB_PARAMS defines them.
 *
 * The acceleration is a field on a lattice of 64 nodes along each axis of the box, the inverse
 * Fourier transform of amplitudes that follow an Ornstein–Uhlenbeck process (turb/process.h), and
 * cells interpolate it (turb/force_kern.h). Every rank has the whole field and computes it alone,
 * with the same bits: nothing here is collective. A field is a function of the seed and of the
 * time, so a run that resumes needs no stored state.
 *
 * With turb_rule='ramses' or 'ramses-2026' amplitudes are those of RAMSES, but for rounding, and so
 * are its faults: docs/method/turbulence.md. Its state is that of a generator, and is stored. */
#pragma once
#include "dev/dev.h"
#include "param/param.h"
#include "turb/force_kern.h"

struct turb;

/* The driving of a run that starts at time t, or resumes at any time. Errors name the parameter. */
MUST_USE enum err turb_new(const struct params *p, uint64_t seed, double t, struct turb **out);
/* The field of initial velocities. */
MUST_USE enum err turb_new_initial(const struct params *p, uint64_t seed, double t,
                                   struct turb **out);
void turb_free(struct turb **o);
size_t turb_bytes(const struct turb *o);    /* of all fields that a run holds */
double turb_interval(const struct turb *o); /* Δ, which limits the time step */
/* The force at time t on cells of a level. It stays valid until the time is two intervals later. */
struct turb_force turb_force_at(struct turb *o, double t, int level);
/* Before a force acts on many octs of its level: finds what rows of octs share, if that saves time.
 * Until the next call with any force. */
void turb_prepare(struct turb *o, int64_t octs, struct turb_force *f);
/* Root mean square of the acceleration at time t over nodes and components. */
double turb_rms_at(struct turb *o, double t);
/* Sends the fields of a force to the device, unless they are there, and sets a_dev and b_dev.
 * ERR_LIMIT: the device lacks memory. */
MUST_USE enum err turb_send(struct turb *o, struct dev *d, struct dev_stream *s,
                            struct turb_force *f);

/* Files of RAMSES with the state of turb_rule='ramses…': a text, and amplitudes of the last and the
 * next field. */
enum { TURB_TEXT, TURB_LAST, TURB_NEXT, TURB_FILES };
struct turb_files {
    char *at[TURB_FILES]; /* owner: mem_free */
    size_t bytes[TURB_FILES];
};
/* Whether the run has this state. */
bool turb_has_state(const struct turb *o);
void turb_store(struct turb *o, double t, struct turb_files *f);
/* Takes the state of files; path: their directory, for messages. */
MUST_USE enum err turb_restore(struct turb *o, const struct turb_files *f, const char *path);
