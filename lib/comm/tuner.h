/* comm/tuner: choice of a transport for each use of an exchange (Kim 2026, section 3).
 *
 * exchange_method=auto: for each use, the first calls try the candidates (transports.def),
 * TUNER_TRIAL calls each, in an order drawn from the number of the call. Then the transport with
 * the smallest median is chosen: the median of the slowest rank counts, agreed on in one reduction.
 * An exponential mean (weight TUNER_WEIGHT) follows its time per call. After TUNER_INTERVAL calls
 * all candidates are probed again, TUNER_PROBE calls each, and another one is chosen if it
 * takes less than TUNER_GAIN times the time of the present one. If nothing changes and the mean has
 * stayed within TUNER_GAIN, the next probe comes after twice as many calls (up to TUNER_LONGEST
 * times TUNER_INTERVAL); otherwise after TUNER_INTERVAL again.
 *
 * The choice depends on clocks; the results of a run do not depend on the choice. */
#pragma once
#include <stddef.h>

#include "comm/comm.h"

enum { TUNER_TRIAL = 50, TUNER_PROBE = 20, TUNER_INTERVAL = 500, TUNER_LONGEST = 16 };
#define TUNER_WEIGHT 0.05
#define TUNER_GAIN 0.8

/* method: a value of exchange_method; the name of a transport forces it for all uses. NULL if the
 * value is unknown. Owner: tuner_free. */
struct comm_tuner *tuner_new(const char *method);
void tuner_free(struct comm_tuner **t);
/* Logs the chosen transports. */
void tuner_report(const struct comm *c);

/* The transport of the next call for this use. t may be NULL. */
int tuner_choice(const struct comm_tuner *t, enum comm_use use);
/* Records the time of the call with the chosen transport on this rank. (collective) */
void tuner_spent(const struct comm *c, enum comm_use use, double seconds);

/* Writes the tuner's decisions for checkpoints, as lines "exchange: RANKS USE TRANSPORT INTERVAL
 * SECONDS", into buf: as many whole lines as fit. */
void tuner_state(const struct comm *c, char *buf, size_t size);
/* Restores decisions from a text with such lines; other lines, and lines for other numbers of
 * ranks, are ignored. (collective: equal text on all ranks) */
void tuner_resume(const struct comm *c, const char *text);
