/* swarm/priv: what the files of the module share. Private to swarm. */
#pragma once
#include <math.h>

#include "comm/pack.h"
#include "swarm/swarm.h"

/* Level of the octs by which domains know positions: planes between domains are multiples of 2^-21
 * of the frame, keys have 2^-19. */
enum { SWARM_LEVEL = 20 };
enum { SWARM_FEW = 1 << 12 }; /* rows that one thread handles faster than several */

/* Peers ascend; both ends have each other as peers, perhaps with nothing to send one way. */
struct swarm_plan {
    struct near_frame home; /* the frame at the last choice of domains, which it does not leave */
    bool settled;           /* home is set */
    int npeer;
    int *peer;
    int64_t *out, *in;       /* [npeer+1] first row to send to, to receive from a peer */
    int64_t *row;            /* [out[npeer]] rows to send */
    size_t *sbytes, *rbytes; /* [npeer] of a fill */
    struct comm_pack pack;   /* buffers, kept from fill to fill */
    bool packed;
};

/* frame.c: the cube of all particles of all ranks. (collective) */
struct near_frame swarm_frame(const struct swarm *s);

/* send.c: sends particles to the owners of their positions. (collective) */
void swarm_send(struct swarm *s);
extern size_t swarm_batch; /* bytes that a rank sends in one exchange; tests set less */

/* order.c: rows of own particles in the order of their keys in the frame. Owner: caller, FREE. */
int64_t *swarm_order(const struct swarm *s);
/* Puts own particles into this order in memory, in all columns that move. */
void swarm_arrange(struct swarm *s, const int64_t *order);

/* fill.c: to[i] = from[row[i]], of elements of `bytes` bytes. */
void swarm_gather(char *to, const char *from, size_t bytes, int64_t n, const int64_t *row);
void swarm_plan_clear(struct swarm_plan *p); /* no peers, no ghosts */

/* The key of a position for the domains: its oct of SWARM_LEVEL in the frame `home`, beyond it the
 * nearest one. */
static inline okey swarm_home(const struct near_frame *home, const double x[3])
{
    const double n = (double)(1 << (SWARM_LEVEL - 1));
    uint64_t q[3];
    for (int a = 0; a < 3; a++) {
        double u = (x[a] - home->lo[a]) / home->side[a] * n;
        q[a] = (uint64_t)(u > 0 ? u < n - 1 ? u : n - 1 : 0);
    }
    return okey_make(q[0], q[1], q[2]);
}

/* ---- distances ---- */

/* Distance of two intervals along an axis, from u = lo_b − hi_a and v = lo_a − hi_b, to the nearest
 * image. Exchange of a and b gives the same bits. */
static inline double swarm_gap(double u, double v, double period)
{
    double here = u > v ? u : v, up = u + period > v - period ? u + period : v - period,
           down = u - period > v + period ? u - period : v + period;
    if (up < here) here = up;
    if (down < here) here = down;
    return here > 0 ? here : 0;
}

/* Squared distance of two boxes. */
static inline double swarm_apart(const struct near_box *a, const struct near_box *b,
                                 const double period[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double gap = swarm_gap(b->lo[k] - a->hi[k], a->lo[k] - b->hi[k], period[k]);
        sum += gap * gap;
    }
    return sum;
}

static inline bool swarm_near(const struct near_box *a, const struct near_box *b,
                              const double period[3])
{
    double reach = a->reach > b->reach ? a->reach : b->reach;
    return swarm_apart(a, b, period) <= reach * reach;
}

static inline struct near_box swarm_empty(void)
{
    return (struct near_box){{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, 0};
}

static inline void swarm_join(struct near_box *a, const struct near_box *b)
{
    for (int k = 0; k < 3; k++) {
        if (b->lo[k] < a->lo[k]) a->lo[k] = b->lo[k];
        if (b->hi[k] > a->hi[k]) a->hi[k] = b->hi[k];
    }
    if (b->reach > a->reach) a->reach = b->reach;
}
