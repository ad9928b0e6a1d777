/* part/priv: functions shared by the files of part for the CPU and for devices, apart from
 * formulas. Private to part. */
#pragma once
#include <string.h>

#include "part/part.h"

enum { PART_CHUNK = 4096 }; /* particles per chunk of a loop */

/* Moves the last particles into the gaps at[0..n-1], which ascend. */
void part_gaps_close(struct parts *p, int64_t n, const int64_t *at);
/* Frees the memory of many particles that have left. */
void part_trim(struct parts *p);

/* Keeps the starts of pieces valid, or at least ordered and in range, after particles are added or
 * removed: all particles from level l on belong to level l again. */
void part_runs_tidy(struct parts *p, const struct mesh *m, int l);

/* Whether any of n particles has mass; the others are tracers, which most loops pass over. */
static inline bool part_any_mass(const struct parts *p, int64_t begin, int64_t n)
{
    int any = 0;
    if (!p->tracers) return true;
#pragma omp simd reduction(| : any)
    for (int64_t i = begin; i < begin + n; i++) any |= family_has_mass(p->family[i]);
    return any;
}

/* Whether forces move any of n particles. */
static inline bool part_any_moves(const struct parts *p, int64_t begin, int64_t n)
{
    int any = 0;
    if (!p->tracers) return true;
#pragma omp simd reduction(| : any)
    for (int64_t i = begin; i < begin + n; i++) any |= family_goes(p->family[i], p->frozen);
    return any;
}

/* Whether particle i is a tracer that jumps. */
static inline bool part_jumps(const struct parts *p, int64_t i)
{
    return p->jumps && p->family[i] == FAM_GAS_TRACER;
}

struct deposit_rule part_deposit_rule(const struct parts *p, int l, double quantum, double mass_cut,
                                      int cic_levelmax);

/* ---- columns that not every run has ---- */

/* Offset in a packet of the end of the columns `more`. */
static inline int part_more_end(const struct parts *p)
{
    return p->nmore ? p->more[p->nmore - 1].at + p->more[p->nmore - 1].size : 0;
}

/* Value of the k-th of these columns for particle i. */
static inline char *part_value_at(const struct parts *p, int k, int64_t i)
{
    return (char *)p->col[p->more[k].column] + p->more[k].size * i;
}

/* Copies a value of `size` bytes. */
static inline void part_value_copy(int size, char *to, const char *from)
{
    switch (size) { /* constant sizes for the compiler */
    case 8:
        memcpy(to, from, 8);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    default:
        *to = *from;
        break;
    }
}

/* ---- between ranks ----
 *
 * Particles are sent as packets: rows of part_packet_size bytes, which begin with the key of the
 * oct (part_nowhere: none). Packets are the same for particles on hosts and on devices. */

struct packet_column {
    int column, at; /* at: offset in the packet */
};
size_t part_packet_size(const struct parts *p);
/* Columns of a packet; returns their number. */
int part_packet_columns(const struct parts *p, struct packet_column *col);
/* Sends n packets in any order to the owners of their octs of level l, and counts packets without
 * an owner as lost. Returns the packets received (owner: caller, FREE), *nin of them. (collective)
 */
void *part_packets_exchange(struct parts *p, const struct comm *c, const struct domain *d, int l,
                            int64_t n, void *packets, int64_t *nin);
/* Puts n arrivals into the slots at[0..nleft-1], which ascend, of particles that left; remaining
 * gaps or arrivals are handled at the end of the arrays. Local. */
void part_packets_put(struct parts *p, const struct level *lv, int64_t nleft, const int64_t *at,
                      int64_t n, void *packets);
/* Sends particles from `begin` on whose host is no own oct of level l to its owner. (collective) */
void part_migrate(struct parts *p, const struct mesh *m, const struct comm *c,
                  const struct domain *d, int l, int64_t begin);
