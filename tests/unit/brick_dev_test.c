/* brick/brick_dev: a fill of halos on the emulated device gives the bytes of a fill on the host,
 * for some seeds of its order of execution; between begin and end the cells that the inner box
 * reads are there; only messages cross the bus. Catches: a segment of another peer or field, halos
 * beyond two axes that lack those of the first, cells that are packed before they are written,
 * messages that are sent before they are packed.
 *
 * test: tier=quick mpi=1,3
 * test: tier=check mpi=2,4,8 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "brick/brick_dev.h"
#include "check.h"
#include "comm/share.h"
#include "test_device.h"

enum { FIELDS = 3, SEEDS = 20, CASES = 4 };

static struct comm c;
static struct dev *dev;
static struct dev_stream *stream;

struct fields {
    double *here[FIELDS], *there[FIELDS], *between[FIELDS];
    size_t bytes;
};

/* Own cells have random values, all other numbers −1. */
static void fields_new(struct fields *f, const struct brick *b, uint64_t seed)
{
    struct rng r = rng_make(seed, (uint64_t)c.rank, 1);
    f->bytes = sizeof(double) * (b->size + 1);
    for (int i = 0; i < FIELDS; i++) {
        f->here[i] = mem_new(f->bytes, "test");
        for (size_t k = 0; k <= b->size; k++) f->here[i][k] = -1;
        for (int z = 0; z < b->own[2]; z++)
            for (int y = 0; y < b->own[1]; y++)
                for (int x = 0; x < b->own[0]; x++)
                    f->here[i][brick_cell(b, x, y, z)] = rng_uniform(&r);
        CHECK(dev_new(dev, &f->there[i], f->bytes, "test") == OK, "%s", err_message());
        CHECK(dev_new(dev, &f->between[i], f->bytes, "test") == OK, "%s", err_message());
    }
}

static void fields_free(struct fields *f)
{
    for (int i = 0; i < FIELDS; i++) {
        FREE(f->here[i]);
        dev_free(dev, f->there[i]);
        dev_free(dev, f->between[i]);
    }
}

/* Numbers of a device array that differ from those of the host, in a box or in all of the array. */
static int64_t differing(const struct brick *b, const double *there, const double *here,
                         size_t bytes, bool inner)
{
    double *got = mem_new(bytes, "test");
    int64_t wrong = 0;
    int lo[7][3], hi[7][3];
    dev_get(stream, got, there, bytes);
    CHECK(dev_wait(stream) == OK, "%s", err_message());
    if (!inner) wrong = memcmp(got, here, bytes) != 0;
    brick_boxes(b, lo, hi);
    bool some = lo[0][0] < hi[0][0] && lo[0][1] < hi[0][1] && lo[0][2] < hi[0][2];
    for (int d = 0; d < 3; d++) lo[0][d] -= b->halo, hi[0][d] += b->halo;
    for (int z = lo[0][2]; inner && some && z < hi[0][2]; z++)
        for (int y = lo[0][1]; y < hi[0][1]; y++)
            for (int x = lo[0][0]; x < hi[0][0]; x++) {
                int64_t i = brick_cell(b, x, y, z);
                wrong += got[i] != here[i];
            }
    mem_free(got);
    return wrong;
}

/* The values arrive in the stream just before the fill. */
static void fill_check(struct brick *b, struct brick_dev *x, int n, uint64_t seed)
{
    struct fields f;
    fields_new(&f, b, seed);
    for (int i = 0; i < FIELDS; i++) dev_put(stream, f.between[i], f.here[i], f.bytes);
    CHECK(dev_wait(stream) == OK, "%s", err_message());
    struct brick_counts none = brick_counts(b), host, device;
    brick_fill(b, n, f.here);
    host = brick_counts(b);
    for (int i = 0; i < FIELDS; i++) dev_copy(stream, f.there[i], f.between[i], f.bytes);
    struct dev_count was = dev_counts(dev);
    brick_dev_fill_begin(x, stream, n, f.there);
    for (int i = 0; i < n; i++) dev_copy(stream, f.between[i], f.there[i], f.bytes);
    brick_dev_fill_end(x, stream);
    struct dev_count now = dev_counts(dev);
    device = brick_counts(b);
    int64_t bytes = device.bytes - host.bytes;
    CHECK(bytes == host.bytes - none.bytes && now.got - was.got == bytes &&
              now.put - was.put == bytes,
          "%ld bytes, %ld from the device, %ld to it", (long)bytes, (long)(now.got - was.got),
          (long)(now.put - was.put));
    CHECK(device.messages - host.messages == host.messages - none.messages &&
              device.copied - host.copied == host.copied - none.copied,
          "%ld bytes copied", (long)(device.copied - host.copied));
    CHECK(now.arrays == was.arrays, "arrays in a fill");
    int64_t wrong = 0, early = 0;
    for (int i = 0; i < FIELDS; i++) {
        wrong += differing(b, f.there[i], f.here[i], f.bytes, false);
        if (i < n) early += differing(b, f.between[i], f.here[i], f.bytes, true);
    }
    CHECK(wrong == 0 && early == 0,
          "%ld × %ld × %ld in %d × %d × %d, halo %d: %ld fields, %ld inner cells", (long)b->n[0],
          (long)b->n[1], (long)b->n[2], b->p[0], b->p[1], b->p[2], b->halo, (long)wrong,
          (long)early);
    fields_free(&f);
}

