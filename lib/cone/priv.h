/* cone/priv: declarations shared by the files of this module. */
#pragma once
#include <limits.h>

#include "cone/cone.h"
#include "io/sync_async.h"

/* Replicas of the box: numbers along each axis, and how many. */
struct cone_range {
    double lo[3], hi[3], count;
};
/* Replicas that a part of a cone between two distances touches; margin: how far points may be from
 * their box. */
void cone_view_images(const struct cone_view *v, double near, double far, double margin,
                      struct cone_range *r);
/* Whether a view has a point, relative to the observer; turned: the point in its frame. */
bool cone_view_holds(const struct cone_view *v, const double at[3], double turned[3]);
/* Whether a view may have a point of a cuboid, by its middle and half its edges. */
bool cone_view_meets(const struct cone_view *v, const double mid[3], const double half[3]);

/* How the names of a slice's directory and files begin. */
const char *cone_name(const struct cone_slice *s);
/* A directory that gets its name when all ranks have written their files. */
struct cone_folder {
    const struct comm *c;
    char tmp[PATH_MAX], final[PATH_MAX];
    int lock;
    struct sync_async files; /* written by this rank; cone_folder_end closes them */
};
/* (collective, agreed) */
MUST_USE enum err cone_folder_begin(struct cone_folder *f, const struct cone_slice *s);
/* err: error of this rank so far. (collective, agreed) */
MUST_USE enum err cone_folder_end(struct cone_folder *f, enum err err);
/* Closes a file of a slice, without syncing it. */
MUST_USE enum err cone_close(int fd, const char *path);
/* Writes a text file of a directory. */
MUST_USE enum err cone_text(const char *path, const char *text);
/* A number as gfortran writes it in a list-directed line of its own. */
enum { CONE_REAL = 40 };
void cone_real(double x, char out[CONE_REAL]);
