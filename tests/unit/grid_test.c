/* Laws of checkpoints of uniform meshes (lib/grid): one file, byte for byte, for any ranks and
 * division; any box is read back as written, periodic; the digest depends on values and physics
 * alone; damage is reported by a sentence with file and place. Last line: N passed, N failed.
 *
 * test: mpi=1,2,3,5 tier=quick */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "comm/comm.h"
#include "grid/grid.h"
#include "io/dir.h"
#include "io/file.h"

static struct comm all;
static const struct comm alone = {.size = 1};
static char home[512];

enum { NFIELD = 6 };
static const char *const NAMES[NFIELD] = {"lnrho", "ux", "uy", "uz", "s", "ax"};

static double STATE[3] = {1.5, -2, 3};

static double value_at(int field, int64_t x, int64_t y, int64_t z)
{
    uint64_t h = (uint64_t)(((field * 1009 + z) * 1013 + y) * 1019 + x) * 0x9e3779b97f4a7c15u;
    return (double)(int64_t)(h >> 11) / 1e15 - 3;
}

static struct grid_head head_of(int64_t nx, int64_t ny, int64_t nz)
{
    struct grid_head h = {.n = {nx, ny, nz},
                          .length = {1, 2, 3.5},
                          .t = 0.125,
                          .dt = 1e-3,
                          .it = 12345678901,
                          .order = 6,
                          .nfield = NFIELD,
                          .namelist = "&STENCIL_PARAMS\nnx=1\n/\n",
                          .overwrite = true};
    for (int f = 0; f < NFIELD; f++) snprintf(h.field[f], GRID_NAME, "%s", NAMES[f]);
    h.nstate = 3, h.state = STATE;
    grid_set(&h, "gamma", 1.5);
    grid_set(&h, "next_tout", 0.25);
    grid_set(&h, "gamma", 5. / 3);
    return h;
}

/* ---- bricks: divisions of any kind, also uneven ones and ranks without cells ---- */

struct field_store {
    struct brick b;
    double *field[NFIELD];
};

static void cut(struct brick *b, int axis, int p, int at)
{
    b->first[axis] = b->n[axis] * at / p;
    b->own[axis] = (int)(b->n[axis] * (at + 1) / p - b->first[axis]);
}

static void fill_store(struct field_store *s)
{
    struct brick *b = &s->b;
    for (int f = 0; f < NFIELD; f++) {
        s->field[f] = mem_zero(8 * b->size + 8, "test");
        for (size_t i = 0; i < b->size; i++) s->field[f][i] = NAN; /* halos must not be written */
        for (int z = 0; z < b->own[2]; z++)
            for (int y = 0; y < b->own[1]; y++)
                for (int x = 0; x < b->own[0]; x++)
                    s->field[f][b->start + x + y * b->stride[1] + z * b->stride[2]] = value_at(
                        f, b->first[0] + x, b->first[1] + y, b->first[2] + z);
    }
}

static struct field_store make_store(const struct comm *c, const int64_t n[3], const int p[3])
{
    enum { HALO = 2 };
    struct field_store s = {.b = {.halo = HALO, .comm = c}};
    struct brick *b = &s.b;
    bool has = c->rank < p[0] * p[1] * p[2];
    int at[3] = {c->rank % p[0], c->rank / p[0] % p[1], c->rank / p[0] / p[1]};
    for (int d = 0; d < 3; d++) {
        b->n[d] = n[d];
        if (has) cut(b, d, p[d], at[d]);
    }
    b->stride[0] = 1;
    b->stride[1] = b->own[0] + 2 * HALO + 3;
    b->stride[2] = b->stride[1] * (b->own[1] + 2 * HALO);
    b->start = HALO * (1 + b->stride[1] + b->stride[2]);
    b->size = (size_t)(b->stride[2] * (b->own[2] + 2 * HALO));
    fill_store(&s);
    return s;
}

static void free_store(struct field_store *s)
{
    for (int f = 0; f < NFIELD; f++) FREE(s->field[f]);
}

