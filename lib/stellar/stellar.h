/* stellar: massive stars that form in sinks and explode as supernovae (RAMSES, stellar=.true.).
 * Method: docs/method/stellar.md.
 *
 * All ranks have the whole table of stellar objects, at most nstellarmax. A sink makes objects of
 * the mass that it has accreted; random numbers have the sink at birth and the number of the object
 * there as their key. Births and supernovae happen at the start of a coarse step, when all levels
 * are at the same time, after a checkpoint is written. Nothing depends on ranks or threads. */
#pragma once
#include "ckpt/catalog.h"
#include "sink/places.h"
#include "sink/run.h"

/* An object in code units. Members but `event` are its state in checkpoints. */
struct stellar_object {
    int64_t sink;             /* id of its sink, changed by mergers of sinks */
    int64_t born_in, number;  /* id of the sink at birth, objects that it had made before; unique */
    double mass, birth, life; /* mass, time of birth, lifetime */
};

struct stellar {
    int64_t n, room;
    struct stellar_object *at; /* in the order of birth; equal on all ranks */
};

/* ---- laws (stellar/law.c), local ---- */

/* Parameters in code units. */
struct stellar_law {
    double threshold;         /* accreted mass per object */
    double low, high, index;  /* initial mass function dN/dM ~ M^index from low to high */
    double t0, m0, a, b;      /* lifetime t0 exp(a ln(m0/M)^b) */
    double dispersion;        /* velocity of objects about their sink */
    bool at_once;             /* no lifetime */
    uint64_t seed, direction; /* seeds of masses, and of positions of supernovae */
};
struct stellar_law stellar_law(const struct params *par, const struct units *u);
/* Mass at the fraction u of the mass function from above: high at u = 0, low at u = 1. */
double stellar_mass(const struct stellar_law *law, double u);
/* Random mass of an object. */
double stellar_draw(const struct stellar_law *law, int64_t born_in, int64_t number);
double stellar_life(const struct stellar_law *law, double mass);
/* Position of a supernova: uniform in the ball that the object can have reached, at most half of
 * the box, about its sink at x. */
void stellar_place(const struct stellar_law *law, const struct stellar_object *o,
                   const struct mesh *m, const double x[3], double out[3]);

/* ---- the table (stellar/stellar.c) ---- */

/* NULL: the run has no stellar objects. */
struct stellar *stellar_new(const struct params *par, struct sink_state *sinks);
void stellar_end(struct stellar **k);
struct stellar_object *stellar_add(struct stellar *k, int64_t n);
/* At the end of a coarse step: objects of a sink that has merged belong to the one that it is part
 * of. Local. */
void stellar_follow_sinks(struct stellar *k, const struct sink_places *at);
/* Births and supernovae at the start of a coarse step. *changed: whether gas of this rank changed.
 * (collective) */
MUST_USE enum err stellar_coarse(const struct sink_run *s, struct stellar *k, bool *changed);

/* ---- checkpoints (stellar/table.c) ---- */

/* Stores the table, in place of the former content of t. Local. */
MUST_USE enum err stellar_store(const struct stellar *k, struct catalog *t);
/* Restores the table; sinks are restored before. All ranks return the same error. (collective) */
MUST_USE enum err stellar_restore(const struct sink_run *s, struct stellar *k,
                                  const struct catalog *t, const char *path);

/* ---- births (stellar/birth.c) ---- */

/* Turns accreted mass of sinks into objects. (collective) */
MUST_USE enum err stellar_births(const struct sink_run *s, struct stellar *k,
                                 const struct stellar_law *law);
