/* grav/cached: hierarchies that are kept from one solve of a level to the next. Private to
 * grav. */
#pragma once
#include "grav/mg.h"

struct cached {
    uint64_t changes;  /* of the lists of octs, until it was made */
    bool made;         /* mg is there, without its arrays; set by the caller */
    struct mg mg;      /* of the level, or of that of `whole` */
    struct mesh whole; /* all octs of a level that every rank solves; else empty */
};

/* The hierarchy kept at *k of level l, or a new one, zero, if a list of octs has changed. */
struct cached *cached_get(struct cached **k, const struct mesh *m, int l);
void cached_free(struct cached **k);
