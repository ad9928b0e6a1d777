/* grav/cached: multigrid hierarchies cached between solves of a level. Private to grav and
 * fifth. */
#pragma once
#include "grav/mg.h"

struct cached {
    uint64_t changes;  /* version of the lists of octs from which the hierarchy was made */
    bool made;         /* true once mg has been built, without its arrays; set by the caller */
    struct mg mg;      /* hierarchy of the level, or of the level of `whole` */
    struct mesh whole; /* all octs of a level that every rank solves; else empty */
};

/* The hierarchy of level l cached at *k, or a new, zero one if a list of octs has changed. */
struct cached *cached_get(struct cached **k, const struct mesh *m, int l);
void cached_free(struct cached **k);
