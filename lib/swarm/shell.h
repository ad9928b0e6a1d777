/* swarm/shell: the own particles that may be within reach of another rank's, and which of them are.
 * Private to swarm. */
#pragma once
#include "swarm/priv.h"

enum { SHELL_CHUNK = 64, SHELL_DEPTH = 12 /* 2^12 boxes at most */ };

/* Own particles: reaches, and boxes of successive rows. */
struct shells {
    const struct swarm *s;
    const double *reach; /* [n] */
    double extra;        /* for the rounding of distances across a boundary */
    int64_t nchunk;
    struct near_box *chunk; /* [nchunk] of SHELL_CHUNK rows each */
};

/* The own particles that may be within reach of a peer's, in boxes, and the peer's boxes of its own
 * ones: both ends have these. */
struct shell {
    int rank;
    struct near_box peer; /* of all particles of the peer */
    int64_t n, *row;
    int64_t nbox, room;
    struct near_box *box; /* [nbox] */
    int64_t *end;         /* [nbox] rows end[k-1] … end[k]-1 are in box k */
    int64_t ntheirs;
    const struct near_box *theirs; /* lent */
};

/* The reach of a particle, and a little more, so that rounding loses no other. */
static inline double shell_reach(const struct shells *w, int64_t i)
{
    return w->reach[i] * (1 + 1e-9) + w->extra;
}

/* Sets chunks; returns the box of all own particles. Its reach is NaN if one is negative or not
 * finite. */
struct near_box shells_begin(struct shells *w, const struct swarm *s, const double *reach);
void shells_end(struct shells *w);

void shell_find(const struct shells *w, struct shell *p);   /* sets row */
void shell_divide(const struct shells *w, struct shell *p); /* orders row, sets boxes */
/* select.c: keeps the rows of particles that are within reach of the peer's boxes. */
void shell_select(const struct shells *w, struct shell *p);
void shell_free(struct shell *p);
