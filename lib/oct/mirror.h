/* oct/mirror: a mesh in device memory.
 *
 * The device has the same arrays of the levels as the host (mesh.h), and a struct mesh that points
 * to them, so that functions for both can use either. Keys and links are copied when they have
 * changed. Each field of a level has a location: where its newest copy is, on the host, on the
 * device, or on both. Fields are copied when they are needed elsewhere. Local. */
#pragma once
#include "dev/dev.h"
#include "oct/mesh.h"

enum { LOCATION_HOST = 1, LOCATION_DEVICE = 2 };
/* Fields of a level on the device besides the fields and the flags: the reflux registers of each
 * system. */
enum { FLD_REFLUX = FLD_FLAG + 1, MIRROR_FIELDS = FLD_REFLUX + REFLUX_SYSTEMS };

struct mirror {
    struct dev *dev; /* device (lent, as the stream) */
    struct dev_stream *stream;
    struct mesh *image;    /* host copy of the mesh for the device, with device pointers */
    struct mesh *mesh_dev; /* mesh in device memory */
    struct mesh *sent;     /* contents of mesh_dev once the stream has run */
    bool busy;             /* whether copies from or to the host may be in progress */
    bool linked[LEVEL_MAX + 2];
    uint64_t links[LEVEL_MAX + 2], octs[LEVEL_MAX + 2];
    /* LOCATION_… of the newest copy; 0: never copied, host */
    unsigned char location[LEVEL_MAX + 2][MIRROR_FIELDS];
    /* Mesh for checks (lent): copies that are not the newest are filled with NaN, on host and
     * device. NULL: no checks. */
    struct mesh *spoils;
    struct dev_room found, rows; /* of sparse/rows.h: a list of octs; values of their cells */
};

MUST_USE enum err mirror_init(struct mirror *x, struct dev *d, struct dev_stream *s);
void mirror_fini(struct mirror *x); /* the stream must be empty, and outlives the mirror */
/* Sends keys, links and hash table of level l if they have changed. The fields of a level whose
 * list of octs has changed must be on the host. ERR_LIMIT: insufficient device memory. */
MUST_USE enum err mirror_links(struct mirror *x, const struct mesh *m, int l);
/* Brings fields first … first+n-1 (also FLD_FLAG, FLD_REFLUX) of all octs of level l, own and
 * ghosts, to `location`: on the host they are valid on return, on the device (with the links of the
 * level) in the order of the stream. The host may change fields that it requested, but not fields
 * whose copy to the device is in progress. ERR_LIMIT: insufficient device memory; nothing is lost.
 */
MUST_USE enum err mirror_need(struct mirror *x, struct mesh *m, int l, int first, int n,
                              int location);
/* Allocates device arrays for these fields, with the links of the level, with undefined contents:
 * for kernels that write them completely. */
MUST_USE enum err mirror_room(struct mirror *x, struct mesh *m, int l, int first, int n);
/* Declares that `location` alone has the newest copies. */
void mirror_wrote(struct mirror *x, int l, int first, int n, int location);
/* The host is to free its registers of level l, and no copy counts any more. */
MUST_USE enum err mirror_forget_reflux(struct mirror *x, int l, int system);
/* All fields of all levels at the host; with `alone` nowhere else: before host code changes the
 * mesh, or fields without saying which. */
MUST_USE enum err mirror_home(struct mirror *x, struct mesh *m, bool alone);
bool mirror_is_at(const struct mirror *x, int l, int f, int location);
/* mirror_need, mirror_wrote and mirror_is_at for all fields of a set that the mesh has, its flags
 * and its registers. */
MUST_USE enum err mirror_need_set(struct mirror *x, struct mesh *m, int l, field_set set,
                                  int location);
void mirror_wrote_set(struct mirror *x, const struct mesh *m, int l, field_set set, int location);
bool mirror_has_set(const struct mirror *x, const struct mesh *m, int l, field_set set,
                    int location);
/* Whether there are registers of level l, here or there. */
bool mirror_has_reflux(const struct mirror *x, const struct mesh *m, int l, int system);
/* Allocates device arrays of registers of level l, whose links are on the device, with the numbers
 * of `like`; the stream must be empty. The caller fills them, and declares their location. */
MUST_USE enum err mirror_reflux_new(struct mirror *x, const struct mesh *m, int l, int system,
                                    const struct reflux *like);
/* Waits until copies from and to the host are complete. */
MUST_USE enum err mirror_settle(struct mirror *x);
/* For oct/remap: mirror_become replaces the device arrays of level l by `now`, which hold its keys
 * and links, consistent with its neighbour levels, and fields, which count as equal to the host's.
 * The old arrays, and the arrays of mirror_drop_level, are freed after the work queued in the
 * stream. */
void mirror_become(struct mirror *x, const struct mesh *m, int l, const struct level *now);
void mirror_drop_level(struct mirror *x, struct level *arrays);
/* Copies the image to x->mesh_dev after the last of these changes, for the launches that follow. */
void mirror_send(struct mirror *x, const struct mesh *m);
