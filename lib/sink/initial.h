/* sink/initial: the file ic_sink of RAMSES: one sink a line, twelve numbers: mass, place from the
 * centre of the box (3), velocity (3), angular momentum (3), mass of the black hole in it, and mass
 * since its last stellar object; code units. */
#pragma once
#include "sink/sink.h"

/* The sinks of the file, born at t, get the next ids, in the order of the lines; a share of them is
 * added on each rank, sinks_settle brings them home. *n: how many there are. Errors name file and
 * line; all ranks return them. (collective) */
MUST_USE enum err sinks_read_initial(struct sinks *s, const char *path, const struct comm *c,
                                     const struct mesh *m, double t, int64_t *n);
