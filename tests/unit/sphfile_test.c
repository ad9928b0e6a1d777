/* Laws of checkpoints of smoothed particles (lib/sphfile): one file, byte for byte, for any ranks
 * and any order of the particles in memory; rows ascend by id and are read back as written; the
 * digest depends on values and physics alone; an id twice, damage and numbers that make no sense
 * are reported by a sentence with file and place. Last line: N passed, N failed.
 *
 * Examples of faults caught: a column in the order of another, a window that misses its last row,
 * an id at the boundary of two windows taken twice, sums of blocks at the wrong index.
 *
 * test: mpi=1,2,3 tier=quick */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "comm/comm.h"
#include "io/dir.h"
#include "io/file.h"
#include "sphfile/sphfile.h"

static struct comm all;
static const struct comm alone = {.size = 1};
static char home[512];

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

enum { BLOCK = 1 << 14 }; /* rows of a block of a large file */

static double SINK[6] = {1, 2, 3, 4, 5.5, -6};
static const char *const SINK_COLUMN[3] = {"mass", "x", "spin_x"};

/* ---- particles, by number: ids are neither contiguous nor positive only ---- */

static int64_t id_of(int64_t k)
{
    return 3 * k + (int64_t)(rng_mix((uint64_t)k) % 3) - 1000;
}

static double value_of(int64_t id, int column)
{
    const uint64_t h = rng_mix((uint64_t)id * 64 + (uint64_t)column);
    return (double)(int64_t)(h >> 11) / 1e15 + (column == SMOOTH_H_COLUMN ? 1e-3 : -4);
}

static int8_t type_of(int64_t id)
{
    return rng_mix((uint64_t)id) % 5 ? SMOOTH_GAS : SMOOTH_BOUNDARY;
}

static void put_particle(struct smooth *p, int64_t id)
{
    const int64_t i = p->n++;
    for (int c = 0; c < SMOOTH_COLUMNS; c++)
        if (smooth_row[c].type == 'd')
            ((double *)*smooth_at(p, (enum smooth_column)c))[i] = value_of(id, c);
    p->id[i] = id;
    p->type[i] = type_of(id);
}

/* Particles of this rank among n, in an order that depends on the seed; some ranks may have
 * none. */
static struct smooth make(const struct comm *c, int64_t n, uint64_t seed)
{
    struct smooth p = {0};
    smooth_reserve(&p, n + 1);
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = seed % 2 ? n - 1 - i : (i * 7919 + 13) % n;
        const uint64_t h = rng_mix((uint64_t)k * 977 + seed);
        const int owner = seed % 3 == 2 ? c->size - 1 : (int)(h % (uint64_t)c->size);
        if (owner == c->rank) put_particle(&p, id_of(k));
    }
    return p;
}

static struct sphfile_head head_of(void)
{
    struct sphfile_head h = {.t = 0.125,
                             .dt = 1e-3,
                             .it = 12345678901,
                             .nsink = 2,
                             .sink_width = 3,
                             .sink_column = SINK_COLUMN,
                             .sink = SINK,
                             .namelist = "&SPH_PARAMS\nkernel='M4'\n/\n",
                             .overwrite = true};
    const struct smooth_par par = {.kernel = SMOOTH_M6,
                                   .eta = 1,
                                   .mass = 0.5,
                                   .h_tol = 1e-6,
                                   .gamma = 5. / 3,
                                   .q = -0.25,
                                   .alpha_switch = SMOOTH_CONST,
                                   .alpha_max = 1,
                                   .beta = 2,
                                   .alpha_u = 1,
                                   .sigma = 0.1,
                                   .shock_heating = true};
    sphfile_set_par(&h, &par, (double[3]){-1, -2, -3}, (double[3]){2, 4, 6}, true);
    sphfile_set(&h, "next_tout", 0.25);
    return h;
}

static enum err write_particles(const struct comm *c, const char *dir, const struct sphfile_head *h,
                                const struct smooth *p)
{
    struct out_pending out = {.lock = -1};
    TRY(err_agree(c, c->rank == 0 ? dir_make(dir) : OK));
    TRY(sphfile_write(dir, 7, h, c, p, &out));
    return out_publish(&out, c);
}

/* ---- laws ---- */

