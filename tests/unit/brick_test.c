/* Laws of bricks (lib/brick): after a fill each cell of the halo has the value of its cell of the
 * periodic mesh, for meshes down to one cell, all divisions, halos, transports and nodes; messages
 * are as many as neighbours, and their bytes are the surface. Catches: an edge that is sent to a
 * face's neighbour, a mesh narrower than its halo, a segment that two fields share, a buffer that
 * is read too early, an allocation in a fill, a cell that is in two boxes.
 *
 * test: tier=quick mpi=1,3
 * test: tier=check mpi=2,5,8 */
#include "mpicount.h"

#include "base/mem.h"
#include "base/rng.h"
#include "brick/brick.h"
#include "brick/fill.h"
#include "check.h"
#include "comm/share.h"
#include "comm/transport.h"
#include "comm/tuner.h"

enum { FIELDS = 3 };

static struct comm c;

static double value(const struct brick *b, int f, int64_t x, int64_t y, int64_t z)
{
    const int64_t at[3] = {x, y, z};
    uint64_t key = (uint64_t)f + 1;
    for (int d = 0; d < 3; d++) {
        int64_t n = b->n[d], g = ((b->first[d] + at[d]) % n + n) % n;
        key = rng_mix(key * 1000003 + (uint64_t)g);
    }
    return (double)(key >> 12);
}

static bool is_own(const struct brick *b, int x, int y, int z)
{
    return x >= 0 && x < b->own[0] && y >= 0 && y < b->own[1] && z >= 0 && z < b->own[2];
}

/* Number of axes beyond which a cell lies. */
static int beyond(const struct brick *b, int x, int y, int z)
{
    return (x < 0 || x >= b->own[0]) + (y < 0 || y >= b->own[1]) + (z < 0 || z >= b->own[2]);
}

/* Own cells have their values, all other numbers −1. */
static void fields_set(const struct brick *b, double *field[FIELDS])
{
    for (int f = 0; f < FIELDS; f++) {
        for (size_t i = 0; i < b->size; i++) field[f][i] = -1;
        for (int z = 0; z < b->own[2]; z++)
            for (int y = 0; y < b->own[1]; y++)
                for (int x = 0; x < b->own[0]; x++)
                    field[f][brick_cell(b, x, y, z)] = value(b, f, x, y, z);
    }
}

/* Wrong cells of a field, corners only if they are filled; *other: numbers beside the brick that
 * have changed. */
static int64_t wrong_cells(const struct brick *b, const double *v, int f, bool corners,
                           int64_t *other)
{
    const int h = b->halo;
    int64_t wrong = 0, kept = 0, padding = (int64_t)b->size;
    if (b->own[0] == 0) return 0;
    for (int z = -h; z < b->own[2] + h; z++)
        for (int y = -h; y < b->own[1] + h; y++)
            for (int x = -h; x < b->own[0] + h; x++) {
                double is = v[brick_cell(b, x, y, z)];
                padding--;
                kept += is == -1;
                if (corners || beyond(b, x, y, z) < 3) wrong += is != value(b, f, x, y, z);
            }
    for (size_t i = 0; i < b->size; i++) kept -= v[i] == -1;
    *other += kept + padding;
    return wrong;
}

static void fields_new(const struct brick *b, double *field[FIELDS])
{
    for (int f = 0; f < FIELDS; f++) field[f] = mem_new(sizeof(double) * b->size + 1, "test");
}

static void fields_free(double *field[FIELDS])
{
    for (int f = 0; f < FIELDS; f++) mem_free(field[f]);
}

static void fill_check(struct brick *b, double *field[FIELDS], int n, bool corners)
{
    int64_t wrong = 0, other = 0;
    fields_set(b, field);
    brick_fill(b, n, field);
    for (int f = 0; f < n; f++) wrong += wrong_cells(b, field[f], f, corners, &other);
    CHECK(wrong == 0 && other == 0, "%ld × %ld × %ld in %d × %d × %d, halo %d: %ld wrong, %ld more",
          (long)b->n[0], (long)b->n[1], (long)b->n[2], b->p[0], b->p[1], b->p[2], b->halo,
          (long)wrong, (long)other);
    for (size_t i = 0; n < FIELDS && i < b->size; i++)
        other += field[n][i] != -1 && field[n][i] < 0;
    CHECK(other == 0, "a field that is not filled");
}