static enum err write_grid(const struct comm *c, const char *dir, const struct grid_head *h,
                           const int p[3])
{
    struct field_store s = make_store(c, h->n, p);
    struct out_pending out = {.lock = -1};
    enum err err = c->rank == 0 ? dir_make(dir) : OK;
    if (err == OK) err = grid_write(dir, 7, h, &s.b, s.field, &out);
    if (err == OK) err = out_publish(&out, c);
    free_store(&s);
    return err;
}

/* ---- laws ---- */

static char *load(const char *dir, size_t *n)
{
    char path[700], *text = NULL;
    snprintf(path, sizeof path, "%s/output_00007/stencil_00007.h5", dir);
    enum err err = file_load(path, 1 << 30, &text, n);
    CHECK(err == OK, "%s", err_message());
    return text;
}

static void same_files(const char *a, const char *b)
{
    size_t na = 0, nb = 0;
    char *p = load(a, &na), *q = load(b, &nb);
    CHECK(p && q && na == nb && memcmp(p, q, na) == 0, "%s and %s differ", a, b);
    FREE(p);
    FREE(q);
}

/* Any division gives the bytes that one rank writes: catches lines at the wrong place, halos in the
 * file, blocks of another rank. */
static void test_divisions(int64_t nx, int64_t ny, int64_t nz)
{
    struct grid_head h = head_of(nx, ny, nz);
    char one[600], many[600];
    snprintf(one, sizeof one, "%s/one", home);
    snprintf(many, sizeof many, "%s/many", home);
    if (all.rank == 0) {
        enum err err = write_grid(&alone, one, &h, (int[3]){1, 1, 1});
        CHECK(err == OK, "%s", err_message());
    }
    for (int k = 0; k < 6; k++) {
        int p[3] = {1, 1, 1}, n = all.size;
        if (k < 3) p[k] = n;
        if (k == 3 && n > 2) p[0] = 2, p[1] = n / 2;
        if (k == 4 && n > 3) p[1] = 2, p[2] = 2;
        if (k == 5) p[2] = n > 1 ? n - 1 : 1; /* a rank without cells */
        enum err err = write_grid(&all, many, &h, p);
        CHECK(err == OK, "%s", err_message());
        if (all.rank == 0) same_files(one, many);
        comm_barrier(&all);
    }
}

static struct grid *open_grid(const char *sub)
{
    char path[700];
    struct grid *g = NULL;
    snprintf(path, sizeof path, "%s/%s/output_00007", home, sub);
    enum err err = grid_open(path, &g);
    CHECK(err == OK, "%s", err_message());
    return g;
}

/* Boxes at random, also beyond the mesh and longer than it. */
static void test_boxes(int64_t nx, int64_t ny, int64_t nz)
{
    struct grid *g = open_grid("one");
    uint64_t state = 1 + (uint64_t)all.rank;
    int bad = 0;
    for (int k = 0; g && k < 60; k++) {
        int64_t first[3], n[3], mesh[3] = {nx, ny, nz};
        for (int d = 0; d < 3; d++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            first[d] = (int64_t)(state >> 40) % (3 * mesh[d]) - mesh[d];
            n[d] = 1 + (int64_t)(state >> 20 & 0xffff) % (k % 3 ? 7 : mesh[d] + 5);
        }
        int64_t stride[3] = {2, 2 * n[0], 2 * n[0] * n[1]};
        double *to = mem_zero(16 * (size_t)(n[0] * n[1] * n[2]), "test");
        enum err err = grid_read(g, k % NFIELD, first, n, to, stride);
        bad += err != OK;
        for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
            int64_t x = first[0] + i % n[0], y = first[1] + i / n[0] % n[1],
                    z = first[2] + i / n[0] / n[1];
            bad += to[2 * i] != value_at(k % NFIELD, (x + nx) % nx, (y + ny) % ny, (z + nz) % nz);
        }
        FREE(to);
    }
    CHECK(bad == 0, "%d values differ", bad);
    grid_close(&g);
}

