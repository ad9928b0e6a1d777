#include "comm/share.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/* Offsets of the boards, and of the first block, behind a page that begins with the owner. */
enum { BOARD = 1024, FIRST = 4096 };
/* Bytes of a window of at least SPACIOUS bytes that only share_get_soon takes. */
enum { SPACIOUS = 1 << 26, RESERVED = 1 << 24 };

size_t comm_share_max = (size_t)1 << 30, comm_share_min = 512, comm_share_keep = (size_t)1 << 21;

/* Identity of a rank and the descriptor of its window. */
struct owner {
    int64_t rank, pid, fd, born; /* fd < 0: no window; born: time of creation, ns */
};

/* Header of a block, visible to all ranks of the node. */
struct block {
    _Alignas(SHARE_ALIGN) atomic_int readers; /* number of readers that have not finished */
};

/* A place on a board: turn + 1 once it is posted. */
struct place {
    _Atomic uint32_t turn;
    uint32_t block, data;
};
_Static_assert(BOARD + sizeof(struct place[SHARE_BOARDS][SHARE_TURNS]) <= FIRST, "fits the page");

/* The nodes of a run whose ranks all have windows. */
struct nodes {
    int n;
    int *of;    /* [ranks] node of a rank */
    int *first; /* [n + 1] index of the first of its ranks */
    int *rank;  /* [ranks] by node, ascending */
};

/* A block in use, in the owner's list. */
struct used {
    size_t at, bytes;
};

struct comm_share {
    int n, me; /* number of ranks on the node; index of this rank in ascending order */
    struct owner *owner;
    char **window; /* [n] mapped windows; NULL: not mapped */
    size_t span;   /* address range reserved per window, bytes */
    size_t held;   /* allocated bytes of this rank's window */
    int nused, used_room;
    struct used *used;  /* blocks in use, by offset */
    struct nodes nodes; /* none: zero */
    uint32_t turn;
};

/* ---- set-up ---- */

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static char *map(const struct comm_share *s, int fd)
{
    void *p = mmap(NULL, s->span, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void window_new(struct comm_share *s, const struct comm *c)
{
    struct owner *o = &s->owner[s->me];
    *o = (struct owner){c->rank, getpid(), memfd_create("ptah", MFD_CLOEXEC), nanoseconds()};
    if (o->fd < 0) return;
    if (posix_fallocate((int)o->fd, 0, FIRST) == 0) s->window[s->me] = map(s, (int)o->fd);
    if (s->window[s->me]) memcpy(s->window[s->me], o, sizeof *o);
}

/* Maps the window of rank i of the node. The process may be in another container, where this path
 * names another file. */
static void window_open(struct comm_share *s, int i)
{
    char path[64];
    struct stat st;
    if (s->owner[i].fd < 0) return;
    snprintf(path, sizeof path, "/proc/%ld/fd/%ld", (long)s->owner[i].pid, (long)s->owner[i].fd);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= FIRST)
        s->window[i] = map(s, fd);
    close(fd);
    if (!s->window[i] || memcmp(s->window[i], &s->owner[i], sizeof s->owner[i]) == 0) return;
    munmap(s->window[i], s->span);
    s->window[i] = NULL;
}

/* Lists the nodes from the lowest rank on the node of each rank. */
static struct nodes nodes_of(int size, const int *low)
{
    struct nodes t = {0};
    t.of = mem_new(sizeof *t.of * 3 * (size_t)(size + 1), "exchange");
    t.first = t.of + size;
    t.rank = t.first + size + 1;
    for (int r = 0; r < size; r++)
        if (low[r] == r) t.of[r] = t.n++; /* the lowest rank comes first */
    for (int r = 0; r < size; r++) t.of[r] = t.of[low[r]];
    memset(t.first, 0, sizeof *t.first * (size_t)(t.n + 1));
    for (int r = 0; r < size; r++) t.first[t.of[r] + 1]++;
    for (int k = 0; k < t.n; k++) t.first[k + 1] += t.first[k];
    for (int r = size; r-- > 0;) t.rank[--t.first[t.of[r] + 1]] = r;
    for (int k = 0; k < t.n; k++) t.first[k] = t.first[k + 1];
    t.first[t.n] = size;
    return t;
}

/* Finds the nodes if all ranks have windows, and large ones. s: NULL if this one has none.
 * (collective) */
static void nodes_find(struct comm_share *s, const struct comm *c)
{
    int all = s && s->span >= SPACIOUS;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) return;
    int *low = mem_new(sizeof *low * (size_t)c->size, "exchange");
    low[c->rank] = (int)s->owner[0].rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, low, 1, MPI_INT, MPI_COMM_WORLD);
    s->nodes = nodes_of(c->size, low);
    mem_free(low);
}

