/* part/priv: what the files of part, for the CPU and for devices, share beside formulas.
 * Private to part. */
#pragma once
#include <string.h>

#include "part/part.h"

enum { PART_CHUNK = 4096 }; /* particles per chunk of a loop */

/* The last particles fill the places at[0..n-1], which ascend. */
void part_gaps_close(struct parts *p, int64_t n, const int64_t *at);
/* Gives back what many particles that went have left. */
void part_trim(struct parts *p);

/* The beginnings of pieces stay true, or at least ordered and in range, when particles are added
 * and removed: all from level l on are again of level l. */
void part_runs_tidy(struct parts *p, const struct mesh *m, int l);

struct deposit_rule part_deposit_rule(const struct parts *p, int l, double quantum, double mass_cut,
                                      int cic_levelmax);

/* ---- columns that not every run has ---- */

/* Where the columns of `more` end in a packet. */
static inline int part_more_end(const struct parts *p)
{
    return p->nmore ? p->more[p->nmore - 1].at + p->more[p->nmore - 1].size : 0;
}

/* The value of the k-th of them, of particle i. */
static inline char *part_value_at(const struct parts *p, int k, int64_t i)
{
    return (char *)p->col[p->more[k].column] + p->more[k].size * i;
}

/* One of size bytes. */
static inline void part_value_copy(int size, char *to, const char *from)
{
    switch (size) { /* the compiler knows each length */
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
 * Particles travel as packets: rows of part_packet_size bytes, of which the first is the key of the
 * oct (part_nowhere: there is none). All ranks have the same, wherever their particles are. */

struct packet_column {
    int column, at; /* in the packet */
};
size_t part_packet_size(const struct parts *p);
/* The columns of a packet, and their number. */
int part_packet_columns(const struct parts *p, struct packet_column *col);
/* Sends n packets in any order to the owners of their octs of level l, and counts those that have
 * none as lost. Returns what came (owner: caller, FREE), and how many. (collective) */
void *part_packets_exchange(struct parts *p, const struct comm *c, const struct domain *d, int l,
                            int64_t n, void *packets, int64_t *nin);
/* n arrivals fill the places at[0..nleft-1], which ascend, of particles that left; the rest of
 * either is settled at the end of the arrays. Local. */
void part_packets_put(struct parts *p, const struct level *lv, int64_t nleft, const int64_t *at,
                      int64_t n, void *packets);
/* Particles from `begin` on whose host is no own oct of level l go to its owner. (collective) */
void part_migrate(struct parts *p, const struct mesh *m, const struct comm *c,
                  const struct domain *d, int l, int64_t begin);