static void test_head(void)
{
    struct grid *g = open_grid("many");
    struct grid_head h = head_of(1, 1, 1);
    double x = 0;
    char *text;
    size_t n;
    CHECK(g->head.it == h.it && g->head.t == h.t && g->head.dt == h.dt && g->head.order == 6 &&
              g->head.length[2] == 3.5 && g->number == 7,
          "header");
    CHECK(grid_get(&g->head, "gamma", &x) && x == 5. / 3, "gamma is %g", x);
    CHECK(g->head.nstate == 3 && memcmp(g->head.state, STATE, sizeof STATE) == 0, "state");
    CHECK(g->head.keys.n == 2 && !grid_get(&g->head, "nothing", &x), "%d keys", g->head.keys.n);
    CHECK(grid_field(&g->head, "uz") == 3 && grid_field(&g->head, "rho") < 0, "fields");
    enum err err = grid_text(g, false, &text, &n);
    CHECK(err == OK && n == strlen(h.namelist) && strcmp(text, h.namelist) == 0, "'%s'", text);
    mem_free(text);
    err = grid_text(g, true, &text, &n);
    CHECK(err == OK && !text && n == 0, "an empty text");
    grid_close(&g);
}

/* ---- digest ---- */

static void digest_with(const struct comm *c, const char *sub, uint64_t digest[2])
{
    struct grid *g = open_grid(sub);
    enum err err = grid_digest(g, c, digest);
    CHECK(err == OK, "%s", err_message());
    grid_close(&g);
}

static void test_digest(void)
{
    uint64_t one[2], many[2], other[2];
    char dir[600];
    struct grid_head h = head_of(20, 9, 13);
    snprintf(dir, sizeof dir, "%s/other", home);
    digest_with(&alone, "one", one);
    digest_with(&all, "many", many);
    CHECK(memcmp(one, many, sizeof one) == 0, "the digest depends on ranks");
    for (int k = 0; k < 5; k++) { /* outputs to come do not count, all else does */
        struct grid_head q = h;
        if (k == 0) grid_set(&q, "next_tout", 0.5);
        if (k == 1) grid_set(&q, "gamma", 1.4);
        if (k == 2) q.t = nextafter(q.t, 1);
        if (k == 3) snprintf(q.field[5], GRID_NAME, "az");
        double other_state[3] = {1.5, -2, 4};
        if (k == 4) q.state = other_state;
        enum err err = write_grid(&all, dir, &q, (int[3]){1, 1, all.size});
        CHECK(err == OK, "%s", err_message());
        digest_with(&all, "other", other);
        CHECK((memcmp(one, other, sizeof one) == 0) == (k == 0), "change %d", k);
        comm_barrier(&all);
    }
}

/* ---- damage ---- */

static void store(const char *p, size_t n)
{
    char dir[700], path[800];
    int fd;
    snprintf(dir, sizeof dir, "%s/bad/output_00007", home);
    snprintf(path, sizeof path, "%s/stencil_00007.h5", dir);
    unlink(path);
    enum err err = dir_make(dir);
    if (err == OK) err = file_create(path, &fd);
    if (err == OK) err = file_write_at(fd, path, p, n, 0);
    if (err == OK) close(fd);
    CHECK(err == OK, "%s", err_message());
}

/* Reads everything of a damaged file; OK: nothing was found. */
static enum err read_all(void)
{
    char path[700], *text = NULL;
    struct grid *g;
    size_t n;
    snprintf(path, sizeof path, "%s/bad/output_00007", home);
    TRY(grid_open(path, &g));
    enum err err = grid_text(g, false, &text, &n);
    mem_free(text);
    const int64_t *mesh = g->head.n, first[3] = {0}, stride[3] = {1, mesh[0], mesh[0] * mesh[1]};
    double *to = mem_new(8 * (size_t)(mesh[0] * mesh[1] * mesh[2]), "test");
    for (int f = 0; err == OK && f < g->head.nfield; f++)
        err = grid_read(g, f, first, mesh, to, stride);
    FREE(to);
    grid_close(&g);
    return err;
}

