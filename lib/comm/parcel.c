/* comm/parcel: code shared by all transports: received parcels, lengths of messages, the count of
 * rounds; see transport.h. */
#include <string.h>

#include "base/mem.h"
#include "comm/transport.h"

size_t comm_piece_max = (size_t)1 << 30;
static int64_t rounds;

int64_t comm_rounds(void)
{
    return rounds;
}

void comm_count_round(void)
{
    rounds++;
}

void parcels_add(struct parcels *p, int rank, size_t bytes, char *data)
{
    MEM_ROOM(p->at, p->n, p->room, 16, "exchange");
    p->at[p->n++] = (struct parcel){rank, bytes, data};
}

char *parcels_block(struct parcels *p, size_t bytes)
{
    MEM_ROOM(p->block, p->nblock, p->block_room, 16, "exchange");
    return p->block[p->nblock++] = mem_new(bytes + 1, "exchange");
}

char *parcels_receive(struct parcels *p, MPI_Message *message, const MPI_Status *status)
{
    uint64_t whole;
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    char *block = parcels_block(p, (size_t)bytes);
    MPI_Mrecv(block, bytes, MPI_BYTE, message, MPI_STATUS_IGNORE);
    memcpy(&whole, block, sizeof whole);
    if (whole <= (size_t)bytes) return block;
    char *longer = parcels_block(p, whole);
    memcpy(longer, block, (size_t)bytes);
    for (size_t at = (size_t)bytes; at < whole; at += comm_piece_max)
        MPI_Recv(longer + at, comm_piece(whole - at), MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return longer;
}

struct numbered {
    struct parcel parcel;
    int64_t number;
};

static int parcel_order(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->parcel.rank != y->parcel.rank) return x->parcel.rank > y->parcel.rank ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

void parcels_sort(struct parcels *p)
{
    bool sorted = true;
    for (int64_t i = 1; i < p->n; i++) sorted &= p->at[i - 1].rank <= p->at[i].rank;
    if (sorted) return;
    struct numbered *t = mem_new(sizeof *t * (size_t)p->n, "exchange");
    for (int64_t i = 0; i < p->n; i++) t[i] = (struct numbered){p->at[i], i};
    mem_sort(t, (size_t)p->n, sizeof *t, parcel_order);
    for (int64_t i = 0; i < p->n; i++) p->at[i] = t[i].parcel;
    mem_free(t);
}

void parcels_free(struct parcels *p)
{
    for (int i = 0; i < p->nblock; i++) mem_free(p->block[i]);
    FREE(p->block);
    FREE(p->at);
}
