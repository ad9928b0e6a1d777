/* part/part_priv: what the CPU and the device share beside formulas. Private to part. */
#pragma once
#include "part/part.h"

/* The beginnings of pieces stay true, or at least ordered and in range, when particles are added
 * and removed: all from level l on are again of level l. */
void part_runs_tidy(struct parts *p, const struct mesh *m, int l);

struct deposit_rule part_deposit_rule(const struct parts *p, int l, double quantum, double mass_cut,
                                      int cic_levelmax);

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
void part_packets_place(struct parts *p, const struct level *lv, int64_t nleft, const int64_t *at,
                        int64_t n, void *packets);
/* Particles from `begin` on whose host is no own oct of level l go to its owner. (collective) */
void part_migrate(struct parts *p, const struct mesh *m, const struct comm *c,
                  const struct domain *d, int l, int64_t begin);