static char *load(const char *dir, size_t *n)
{
    char path[700], *text = NULL;
    snprintf(path, sizeof path, "%s/output_00007/sph_00007.h5", dir);
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

static void test_ranks(int64_t n)
{
    const struct sphfile_head h = head_of();
    char one[600], many[600];
    snprintf(one, sizeof one, "%s/one", home);
    snprintf(many, sizeof many, "%s/many", home);
    if (all.rank == 0) {
        struct smooth p = make(&alone, n, 1);
        enum err err = write_particles(&alone, one, &h, &p);
        CHECK(err == OK, "%s", err_message());
        smooth_free(&p);
    }
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct smooth p = make(&all, n, seed);
        enum err err = write_particles(&all, many, &h, &p);
        CHECK(err == OK, "%s", err_message());
        if (all.rank == 0) same_files(one, many);
        comm_barrier(&all);
        smooth_free(&p);
    }
}

static struct sphfile *open_file(const char *sub)
{
    char path[700];
    struct sphfile *f = NULL;
    snprintf(path, sizeof path, "%s/%s/output_00007", home, sub);
    enum err err = sphfile_open(path, &f);
    CHECK(err == OK, "%s", err_message());
    return f;
}

static bool is_particle(const struct smooth *p, int64_t i, int64_t id)
{
    bool same = p->id[i] == id && p->type[i] == type_of(id);
    for (int c = 0; c < SMOOTH_COLUMNS; c++) {
        const double *x = *smooth_at((struct smooth *)p, (enum smooth_column)c);
        if (smooth_row[c].type == 'd' && smooth_row[c].keep == SMOOTH_STATE)
            same &= x[i] == value_of(id, c);
    }
    return same;
}

/* Rows at random, appended to what is there. */
static void test_rows(int64_t n)
{
    struct sphfile *f = open_file("one");
    struct rng r = rng_make(5, (uint64_t)all.rank, 0);
    int bad = 0;
    CHECK(f->head.n == n, "%ld particles", (long)f->head.n);
    for (int k = 0; k < 12; k++) {
        struct smooth p = {0};
        for (int part = 0; part < 2; part++) {
            const int64_t first = rng_word(&r) % n, most = k % 3 ? 100 : n,
                          m = rng_word(&r) % (1 + least_of(most, n - first)), had = p.n;
            enum err err = sphfile_read(f, first, m, &p);
            bad += err != OK || p.n != had + m;
            for (int64_t i = 0; i < m; i++) bad += !is_particle(&p, had + i, id_of(first + i));
        }
        smooth_free(&p);
    }
    CHECK(bad == 0, "%d rows differ", bad);
    sphfile_close(&f);
}

static void test_head(void)
{
    struct sphfile *f = open_file("many");
    const struct sphfile_head h = head_of(), *g = &f->head;
    struct smooth_par par;
    double lo[3], side[3], x;
    bool periodic;
    char *text;
    size_t n;
    CHECK(g->it == h.it && g->t == h.t && g->dt == h.dt && f->number == 7, "header");
    enum err err = sphfile_get_par(g, "x", &par, lo, side, &periodic);
    CHECK(err == OK, "%s", err_message());
    CHECK(par.kernel == SMOOTH_M6 && par.mass == 0.5 && par.alpha_switch == SMOOTH_CONST &&
              par.gamma == 5. / 3 && par.q == -0.25 && par.shock_heating && !par.pdv_heating &&
              !par.gravity && lo[1] == -2 && side[2] == 6 && periodic,
          "parameters");
    CHECK(sphfile_get(g, "next_tout", &x) && x == 0.25 && !sphfile_get(g, "none", &x), "keys");
    CHECK(g->nsink == 2 && g->sink_width == 3 && memcmp(g->sink, SINK, sizeof SINK) == 0 &&
              strcmp(g->sink_column[2], "spin_x") == 0,
          "sinks");
    err = sphfile_text(f, false, &text, &n);
    CHECK(err == OK && strcmp(text, h.namelist) == 0, "'%s'", text);
    mem_free(text);
    struct sphfile_head bad = *g;
    sphfile_set(&bad, "kernel", 0.5);
    CHECK_FAILS(sphfile_get_par(&bad, "x", &par, lo, side, &periodic),
                "kernel is 0.5, expected a whole number");
    sphfile_set(&bad, "kernel", 7);
    CHECK_FAILS(sphfile_get_par(&bad, "x", &par, lo, side, &periodic),
                "kernel is 7, expected 0 to 1");
    CHECK(sphfile_check_files(f) == OK, "%s", err_message());
    sphfile_close(&f);
}

