/* oct/mirror: a mesh in the memory of a device.
 *
 * Levels have the same arrays there as here (mesh.h), and a struct mesh there points to them, so
 * that functions for both follow either. Keys and links are copied when they have changed. Each
 * field of a level has a place: where its newest copy is, here, there, or at both. Fields are
 * copied when they are needed where they are not. Local. */
#pragma once
#include "dev/dev.h"
#include "oct/mesh.h"

enum { LOCATION_HOST = 1, LOCATION_DEVICE = 2 };
/* Beside the fields and the flags: the registers of a level, of each system. */
enum { FLD_REFLUX = FLD_FLAG + 1, MIRROR_FIELDS = FLD_REFLUX + REFLUX_SYSTEMS };

struct mirror {
    struct dev *dev; /* lent, as the stream */
    struct dev_stream *stream;
    struct mesh *image;    /* what is to be there: pointers of the device */
    struct mesh *mesh_dev; /* of the device */
    struct mesh *sent;     /* what that holds, or will when the stream has come there */
    bool busy;             /* copies from or to the host may be under way */
    bool linked[LEVEL_MAX + 2];
    uint64_t links[LEVEL_MAX + 2], octs[LEVEL_MAX + 2];
    unsigned char location[LEVEL_MAX + 2][MIRROR_FIELDS]; /* PLACE_…; 0: never copied, the host */
    /* Checks: copies that are not the newest become NaN, here and there. NULL: they stay. (lent) */
    struct mesh *spoils;
};

MUST_USE enum err mirror_init(struct mirror *x, struct dev *d, struct dev_stream *s);
void mirror_fini(struct mirror *x); /* the stream is empty, and outlives the mirror */
/* Keys, links, hash table of level l, if they are not there yet. Fields of a level whose list of
 * octs has changed are at the host then. ERR_LIMIT: it does not fit. */
MUST_USE enum err mirror_links(struct mirror *x, const struct mesh *m, int l);
/* Fields first … first+n-1 (also FLD_FLAG, FLD_REFLUX) of all octs, own and ghosts, of level l are
 * at `place`: at the host on return, at the device (with the links of the level) in the order of
 * the stream. The host may change what it has needed, not what is on its way to the device.
 * ERR_LIMIT: it does not fit into the device, and nothing is lost. */
MUST_USE enum err mirror_need(struct mirror *x, struct mesh *m, int l, int first, int n,
                              int location);
/* There are arrays there for these fields, with the links of the level, whatever they hold: for
 * kernels that write them whole. */
MUST_USE enum err mirror_room(struct mirror *x, struct mesh *m, int l, int first, int n);
/* The newest copies are at `place`, alone. */
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
/* Arrays at the device for n octs with registers of level l, whose links are there; the stream is
 * empty. The caller gives them values, and says where they are. */
MUST_USE enum err mirror_reflux_new(struct mirror *x, const struct mesh *m, int l, int system,
                                    lidx n, int nflux);
/* Waits until copies from and to the host are complete. */
MUST_USE enum err mirror_settle(struct mirror *x);
/* For oct/remap. become: these arrays are those of level l there, and hold its keys and links as
 * those of its neighbours hold them, and fields, which count as equal to those here. The old
 * arrays go when what is in the stream has run; those of drop_level too. */
void mirror_become(struct mirror *x, const struct mesh *m, int l, const struct level *now);
void mirror_drop_level(struct mirror *x, struct level *arrays);
/* After the last of these: makes x->there what the image is, for the launches that follow. */
void mirror_send(struct mirror *x, const struct mesh *m);
