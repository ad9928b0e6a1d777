/* comm/tuner: which transport each use of an exchange takes (Kim 2026, section 3).
 *
 * exchange_method=auto: for each use, the first calls try the transports that may be tried
 * (transports.def), TUNER_TRIAL calls each, in an order drawn from the number of the call. Then the
 * one with the smaller median is taken: the slowest rank's median counts, agreed on by one
 * reduction. Its time a call is followed by a mean that forgets (weight TUNER_WEIGHT). After
 * TUNER_INTERVAL calls all are tried again, TUNER_PROBE calls each, and another one is taken if it
 * takes less than TUNER_GAIN of the time of the present one. If nothing changes and the mean has
 * stayed within TUNER_GAIN, the next probe comes after twice as many calls (up to TUNER_LONGEST
 * times TUNER_INTERVAL); otherwise after TUNER_INTERVAL again.
 *
 * The choice depends on clocks, the results of a run do not depend on the choice. */
#pragma once
#include <stddef.h>

#include "comm/comm.h"

enum { TUNER_TRIAL = 50, TUNER_PROBE = 20, TUNER_INTERVAL = 500, TUNER_LONGEST = 16 };
#define TUNER_WEIGHT 0.05
#define TUNER_GAIN 0.8

/* method: a value of exchange_method; a transport's name is taken for all uses. NULL if there is no
 * such. Owner: tuner_free. */
struct comm_tuner *tuner_new(const char *method);
void tuner_free(struct comm_tuner **t);
/* The log says how transports are chosen. */
void tuner_report(const struct comm *c);

/* The transport of the next call for this use. t may be NULL. */
int tuner_choice(const struct comm_tuner *t, enum comm_use use);
/* Records how long the call with the chosen transport took here. (collective) */
void tuner_spent(const struct comm *c, enum comm_use use, double seconds);

/* The tuner's decisions, as lines "exchange: RANKS USE TRANSPORT INTERVAL SECONDS": for
 * checkpoints, and back. Written into buf, whole lines, as many as fit. */
void tuner_state(const struct comm *c, char *buf, size_t size);
/* From a text that has such lines; others, and those of other numbers of ranks, are passed over.
 * (collective: same text) */
void tuner_resume(const struct comm *c, const char *text);