static void test_small(void)
{
    const struct sphfile_head h = head_of();
    struct sphfile_head none = h;
    char dir[600];
    snprintf(dir, sizeof dir, "%s/small", home);
    none.nsink = 0;
    for (int64_t n = 0; n < 3; n++) {
        struct smooth p = make(&all, n, 0), got = {0};
        enum err err = write_particles(&all, dir, &none, &p);
        CHECK(err == OK, "%s", err_message());
        struct sphfile *f = open_file("small");
        err = sphfile_read(f, 0, n, &got);
        CHECK(err == OK && f->head.n == n && f->head.nsink == 0, "%s", err_message());
        for (int64_t i = 0; i < n; i++) CHECK(is_particle(&got, i, id_of(i)), "row %ld", (long)i);
        sphfile_close(&f);
        smooth_free(&p);
        smooth_free(&got);
        comm_barrier(&all);
    }
}

/* ---- ids ---- */

/* The second one is on another rank or on the same one, row is the first or the last of a
 * window. */
static void test_repeated(int64_t n, int64_t row)
{
    const struct sphfile_head h = head_of();
    struct smooth p = make(&all, n, 0);
    char dir[600], say[80];
    snprintf(dir, sizeof dir, "%s/twice", home);
    if (all.rank == (int)row % all.size) put_particle(&p, id_of(row));
    snprintf(say, sizeof say, "two particles have the id %ld", (long)id_of(row));
    CHECK_FAILS(write_particles(&all, dir, &h, &p), say);
    smooth_free(&p);
}

/* ---- digest ---- */

static void digest_with(const struct comm *c, const char *sub, uint64_t digest[2])
{
    struct sphfile *f = open_file(sub);
    enum err err = sphfile_digest(f, c, digest);
    CHECK(err == OK, "%s", err_message());
    sphfile_close(&f);
}

static void test_digest(int64_t n)
{
    uint64_t one[2], many[2], other[2];
    char dir[600];
    snprintf(dir, sizeof dir, "%s/other", home);
    digest_with(&alone, "one", one);
    digest_with(&all, "many", many);
    CHECK(memcmp(one, many, sizeof one) == 0, "the digest depends on ranks");
    for (int k = 0; k < 6; k++) { /* outputs to come do not count, all else does */
        struct sphfile_head h = head_of();
        struct smooth p = make(&all, n, 2);
        double sink[6];
        memcpy(sink, SINK, sizeof sink);
        if (k == 0) sphfile_set(&h, "next_tout", 0.5);
        if (k == 1) sphfile_set(&h, "gamma", 1.4);
        if (k == 2) h.t = nextafter(h.t, 1);
        if (k == 3) sink[5]++, h.sink = sink;
        if (k == 4 && p.n) p.type[p.n - 1] ^= 2;
        if (k == 5 && p.n) p.du[0] = nextafter(p.du[0], 1);
        enum err err = write_particles(&all, dir, &h, &p);
        CHECK(err == OK, "%s", err_message());
        digest_with(&all, "other", other);
        CHECK((memcmp(one, other, sizeof one) == 0) == (k == 0), "change %d", k);
        smooth_free(&p);
        comm_barrier(&all);
    }
}

/* ---- damage ---- */

static void store(const char *p, size_t n)
{
    char dir[700], path[800];
    int fd;
    snprintf(dir, sizeof dir, "%s/bad/output_00007", home);
    snprintf(path, sizeof path, "%s/sph_00007.h5", dir);
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
    struct sphfile *f;
    struct smooth p = {0};
    size_t n;
    snprintf(path, sizeof path, "%s/bad/output_00007", home);
    TRY(sphfile_open(path, &f));
    enum err err = sphfile_text(f, false, &text, &n);
    mem_free(text);
    if (err == OK) err = sphfile_read(f, 0, f->head.n, &p);
    sphfile_close(&f);
    smooth_free(&p);
    return err;
}

