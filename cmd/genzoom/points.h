/* genzoom/points: lists of points in units of the box, read from text or traced back from a later
 * checkpoint. */
#pragma once
#include "set.h"

struct points {
    int64_t n, cap;
    double (*x)[3];
};

void points_add(struct points *p, const double x[3]);
void points_free(struct points *p);
/* One line per point: x y z; further columns and what follows a # are ignored (MUSIC's
 * region_point_file); - is standard input. */
MUST_USE enum err points_read(struct points *p, const char *path);
MUST_USE enum err points_write(const struct points *p, const char *path, bool force);
/* Chooses those periodic images of the points that are close together, cut at the widest gap along
 * each axis. */
void points_unwrap(struct points *p);

struct trace {
    /* late checkpoint · early one of the same run, or NULL: the ids of the set */
    const char *path, *from;
    double center[3], radius;
    bool densest; /* the centre is to be found: where the dark matter is densest */
    int halo;     /* > 0: it is that of this halo of the catalogue; so is the radius, if it is 0 */
    /* results: dark matter particles in the sphere · density of baryons of the run, 0: no gas */
    int64_t ids;
    double omega_b;
};

/* Finds the initial positions of the dark matter that is in the sphere. */
MUST_USE enum err points_trace(struct points *p, struct trace *t, const struct zoom_set *s);
