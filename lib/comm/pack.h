/* comm/pack: an exchange between fixed peers whose messages are packed by the caller directly into
 * the buffers of the transport, and unpacked in place.
 *
 * A message for a rank of the same node is packed into the window of this rank and read there by
 * the receiver (comm/share); the transport then carries only eight bytes with its location. So
 * there are two copies, packing and unpacking, and each transport sends as many messages as without
 * windows, but short ones. Other messages, messages below comm_share_min bytes, and all messages if
 * c->share is NULL, are carried whole. */
#pragma once
#include "comm/comm.h"

struct comm_pack {
    int npeer;
    char **out;      /* [npeer] buffers to pack into, sbytes[i] bytes, aligned to SHARE_ALIGN */
    const char **in; /* [npeer] received data, rbytes[i] bytes, valid after comm_pack_receive */
    struct pack_state *state;
};

/* Begins an exchange under the rules of comm_swap_begin (comm.h): all ranks, peers ascend, both
 * ends know the sizes. Tables are lent for this call, peer until comm_pack_free. Several exchanges
 * may be in progress; all ranks send and receive them in one order. (collective: send, receive) */
void comm_pack_new(struct comm_pack *k, const struct comm *c, enum comm_use use, int npeer,
                   const int *peer, const size_t *sbytes, const size_t *rbytes);
void comm_pack_send(struct comm_pack *k);
void comm_pack_receive(struct comm_pack *k);
/* Repeated exchanges with the same peers: comm_pack_done after the received data have been read,
 * comm_pack_again before the next are packed. Buffers are kept, and grow if need be; out and in
 * have new addresses. Tables are lent for this call. */
void comm_pack_done(struct comm_pack *k);
void comm_pack_again(struct comm_pack *k, const size_t *sbytes, const size_t *rbytes);
void comm_pack_free(struct comm_pack *k);