struct comm_share *comm_share_new(const struct comm *c)
{
    if (c->size == 1) return NULL;
    const MPI_Comm node = MPI_Comm_f2c(c->node);
    struct comm_share *s = mem_new(sizeof *s, "exchange");
    *s = (struct comm_share){.n = c->node_size, .me = c->node_rank, .span = comm_share_max};
    s->owner = mem_zero(sizeof *s->owner * (size_t)s->n, "exchange");
    s->window = mem_zero(sizeof *s->window * (size_t)s->n, "exchange");
    s->held = FIRST;
    mem_count("exchange window", FIRST);
    window_new(s, c);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, s->owner, sizeof *s->owner, MPI_BYTE, node);
    int all = s->n > 1;
    for (int i = 0; i < s->n; i++) {
        if (i != s->me) window_open(s, i);
        all &= s->window[i] != NULL;
    }
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, node);
    if (!all) comm_share_free(&s);
    nodes_find(s, c);
    return s;
}

void comm_share_free(struct comm_share **share)
{
    struct comm_share *s = *share;
    if (!s) return;
    for (int i = 0; i < s->n; i++)
        if (s->window[i]) munmap(s->window[i], s->span);
    if (s->owner[s->me].fd >= 0) close((int)s->owner[s->me].fd);
    mem_count("exchange window", -(ptrdiff_t)s->held);
    mem_free(s->nodes.of);
    mem_free(s->used);
    mem_free(s->window);
    mem_free(s->owner);
    FREE(*share);
}