static void one_case(const int64_t n[3], int halo, const int p[3], uint64_t seed)
{
    struct brick b;
    struct brick_dev *x;
    CHECK(brick_init(&b, &c, n, halo, p) == OK, "%s", err_message());
    CHECK(brick_dev_new(&x, &b, dev, FIELDS) == OK, "%s", err_message());
    fill_check(&b, x, FIELDS, seed);
    fill_check(&b, x, 1, seed + 1);
    brick_corners(&b, false);
    fill_check(&b, x, 2, seed + 2);
    brick_dev_free(&x);
    brick_fini(&b);
}

static void test_fills(uint64_t seed)
{
    static const int64_t SIZES[] = {1, 2, 3, 5, 8, 13, 16};
    struct rng g = rng_make(seed, 2, 0);
    for (int i = 0; i < CASES; i++) {
        int64_t n[3];
        int p[3] = {0}, halo = 1 + (int)(rng_word(&g) % 4);
        for (int d = 0; d < 3; d++) n[d] = SIZES[rng_word(&g) % 7];
        if (i % 2) { /* all ranks along one axis */
            int d = (int)(rng_word(&g) % 3);
            p[0] = p[1] = p[2] = 1;
            p[d] = c.size;
            n[d] = (int64_t)halo * c.size + rng_word(&g) % 5;
        }
        one_case(n, halo, p, seed * 100 + (uint64_t)i);
    }
    if (c.size == 8) one_case((int64_t[3]){9, 12, 7}, 3, (int[3]){2, 2, 2}, seed);
}

/* One rank has too little memory: all ranks get the error. */
static void test_memory(void)
{
    char why[DEV_WHY];
    struct brick b;
    struct brick_dev *x;
    if (c.size == 1) return;
    const size_t max = c.rank == c.size - 1 ? 512 : 0;
    struct dev *small = dev_open(&(struct dev_how){.kind = test_device(), .max = max}, why);
    CHECK(small, "%s", why);
    CHECK(brick_init(&b, &c, (int64_t[3]){16, 16, 4 * c.size}, 3, (int[3]){1, 1, c.size}) == OK,
          "%s", err_message());
    CHECK(brick_dev_new(&x, &b, small, FIELDS) == ERR_LIMIT && x == NULL, "%s", err_message());
    CHECK(dev_bytes(small) == 0, "%zu bytes", dev_bytes(small));
    brick_fini(&b);
    dev_close(&small);
}

int main(int argc, char **argv)
{
    char why[DEV_WHY];
    comm_init(&argc, &argv, &c);
    const uint64_t seeds = c.size < 4 ? SEEDS : SEEDS / 4;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        dev = dev_open(&(struct dev_how){.kind = test_device(), .seed = seed}, why);
        CHECK(dev, "%s", why);
        stream = dev_stream_new(dev);
        if (seed % 2) c.share = comm_share_new(&c);
        test_fills(seed);
        comm_share_free(&c.share);
        dev_stream_free(&stream);
        CHECK(dev_bytes(dev) == 0, "%zu bytes are left", dev_bytes(dev));
        dev_close(&dev);
    }
    test_memory();
    int64_t n[2] = {passed, failed};
    comm_add_i64(&c, n, 2);
    if (c.rank == 0) printf("%ld passed, %ld failed\n", (long)n[0], (long)n[1]);
    comm_fini();
    return n[1] != 0;
}