/* Cells that other ranks have, and their number of ranks, by looking at each cell. */
static int64_t surface(const struct brick *b, bool corners, int *ranks)
{
    const int h = b->halo;
    int64_t cells = 0;
    *ranks = 0;
    if (b->own[0] == 0) return 0;
    unsigned char *seen = mem_zero((size_t)c.size, "test");
    for (int z = -h; z < b->own[2] + h; z++)
        for (int y = -h; y < b->own[1] + h; y++)
            for (int x = -h; x < b->own[0] + h; x++) {
                const int at[3] = {x, y, z};
                int brick[3], out = 0;
                bool apart = true;
                for (int d = 0; d < 3; d++) {
                    int side = at[d] < 0 ? -1 : at[d] >= b->own[d];
                    brick[d] = b->at[d] + side;
                    out += side != 0 && b->p[d] > 1;
                    apart &= side == 0 || b->p[d] > 1;
                }
                if (!apart || out == 0 || (out == 3 && !corners)) continue;
                cells++;
                seen[brick_rank(b, brick)] = 1;
            }
    for (int r = 0; r < c.size; r++) *ranks += seen[r];
    mem_free(seen);
    return cells;
}

static void counts_check(struct brick *b, double *field[FIELDS], int n, bool corners)
{
    struct brick_counts was = brick_counts(b);
    int ranks;
    int64_t cells = surface(b, corners, &ranks);
    mpicount_reset();
    fill_check(b, field, n, corners);
    struct brick_counts now = brick_counts(b);
    int64_t bytes = now.bytes - was.bytes, messages = now.messages - was.messages;
    CHECK(now.fills == was.fills + 1, "%ld fills", (long)now.fills);
    CHECK(bytes == cells * n * (int64_t)sizeof(double), "%ld bytes of %ld cells", (long)bytes,
          (long)cells);
    CHECK(messages == ranks, "%ld messages to %d ranks", (long)messages, ranks);
    if (c.tuner || (c.share && comm_share_max < 1 << 20)) return;
    CHECK(mpicount.n[MPICOUNT_SENDS] == messages, "%ld messages of MPI, not %ld",
          (long)mpicount.n[MPICOUNT_SENDS], (long)messages);
    CHECK(c.share || mpicount.n[MPICOUNT_BYTES] == bytes, "%ld bytes of MPI, not %ld",
          (long)mpicount.n[MPICOUNT_BYTES], (long)bytes);
}

static void own_check(const struct brick *b)
{
    int64_t cells = (int64_t)b->own[0] * b->own[1] * b->own[2];
    comm_add_i64(&c, &cells, 1);
    CHECK(cells == b->n[0] * b->n[1] * b->n[2], "%ld cells", (long)cells);
    CHECK(b->start % 8 == 0 && b->stride[1] % 8 == 0 && b->stride[2] % 8 == 0, "alignment");
    CHECK(b->own[0] == 0 || (b->stride[1] % 512 && b->stride[2] % 512), "strides of one set");
}

static void one_case(const int64_t n[3], int halo, const int p[3])
{
    struct brick b;
    double *field[FIELDS];
    CHECK(brick_init(&b, &c, n, halo, p) == OK, "%s", err_message());
    own_check(&b);
    fields_new(&b, field);
    fill_check(&b, field, FIELDS, true);
    size_t before = mem_now();
    counts_check(&b, field, FIELDS, true);
    counts_check(&b, field, 1, true);
    CHECK(c.share || mem_now() == before, "%zu bytes more", mem_now() - before);
    brick_corners(&b, false);
    counts_check(&b, field, 2, false);
    brick_corners(&b, true);
    fill_check(&b, field, 2, true);
    fields_free(field);
    brick_fini(&b);
}

static bool is_possible(const int64_t n[3], int halo, const int p[3])
{
    for (int d = 0; d < 3; d++)
        if (p[d] > 1 && n[d] / p[d] < halo) return false;
    return true;
}

/* All divisions of a few meshes that are possible; the rest of the choices at random. */
static void test_fills(uint64_t seed, int cases)
{
    static const int64_t SIZES[] = {1, 2, 3, 5, 7, 8, 11, 16, 33};
    struct rng g = rng_make(seed, 0, 0);
    for (int i = 0; i < cases; i++) {
        int64_t n[3];
        int halo = 1 + i % 4, sizes = i % 3 == 2 ? 4 : 9;
        for (int d = 0; d < 3; d++)
            n[d] = SIZES[sizes == 9 ? 8 - rng_word(&g) % 9 : rng_word(&g) % 5];
        one_case(n, halo, (int[3]){0, 0, 0});
        for (int x = 1; x <= c.size; x++)
            for (int y = 1; y <= c.size / x; y++)
                for (int z = 1; z <= c.size / x / y; z++) {
                    const int p[3] = {x, y, z};
                    if (is_possible(n, halo, p) && rng_word(&g) % 2) one_case(n, halo, p);
                }
    }
}

