/* comm/pack: an exchange between fixed peers whose messages are packed by the caller, where the
 * transport needs them, and unpacked where they lie.
 *
 * For a rank of the same node they are packed into the window of this rank and read there
 * (comm/share); what the transport then carries is eight bytes that say where. So there are two
 * copies, packing and unpacking, and each transport sends the same messages as without windows,
 * short ones. Other messages, those below comm_share_min bytes, and all if c->share is NULL, are
 * carried whole. */
#pragma once
#include "comm/comm.h"

struct comm_pack {
    int npeer;
    char **out;      /* [npeer] to pack into: sbytes[i] bytes, aligned to SHARE_ALIGN */
    const char **in; /* [npeer] what came: rbytes[i] bytes, after comm_pack_receive */
    struct pack_state *state;
};

/* As comm_swap_begin (comm.h): all ranks, peers ascend, both ends know the sizes; tables are lent
 * for this call, peer until comm_pack_free. Several may be under way; all ranks send and receive
 * them in the same order. (collective: send, receive) */
void comm_pack_new(struct comm_pack *k, const struct comm *c, enum comm_use use, int npeer,
                   const int *peer, const size_t *sbytes, const size_t *rbytes);
void comm_pack_send(struct comm_pack *k);
void comm_pack_receive(struct comm_pack *k);
void comm_pack_free(struct comm_pack *k);