/* Every lost end is found, and flipped bits of the values; bits of the header may be padding. */
static void test_damage(void)
{
    const struct sphfile_head h = head_of();
    struct smooth few = make(&alone, 700, 0);
    char dir[600];
    size_t n;
    int silent = 0, mute = 0;
    snprintf(dir, sizeof dir, "%s/few", home);
    enum err err = write_particles(&alone, dir, &h, &few);
    CHECK(err == OK, "%s", err_message());
    char *p = load(dir, &n);
    struct rng r = rng_make(7, 0, 0);
    store(p, n);
    CHECK(read_all() == OK, "%s", err_message());
    for (int k = 0; k < 400; k++) {
        const size_t at = (size_t)rng_word(&r) % n;
        const int bit = 1 << (rng_word(&r) & 7);
        p[at] = (char)(p[at] ^ bit);
        store(p, n);
        err = read_all();
        mute += err != OK && !strstr(err_message(), "sph_00007.h5");
        silent += err == OK;
        p[at] = (char)(p[at] ^ bit);
    }
    CHECK(mute == 0, "%d messages do not name the file", mute);
    printf("of 400 flipped bits %d changed nothing that is read\n", silent);
    for (size_t k = 1; k < 40; k++) {
        store(p, n * k / 40);
        CHECK(read_all() != OK, "%zu of %zu bytes are accepted", n * k / 40, n);
    }
    FREE(p);
    smooth_free(&few);
}

static void test_values(void)
{
    static const char *const SAY[] = {
        "/particles/vy is nan in row 5 ", "/particles/h is 0 in row 5 ",
        "/particles/type is 2 in row 5 ", "/particles/u is inf in row 5 "};
    const struct sphfile_head h = head_of();
    char dir[600];
    snprintf(dir, sizeof dir, "%s/bad", home);
    for (int k = 0; k < 4; k++) {
        struct smooth p = {0};
        smooth_reserve(&p, 10);
        for (int64_t i = 0; i < 10; i++) put_particle(&p, i);
        if (k == 0) p.v[1][5] = NAN;
        if (k == 1) p.h[5] = 0;
        if (k == 2) p.type[5] = 2;
        if (k == 3) p.u[5] = INFINITY;
        enum err err = write_particles(&alone, dir, &h, &p);
        CHECK(err == OK, "%s", err_message());
        CHECK_FAILS(read_all(), SAY[k]);
        smooth_free(&p);
    }
}

static void test_refusals(void)
{
    struct sphfile_head h = head_of();
    struct smooth p = make(&all, 20, 0);
    struct sphfile *f;
    char dir[600];
    snprintf(dir, sizeof dir, "%s/many", home);
    h.overwrite = false;
    CHECK_FAILS(write_particles(&all, dir, &h, &p), "exists already");
    h.overwrite = true, h.t = NAN;
    CHECK_FAILS(write_particles(&all, dir, &h, &p), "t is nan");
    CHECK_FAILS(sphfile_open(home, &f), "has no sph_NNNNN.h5");
    CHECK(!sphfile_is(home) && !sphfile_is("/nowhere") && sphfile_is(dir) == false, "sphfile_is");
    smooth_free(&p);
}

static void make_home(void)
{
    const char *tmp = getenv("TMPDIR");
    if (all.rank == 0) {
        snprintf(home, sizeof home, "%.200s/sphfile_test.XXXXXX", tmp ? tmp : "/tmp");
        char *made = mkdtemp(home);
        CHECK(made != NULL, "no folder");
    }
    comm_bcast(&all, home, sizeof home, 0);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &all);
    make_home();
    const int64_t n = 10 * BLOCK + 7; /* ten blocks and a part of one: two windows of one rank */
    test_ranks(n);
    test_rows(n);
    comm_barrier(&all);
    test_ranks(1000);
    test_head();
    test_digest(1000);
    test_small();
    for (int64_t k = 0; k < 4; k++) test_repeated(1000, (int64_t[]){0, 5, 500, 999}[k]);
    test_repeated(n, (all.size == 1 ? 8 : 11 / all.size) * BLOCK - 1);
    test_refusals();
    if (all.rank == 0) {
        test_damage();
        test_values();
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
