/* oct/mirror: a mesh in the memory of a device.
 *
 * Levels have the same arrays there as here (mesh.h), and a struct mesh there points to them, so
 * that functions for both follow either. Keys and links are copied when they have changed, fields
 * when they are asked for. The arrays stay until the level changes. Local. */
#pragma once
#include "dev/dev.h"
#include "oct/mesh.h"

struct mirror {
    struct dev *dev; /* lent, as the stream */
    struct dev_stream *stream;
    struct mesh *image; /* what is to be there: pointers of the device */
    struct mesh *there; /* of the device */
    bool linked[LEVEL_MAX + 2];
    uint64_t links[LEVEL_MAX + 2];
};

MUST_USE enum err mirror_init(struct mirror *x, struct dev *d, struct dev_stream *s);
void mirror_fini(struct mirror *x); /* the stream is empty */
/* Keys, links, hash table of level l, if they are not there yet. The stream is empty before. */
MUST_USE enum err mirror_links(struct mirror *x, const struct mesh *m, int l);
/* Fields first … first+n-1 of all octs of level l, whose links are there. */
MUST_USE enum err mirror_put(struct mirror *x, const struct mesh *m, int l, int first, int n);
/* Their own octs, back. */
void mirror_get(struct mirror *x, struct mesh *m, int l, int first, int n);
/* The registers of level l, of `bytes` in all, if it has any (struct level.edge). */
MUST_USE enum err mirror_put_edges(struct mirror *x, const struct mesh *m, int l, size_t bytes);
void mirror_get_edges(struct mirror *x, struct mesh *m, int l, size_t bytes);
/* After the last of these: makes x->there what the image is, for the launches that follow. */
void mirror_send(struct mirror *x, const struct mesh *m);
