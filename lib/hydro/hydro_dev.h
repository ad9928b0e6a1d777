/* hydro/hydro_dev: the gas on a device (lib/dev). Bits are those of the CPU. docs/gpu.md says what
 * runs there. Local to a rank. */
#pragma once
#include "hydro/hydro.h"
#include "oct/mirror.h"

struct hydro_dev;

/* Text that names a choice of these parameters without kernel, as the end of a sentence; NULL:
 * none. */
const char *hydro_dev_lacks(const struct hydro_par *p);
/* The mirror is lent. */
MUST_USE enum err hydro_dev_new(struct hydro_dev **h, struct mirror *m);
void hydro_dev_free(struct hydro_dev **h); /* the stream is empty */
/* As hydro_update, ghosts there. All read what they need where oct/mirror.h has it, and leave what
 * they write on the device, in the order of the stream. ERR_LIMIT: the device has too little
 * memory, and nothing has changed; or it failed. */
MUST_USE enum err hydro_dev_update(struct hydro_dev *h, struct mesh *m, int l, double dt,
                                   double hexp, const struct hydro_par *p);
/* As reflux_begin: registers are made there. */
MUST_USE enum err reflux_dev_begin(struct hydro_dev *h, struct mesh *m, int l,
                                   const struct hydro_par *p);
/* As hydro_restrict, hydro_kick, hydro_courant; sums are emptied first. */
MUST_USE enum err hydro_dev_restrict(struct hydro_dev *h, struct mesh *m, int l,
                                     const struct hydro_par *p);
MUST_USE enum err hydro_dev_kick(struct hydro_dev *h, struct mesh *m, int l, bool ghosts, double dt,
                                 const struct hydro_par *p);
MUST_USE enum err hydro_dev_courant(struct hydro_dev *h, struct mesh *m, int l,
                                    const struct hydro_par *p, double *dt);
/* The first half of both: what it asks for runs in stream s, after what is in the mirror's now. The
 * second half, which waits for it, follows before that gas changes. */
MUST_USE enum err hydro_dev_courant_begin(struct hydro_dev *h, struct mesh *m, int l,
                                          const struct hydro_par *p, struct dev_stream *s);
MUST_USE enum err hydro_dev_totals_begin(struct hydro_dev *h, struct mesh *m, int l,
                                         const struct hydro_par *p, struct dev_stream *s);
MUST_USE enum err hydro_dev_totals(struct hydro_dev *h, struct mesh *m, int l,
                                   const struct hydro_par *p, struct sum *mass, struct sum *energy,
                                   struct sum *internal, struct sum momentum[3]);
/* As hydro_flag, a bit for each cell: bits[nown]. */
MUST_USE enum err hydro_dev_steep(struct hydro_dev *h, struct mesh *m, int l,
                                  const struct hydro_par *p, unsigned char *bits);

/* As hydro_prolong, of the gas (oct/remap). ctx: this. */
struct hydro_dev_prolong {
    struct hydro_dev *h;
    const struct hydro_par *par;
};
void hydro_dev_prolong(void *ctx, const struct mirror *x, int l, int32_t n, const int32_t *slot,
                       double *row, int width);
