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
/* Reads points: one line x y z per point; further columns and comments after # are ignored (MUSIC's
 * region_point_file); - is standard input. */
MUST_USE enum err points_read(struct points *p, const char *path);
MUST_USE enum err points_write(const struct points *p, const char *path, bool force);
/* Chooses periodic images of the points that are close together; the box is cut at the widest gap
 * along each axis. */
void points_unwrap(struct points *p);

struct trace {
    /* late checkpoint; early checkpoint of the same run, or NULL: ids of the set */
    const char *path, *from;
    double center[3], radius;
    bool densest; /* use the densest position of dark matter as the centre */
    /* > 0: number of the halo in the catalogue that gives the centre and, if radius is 0, the
     * radius */
    int halo;
    /* results: dark matter particles in the sphere, number; baryon density of the run, 0: no gas */
    int64_t ids;
    double omega_b;
};

/* Finds the initial positions of the dark matter in the sphere. */
MUST_USE enum err points_trace(struct points *p, struct trace *t, const struct zoom_set *s);
