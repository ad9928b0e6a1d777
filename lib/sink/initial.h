/* sink/initial: the file ic_sink of RAMSES, one line per sink with twelve numbers in code units:
 * mass, position relative to the centre of the box (3), velocity (3), angular momentum (3), mass of
 * the black hole in the sink, and mass since its last stellar object. */
#pragma once
#include "sink/sink.h"

/* Reads the sinks of the file, born at t, with consecutive ids in the order of the lines. Each rank
 * gets a share; sinks_settle sends sinks to their owners. *n: number of sinks in the file. Errors
 * name file and line, and are agreed. (collective) */
MUST_USE enum err sinks_read_initial(struct sinks *s, const char *path, const struct comm *c,
                                     const struct mesh *m, double t, int64_t *n);