/* A mesh on two nodes and more, each with windows, and messages that are too long for a window. */
static void test_nodes(void)
{
    size_t min = comm_share_min, max = comm_share_max;
    comm_share_min = 1;
    for (int each = 1; each <= 4; each++) {
        char text[8];
        snprintf(text, sizeof text, "%d", each);
        setenv("PTAH_NODE_RANKS", text, 1);
        comm_nodes(&c);
        comm_share_max = each == 3 ? 3 * 4096 : max;
        c.share = comm_share_new(&c);
        test_fills(10 + (uint64_t)each, 3);
        comm_share_free(&c.share);
    }
    unsetenv("PTAH_NODE_RANKS");
    comm_nodes(&c);
    comm_share_max = max;
    c.share = comm_share_new(&c);
    test_fills(20, 4);
    comm_share_free(&c.share);
    comm_share_min = min;
}

static void test_transports(void)
{
    for (int t = 0; t < TRANSPORTS; t++) {
        c.tuner = tuner_new(comm_transport[t].name);
        test_fills(30, 4);
        tuner_free(&c.tuner);
    }
}

/* Own cells may change after begin; halos beside own cells are there before end. */
static void test_between(void)
{
    struct brick b;
    double *field[FIELDS];
    CHECK(brick_init(&b, &c, (int64_t[3]){16, 9, 12}, 2, (int[3]){0, 0, 0}) == OK, "%s",
          err_message());
    fields_new(&b, field);
    fields_set(&b, field);
    brick_fill_begin(&b, FIELDS, field);
    int lo[7][3], hi[7][3];
    int64_t wrong = 0;
    brick_boxes(&b, lo, hi);
    for (int d = 0; d < 3; d++) lo[0][d] -= b.halo, hi[0][d] += b.halo;
    for (int z = lo[0][2]; z < hi[0][2]; z++)
        for (int y = lo[0][1]; y < hi[0][1]; y++)
            for (int x = lo[0][0]; x < hi[0][0]; x++)
                wrong += field[0][brick_cell(&b, x, y, z)] != value(&b, 0, x, y, z);
    CHECK(b.own[0] == 0 || wrong == 0, "%ld cells that the inner box reads", (long)wrong);
    comm_barrier(&c);
    for (int z = 0; z < b.own[2]; z++)
        for (int y = 0; y < b.own[1]; y++)
            for (int x = 0; x < b.own[0]; x++) field[0][brick_cell(&b, x, y, z)] = -2;
    brick_fill_end(&b);
    wrong = 0;
    for (int z = -2; z < b.own[2] + 2; z++)
        for (int y = -2; y < b.own[1] + 2; y++)
            for (int x = -2; x < b.own[0] + 2; x++)
                for (int f = 0; f < FIELDS && b.own[0]; f++) {
                    double is = field[f][brick_cell(&b, x, y, z)];
                    wrong += f == 0 && is_own(&b, x, y, z) ? is != -2 : is != value(&b, f, x, y, z);
                }
    bool all = b.p[0] > 1 && b.p[1] > 1 && b.p[2] > 1;
    CHECK(wrong == 0 || !all, "%ld cells", (long)wrong);
    fields_free(field);
    brick_fini(&b);
}

/* Each own cell is in one box, and those of box 0 read no halo of other ranks. */
static void test_boxes(void)
{
    struct rng g = rng_make(40, 0, 0);
    int inner = 0;
    for (int i = 0; i < 20; i++) {
        struct brick b;
        int lo[7][3], hi[7][3];
        int64_t n[3], cells = 0;
        for (int d = 0; d < 3; d++) n[d] = 1 + rng_word(&g) % 20;
        CHECK(brick_init(&b, &c, n, 1 + i % 4, (int[3]){0, 0, 0}) == OK, "%s", err_message());
        int boxes = brick_boxes(&b, lo, hi);
        CHECK(boxes >= 1 && boxes <= 7, "%d boxes", boxes);
        double *seen = mem_zero(sizeof *seen * (b.size + 1), "test");
        for (int k = 0; k < boxes; k++)
            for (int z = lo[k][2]; z < hi[k][2]; z++)
                for (int y = lo[k][1]; y < hi[k][1]; y++)
                    for (int x = lo[k][0]; x < hi[k][0]; x++, cells++)
                        seen[brick_cell(&b, x, y, z)]++;
        CHECK(cells == (int64_t)b.own[0] * b.own[1] * b.own[2], "%ld cells", (long)cells);
        for (size_t k = 0; k < b.size; k++) CHECK(seen[k] <= 1, "a cell in %g boxes", seen[k]);
        bool some = lo[0][0] < hi[0][0] && lo[0][1] < hi[0][1] && lo[0][2] < hi[0][2];
        inner += some;
        for (int d = 0; d < 3 && some; d++)
            CHECK(b.p[d] == 1 ? lo[0][d] == 0 && hi[0][d] == b.own[d]
                              : lo[0][d] == b.halo && hi[0][d] == b.own[d] - b.halo,
                  "axis %d: %d to %d", d, lo[0][d], hi[0][d]);
        mem_free(seen);
        brick_fini(&b);
    }
    CHECK(inner > 0 || c.rank > 4, "%d inner boxes", inner);
}