/* Every flipped bit in the values and every lost end is found. Bits of the header may be padding;
 * whatever they are, reading ends. */
static void test_damage(void)
{
    char dir[600];
    size_t n;
    int silent = 0, mute = 0;
    snprintf(dir, sizeof dir, "%s/one", home);
    char *p = load(dir, &n);
    uint64_t state = 7;
    store(p, n);
    CHECK(read_all() == OK, "%s", err_message());
    for (int k = 0; k < 400; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t at = (state >> 20) % n;
        p[at] ^= (char)(1 << (state >> 10 & 7));
        store(p, n);
        enum err err = read_all();
        mute += err != OK && !strstr(err_message(), "stencil_00007.h5");
        silent += err == OK;
        p[at] ^= (char)(1 << (state >> 10 & 7));
    }
    CHECK(mute == 0, "%d messages do not name the file", mute);
    printf("of 400 flipped bits %d changed nothing that is read\n", silent);
    for (size_t k = 1; k < 40; k++) {
        store(p, n * k / 40);
        CHECK(read_all() != OK, "%zu of %zu bytes are accepted", n * k / 40, n);
    }
    FREE(p);
}

static void test_not_finite(void)
{
    struct grid_head h = head_of(20, 9, 13);
    struct field_store s = make_store(&alone, h.n, (int[3]){1, 1, 1});
    struct out_pending out = {.lock = -1};
    char dir[600];
    snprintf(dir, sizeof dir, "%s/bad", home);
    s.field[2][s.b.start + 3 + 4 * s.b.stride[1] + 5 * s.b.stride[2]] = NAN;
    enum err err = grid_write(dir, 7, &h, &s.b, s.field, &out);
    if (err == OK) err = out_publish(&out, &alone);
    CHECK(err == OK, "%s", err_message());
    CHECK_FAILS(read_all(), "data/7/fields/u/y is not a number in cell 3 4 5");
    free_store(&s);
}

static void test_refusals(void)
{
    struct grid_head h = head_of(8, 8, 8);
    const int one[3] = {1, 1, all.size};
    char dir[600];
    struct grid *g;
    snprintf(dir, sizeof dir, "%s/many", home);
    h.overwrite = false;
    CHECK_FAILS(write_grid(&all, dir, &h, one), "exists already");
    h.overwrite = true;
    snprintf(h.field[1], GRID_NAME, "lnrho");
    CHECK_FAILS(write_grid(&all, dir, &h, one), "two of the fields have the name lnrho");
    CHECK_FAILS(grid_open(home, &g), "has no stencil_NNNNN.h5");
    CHECK(!grid_is(home) && !grid_is("/nowhere"), "grid_is");
}

static void make_home(void)
{
    const char *tmp = getenv("TMPDIR");
    if (all.rank == 0) {
        snprintf(home, sizeof home, "%.200s/grid_test.XXXXXX", tmp ? tmp : "/tmp");
        char *made = mkdtemp(home);
        CHECK(made != NULL, "no folder");
    }
    comm_bcast(&all, home, sizeof home, 0);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &all);
    make_home();
    test_divisions(300, 70, 45); /* seven blocks and a part of one */
    test_boxes(300, 70, 45);
    comm_barrier(&all);
    test_divisions(20, 9, 13);
    test_boxes(20, 9, 13);
    test_head();
    test_digest();
    test_refusals();
    if (all.rank == 0) {
        test_damage();
        test_not_finite();
        CHECK(grid_is(home) == false, "a directory of checkpoints is none");
        char cmd[600];
        snprintf(cmd, sizeof cmd, "rm -rf '%s'", home);
        CHECK(system(cmd) == 0, "rm");
    }
    int64_t bad = failed;
    comm_add_i64(&all, &bad, 1);
    if (all.rank == 0) printf("%d passed, %ld failed\n", passed, (long)bad);
    comm_fini();
    return bad > 0;
}
