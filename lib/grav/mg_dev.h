/* grav/mg_dev: the multigrid hierarchy of a level on a device (mg.h). It stays there until the mesh
 * changes. One rank. Private to grav. */
#pragma once
#include "grav/kernels.h"
#include "oct/mirror.h"

/* A level there; what it does not have is the mesh's. */
struct mg_dev_own {
    lidx n, ncube;
    void *nbr, *child, *edge, *edges, *cube, *up, *u, *rhs;
};

/* Zero: none. */
struct mg_dev {
    bool known;
    int top, bottom;
    uint64_t octs[LEVEL_MAX + 2]; /* of the levels that it was made from */
    struct mg_dev_own lev[LEVEL_MAX + 2];
};

/* That of level l, unless it is there. ERR_LIMIT: it does not fit, and there is none. */
MUST_USE enum err mg_dev_need(struct mg_dev *g, struct mirror *x, const struct mesh *m, int l);
void mg_dev_drop(struct mg_dev *g, struct dev *d); /* the stream is empty */
/* One cycle of the top level, whose u is PHI of the mesh there. Levels of at most `low` octs are
 * one launch. norm[0], norm[1]: Σ residual² before and after the correction (struct sum, there;
 * NULL: none) is added. */
void mg_dev_cycle(const struct mg_dev *g, const struct mirror *x, double (*rhs)[8], int64_t low,
                  bool safe, int64_t *const norm[2]);