/* Bricks of many ranks, in one process: what one sends is what the other one expects. */
static void test_many(const int64_t n[3], const int p[3], bool corners, int messages)
{
    const struct comm one = c;
    struct brick b[64];
    c.size = c.node_size = p[0] * p[1] * p[2];
    for (int r = 0; r < c.size; r++) {
        c.rank = c.node_rank = r;
        CHECK(brick_init(&b[r], &c, n, 3, p) == OK, "%s", err_message());
        brick_corners(&b[r], corners);
        CHECK(b[r].plan->npeer == messages, "%d messages", b[r].plan->npeer);
    }
    for (int r = 0; r < c.size; r++)
        for (int i = 0; i < messages; i++) {
            const struct brick_plan *q = b[r].plan, *to = b[q->peer[i]].plan;
            int64_t expected = -1;
            for (int k = 0; k < to->npeer; k++)
                if (to->peer[k] == r) expected = to->received[k];
            CHECK(q->sent[i] == expected, "%ld of %ld cells", (long)q->sent[i], (long)expected);
        }
    for (int r = 0; r < c.size; r++) brick_fini(&b[r]);
    c = one;
}

static void test_messages(void)
{
    if (c.size > 1) return;
    test_many((int64_t[3]){20, 17, 19}, (int[3]){3, 3, 3}, true, 26);
    test_many((int64_t[3]){20, 17, 19}, (int[3]){3, 3, 3}, false, 18);
    test_many((int64_t[3]){40, 17, 19}, (int[3]){4, 3, 2}, true, 17);
    test_many((int64_t[3]){40, 17, 19}, (int[3]){5, 3, 1}, true, 8);
    test_many((int64_t[3]){40, 17, 19}, (int[3]){1, 5, 1}, false, 2);
    test_many((int64_t[3]){40, 17, 19}, (int[3]){2, 2, 2}, true, 7);
}

static void test_errors(void)
{
    static const int64_t N[3] = {16, 16, 16};
    struct brick b;
    const int many = c.size + 1;
    CHECK_FAILS(brick_init(&b, &c, N, 0, (int[3]){0}), "a halo of 0 cells");
    CHECK_FAILS(brick_init(&b, &c, N, 5, (int[3]){0}), "a halo of 5 cells");
    brick_fini(&b);
    CHECK_FAILS(brick_init(&b, &c, (int64_t[3]){8, 0, 8}, 1, (int[3]){0}), "0 cells along y");
    CHECK_FAILS(brick_init(&b, &c, N, 1, (int[3]){1, 0, 1}), "0 parts of the mesh along y");
    CHECK_FAILS(brick_init(&b, &c, N, 1, (int[3]){1, -2, 1}), "-2 parts");
    CHECK_FAILS(brick_init(&b, &c, N, 1, (int[3]){1, many, 1}), "more ranks");
    CHECK_FAILS(brick_init(&b, &c, (int64_t[3]){1LL << 40, 1, 1}, 1, (int[3]){1, 1, 1}),
                "too many");
    if (c.size > 1)
        CHECK_FAILS(brick_init(&b, &c, (int64_t[3]){9, 7, 9}, 4, (int[3]){1, 2, 1}),
                    "7 cells along y cannot be divided in 2 parts");
    brick_fini(&b);
}

int main(int argc, char **argv)
{
    setenv("PTAH_MPI", "1", 1);
    comm_init(&argc, &argv, &c);
    test_fills(1, 12);
    test_nodes();
    test_transports();
    test_between();
    test_boxes();
    test_messages();
    test_errors();
    int64_t n[2] = {passed, failed};
    comm_add_i64(&c, n, 2);
    if (c.rank == 0) printf("%ld passed, %ld failed\n", (long)n[0], (long)n[1]);
    comm_fini();
    return n[1] != 0;
}