/* Index of a rank within the node; -1 for a rank of another node. */
static int slot(const struct comm_share *s, int rank)
{
    int lo = 0, hi = s->n - 1;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (s->owner[mid].rank < rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    return s->owner[lo].rank == rank ? lo : -1;
}

bool comm_share_near(const struct comm_share *s, int rank)
{
    return s && slot(s, rank) >= 0;
}

/* ---- blocks ---- */

static atomic_int *readers_of(const struct comm_share *s, int i, size_t at)
{
    return &((struct block *)(s->window[i] + at))->readers;
}

static void forget_read(struct comm_share *s)
{
    int retained = 0;
    for (int i = 0; i < s->nused; i++)
        if (atomic_load_explicit(readers_of(s, s->me, s->used[i].at), memory_order_acquire))
            s->used[retained++] = s->used[i];
    s->nused = retained;
}

/* Allocates pages of the window up to offset `end`; false if no memory is left. */
static bool grow(struct comm_share *s, size_t end)
{
    if (end <= s->held) return true;
    if (end > s->span) return false;
    end = (end + FIRST - 1) / FIRST * FIRST;
    if (end > s->span ||
        posix_fallocate((int)s->owner[s->me].fd, (off_t)s->held, (off_t)(end - s->held)))
        return false;
    mem_count("exchange window", (ptrdiff_t)(end - s->held));
    s->held = end;
    return true;
}

void comm_share_trim(struct comm_share *s)
{
    size_t end = FIRST;
    if (!s || s->held <= comm_share_keep) return;
    forget_read(s);
    if (s->nused) end = s->used[s->nused - 1].at + s->used[s->nused - 1].bytes;
    if (end < comm_share_keep) end = comm_share_keep;
    end = (end + FIRST - 1) / FIRST * FIRST;
    if (end >= s->held || ftruncate((int)s->owner[s->me].fd, (off_t)end) != 0) return;
    mem_count("exchange window", -(ptrdiff_t)(s->held - end));
    s->held = end;
}

static char *get(struct comm_share *s, size_t bytes, int readers, struct share_slip *slip,
                 size_t span)
{
    size_t at = FIRST,
           all = sizeof(struct block) + (bytes + SHARE_ALIGN - 1) / SHARE_ALIGN * SHARE_ALIGN;
    int i = 0;
    forget_read(s);
    while (i < s->nused && s->used[i].at - at < all) { /* finds the first gap large enough */
        at = s->used[i].at + s->used[i].bytes;
        i++;
    }
    if (at + all > span || !grow(s, at + all)) return NULL;
    MEM_ROOM(s->used, s->nused, s->used_room, 8, "exchange");
    memmove(s->used + i + 1, s->used + i, sizeof *s->used * (size_t)(s->nused - i));
    s->used[i] = (struct used){at, all};
    s->nused++;
    atomic_store_explicit(readers_of(s, s->me, at), readers, memory_order_relaxed);
    slip->block = (uint32_t)(at / SHARE_ALIGN);
    slip->data = slip->block + 1;
    return s->window[s->me] + at + sizeof(struct block);
}

char *share_get(struct comm_share *s, size_t bytes, int readers, struct share_slip *slip)
{
    return get(s, bytes, readers, slip, s->span < SPACIOUS ? s->span : s->span - RESERVED);
}

char *share_get_soon(struct comm_share *s, size_t bytes, int readers, struct share_slip *slip)
{
    return get(s, bytes, readers, slip, s->span);
}

int share_used(const struct comm_share *s)
{
    return s->nused;
}

const char *share_at(const struct comm_share *s, int rank, struct share_slip slip)
{
    return s->window[slot(s, rank)] + (size_t)slip.data * SHARE_ALIGN;
}

void share_done(const struct comm_share *s, int rank, struct share_slip slip)
{
    atomic_fetch_sub_explicit(readers_of(s, slot(s, rank), (size_t)slip.block * SHARE_ALIGN), 1,
                              memory_order_release);
}

/* ---- nodes and boards ---- */

int share_nodes(const struct comm_share *s)
{
    return s ? s->nodes.n : 0;
}

int share_ranks(const struct comm_share *s)
{
    return s->n;
}

int share_rank(const struct comm_share *s, int index)
{
    return (int)s->owner[index].rank;
}

int share_index(const struct comm_share *s, int rank)
{
    return slot(s, rank);
}

int share_node_of(const struct comm_share *s, int rank)
{
    return s->nodes.of[rank];
}

int share_gate(const struct comm_share *s, int node, int other)
{
    const int *first = s->nodes.first + node;
    return s->nodes.rank[first[0] + other % (first[1] - first[0])];
}

static struct place *place_of(const struct comm_share *s, int index, int board, uint32_t turn)
{
    struct place *p = (struct place *)(void *)(s->window[index] + BOARD);
    return p + board * SHARE_TURNS + turn % SHARE_TURNS;
}

uint32_t share_turn(struct comm_share *s)
{
    return s->turn++;
}

void share_post(const struct comm_share *s, int board, uint32_t turn, struct share_slip slip)
{
    struct place *p = place_of(s, s->me, board, turn);
    p->block = slip.block;
    p->data = slip.data;
    atomic_store_explicit(&p->turn, turn + 1, memory_order_release);
}

bool share_posted(const struct comm_share *s, int index, int board, uint32_t turn,
                  struct share_slip *slip)
{
    const struct place *p = place_of(s, index, board, turn);
    if (atomic_load_explicit(&p->turn, memory_order_acquire) != turn + 1) return false;
    *slip = (struct share_slip){p->block, p->data};
    return true;
}
