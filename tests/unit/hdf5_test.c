/* Laws of the HDF5 back end of lib/ckpt: one file, byte for byte, for any ranks and decomposition;
 * the state is read back as written, with the digest of the RAMSES files; damage is reported.
 * Comments on checks name the faults that they catch. Last line: N passed, N failed.
 *
 * Works in a folder in memory, if possible: on a busy disk the many fsync dominate the run time.
 * With an argument N, the program only flips N bits in each kind of file, instead of a few hundred.
 *
 * test: mpi=1,2,3 tier=check */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ckpt/source.h"
#include "ckpt_world.h"
#include "curamses/write.h"
#include "formats/formats.h"
#include "io/dir.h"
#include "io/file.h"
#include "out/order.h"

static enum err write_hdf5(struct world *w, int number, char *path, size_t n)
{
    w->h.provenance = "from here\n"; /* the only part of a file that may depend on ranks */
    return world_write(w, &hdf5_writer, number, path, n);
}

/* ---- order ---- */

struct row {
    uint64_t key, value;
};

static order_key row_key(const void *ctx, int64_t i)
{
    return ((const struct row *)ctx)[i].key;
}

static int row_compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Catches: a window of the wrong rows, a merge that loses or swaps rows, columns that do not follow
 * their keys. */
static void test_order_of(int64_t total, int64_t window, uint64_t keys)
{
    struct row *mine = mem_new(sizeof *mine * (size_t)total + 1, "test");
    int64_t n = 0, wrong = 0;
    uint64_t sum[2] = {0, 0};
    for (int64_t i = 0; i < total; i++) {
        struct row r = {keys ? rng_mix((uint64_t)i) % keys : rng_mix((uint64_t)i) >> 1,
                        (uint64_t)i};
        if ((int)(rng_mix((uint64_t)i + 77) % (uint64_t)all.size) == all.rank) mine[n++] = r;
        sum[0] += rng_mix(r.key + rng_mix(r.value));
    }
    qsort(mine, (size_t)n, sizeof *mine, row_compare);
    uint64_t *value = mem_new(sizeof *value * (size_t)n + 1, "test");
    for (int64_t i = 0; i < n; i++) value[i] = mine[i].value;
    struct order o;
    order_init(&o, &all, n, row_key, mine, 63, window);
    int64_t got = 0, edge = total ? (total - 1) / window * window : 0;
    for (int64_t round = 0; round < o.nround; round++) {
        order_round(&o, round);
        const uint64_t *v = order_move(&o, value + o.send, sizeof *value);
        for (int64_t i = 0; i < o.nrow; i++) {
            sum[1] += rng_mix((uint64_t)o.key[i] + rng_mix(v[i]));
            wrong += i > 0 && o.key[i] < o.key[i - 1];
            wrong += (keys ? rng_mix(v[i]) % keys : rng_mix(v[i]) >> 1) != o.key[i];
        }
        wrong += o.nrow && o.nrow != (o.first == edge ? total - edge : window);
        got += o.nrow;
    }
    order_fini(&o);
    comm_add_i64(&all, &got, 1);
    comm_add_i64(&all, (int64_t *)&sum[1], 1);
    check(wrong == 0 && got == total && sum[0] == sum[1],
          "rows come in order, each once, in full windows");
    FREE(value);
    FREE(mine);
}

static void test_order(void)
{
    test_order_of(0, 10, 0);
    test_order_of(1, 10, 0);
    test_order_of(1000, 10, 0);
    test_order_of(1003, 64, 0);
    test_order_of(1003, 7, 12); /* keys common to many rows */
    test_order_of(100, 9, 1);
}

/* ---- state ---- */

static enum err see_conserved(const struct source_octs *o, void *ctx)
{
    struct seen *s = ctx;
    for (int i = 0; i < o->n; i++)
        for (int c = 0; c < 8; c++) {
            s->cells++;
            for (int v = 0; v < NVAR; v++) {
                double x = cell_noise(v, o->level, o->key[i], c), u = v == 0   ? 0.1 + x
                                                                      : v == 4 ? 30 + x
                                                                               : x - 0.5;
                s->wrong += o->val[8 * v + c][i] != u;
            }
        }
    return OK;
}

static enum err see_source(const char *path, struct seen *s)
{
    struct source *r;
    *s = (struct seen){0};
    TRY(source_open_state(path, GAMMA, SMALLR, &r));
    s->wrong += !r->exact || !r->state;
    enum err err = OK;
    for (int k = 0; err == OK && k < r->npiece; k++)
        err = source_octs(r, k, SOURCE_STATE, see_conserved, s);
    source_close(&r);
    return err;
}

static bool same_file(const char *a, const char *b)
{
    char *text[2] = {NULL, NULL};
    size_t n[2];
    bool same = file_load(a, (size_t)1 << 30, &text[0], &n[0]) == OK &&
                file_load(b, (size_t)1 << 30, &text[1], &n[1]) == OK && n[0] == n[1] &&
                memcmp(text[0], text[1], n[0]) == 0;
    FREE(text[0]);
    FREE(text[1]);
    return same;
}

/* Refinement flags that contradict the octs, as between flagging and refinement. */
static void test_flags(struct world *w)
{
    struct level *lv = &w->m.lev[LMAX - 1];
    struct seen s;
    char path[256];
    int64_t turned = 0;
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k += 3) lv->flag[i][k] = !lv->flag[i][k], turned++;
    comm_add_i64(&w->c, &turned, 1);
    check(write_hdf5(w, 4, path, sizeof path) == OK && see(path, &s) == OK &&
              s.split_wrong == turned && turned > 0,
          "flags are kept, not made from the octs");
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k += 3) lv->flag[i][k] = !lv->flag[i][k];
}

/* Catches: a row at the wrong offset, dependence on ranks or domains, a variable that loses
 * bits. */
static void test_round_trip(enum domain_kind kind, bool isolated)
{
    struct world w, one;
    char path[256], single[256], binary[256];
    struct seen s;
    struct digest d[3];
    world_new_in(&w, all, isolated, kind);
    w.h.overwrite = true;
    int64_t octs = 0;
    for (int l = 1; l <= LMAX; l++) octs += w.m.lev[l].total;
    check(write_hdf5(&w, 1, path, sizeof path) == OK, "a checkpoint is written by all ranks");
    check(!file_exists("output_00001.tmp"), "no temporary directory is left");
    check(see(path, &s) == OK && s.cells == 8 * octs && s.wrong == 0 && s.split_wrong == 0,
          "every cell once, with its primitive values and its refinement");
    check(s.parts == NPART && s.parts_wrong == 0, "every particle once, with its values");
    check(see_source(path, &s) == OK && s.cells == 8 * octs && s.wrong == 0,
          "the state is that written, bit for bit");
    test_flags(&w);
    if (all.rank == 0) {
        world_new(&one, alone, isolated);
        one.h.overwrite = true;
        bool ok = write_hdf5(&one, 2, single, sizeof single) == OK;
        check_on(&alone,
                 ok && same_file("output_00001/data_00001.h5", "output_00002/data_00002.h5"),
                 "one file for any number of ranks");
        one.h.deflate = 1;
        ok = digest_of(single, &d[0]) == OK && write_hdf5(&one, 2, single, sizeof single) == OK &&
             digest_of(single, &d[1]) == OK;
        ok = ok && world_write(&one, &ramses_writer, 3, binary, sizeof binary) == OK &&
             digest_of(binary, &d[2]) == OK;
        check_on(&alone, ok && same_digest(&d[0], &d[2]), "one digest for both formats");
        check_on(&alone, ok && same_digest(&d[1], &d[2]), "and when it is deflated");
        world_free(&one);
    }
    comm_barrier(&all);
    w.h.deflate = 1;
    check(write_hdf5(&w, 1, path, sizeof path) == OK && see(path, &s) == OK && s.wrong == 0 &&
              s.parts_wrong == 0,
          "deflated by all ranks");
    check(all.rank > 0 || same_file("output_00001/data_00001.h5", "output_00002/data_00002.h5"),
          "and still one file");
    w.h.overwrite = false;
    check(write_hdf5(&w, 1, path, sizeof path) == ERR_FILE,
          "an existing checkpoint is not overwritten");
    world_free(&w);
}

/* Level 6 alone has four blocks, so that several ranks write. Catches: a window at the wrong
 * offset, a rank that fails alone. */
static void test_large(int deflate)
{
    enum { LEVEL = 6 };
    struct world w, one;
    char path[256];
    struct rlimit old, low;
    for (int k = 0; k < 2; k++) {
        struct world *x = k ? &one : &w;
        const bool bounded[6] = {false};
        world_new_in(x, k ? alone : all, false, DOMAIN_KSECTION);
        mesh_fini(&x->m);
        mesh_init(&x->m, LEVEL, LEVEL, NVAR, true, true, BOX, bounded);
        x->h.levelmin = LEVEL;
        x->h.overwrite = true;
        x->h.deflate = deflate;
        x->h.nvar = 5;
        x->h.gravity = false;
        if (k == 0 || all.rank == 0) {
            adapt_build(&x->m, &x->c, x->d);
            fill_mesh(&x->m);
        }
    }
    bool ok = write_hdf5(&w, 1, path, sizeof path) == OK;
    ok = ok && (all.rank > 0 || write_hdf5(&one, 2, path, sizeof path) == OK);
    check(ok && (all.rank > 0 ||
                 same_file("output_00001/data_00001.h5", "output_00002/data_00002.h5")),
          "many blocks are one file for any number of ranks");
    struct digest d;
    check(all.rank > 0 || digest_of("output_00001", &d) == OK,
          "and each of them fits its checksum");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    low = old;
    low.rlim_cur = 2000000;
    if (all.rank == (all.size > 1 && !deflate)) setrlimit(RLIMIT_FSIZE, &low);
    enum err err = write_hdf5(&w, 1, path, sizeof path);
    setrlimit(RLIMIT_FSIZE, &old);
    check(err == ERR_FILE && strstr(err_message(), "data_00001.h5"),
          "any rank's trouble is everybody's");
    world_free(&w);
    world_free(&one);
}

/* ---- errors ---- */

/* Catches: an error that stays on one rank, a leftover directory, an old checkpoint lost. */
static void test_full_disk(int deflate)
{
    struct world w;
    char path[256];
    struct seen s;
    struct rlimit old, low;
    static const rlim_t limit[] = {0, 40000, 1000000, 1000, 300000};
    world_new_in(&w, all, false, DOMAIN_KSECTION);
    w.h.overwrite = true;
    bool ok = write_hdf5(&w, 4, path, sizeof path) == OK;
    w.h.deflate = deflate;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    for (int k = 0; k < (deflate ? 2 : 5); k++)
        for (int who = 0; who<all.size; who += all.size> 1 ? all.size - 1 : 1) {
            low = old;
            low.rlim_cur = limit[k];
            if (all.rank == who) setrlimit(RLIMIT_FSIZE, &low);
            enum err err = write_hdf5(&w, 4, path, sizeof path);
            setrlimit(RLIMIT_FSIZE, &old);
            bool idle = who > 0 && err == OK; /* levels of one block are written by rank 0 */
            ok = ok && (idle || (err == ERR_FILE && strstr(err_message(), "output_00004.tmp/")));
        }
    check(ok, "a full disk is an error on all ranks that names the file");
    check(!file_exists("output_00004.tmp") && see(path, &s) == OK && s.wrong == 0,
          "nothing is left of it, the old one stands");
    world_free(&w);
}

/* A uniform world of 73 octs and few particles, whose file is half metadata. */
static bool write_small(int deflate, char *path, size_t n)
{
    enum { LEVEL = 3 };
    const bool bounded[6] = {false};
    struct world w;
    world_new(&w, alone, false);
    mesh_fini(&w.m);
    mesh_init(&w.m, LEVEL, LEVEL, NVAR, true, true, BOX, bounded);
    adapt_build(&w.m, &w.c, w.d);
    fill_mesh(&w.m);
    w.p.n = 100;
    w.h.levelmin = w.h.levelmax = LEVEL;
    w.h.deflate = deflate;
    w.h.overwrite = true;
    bool ok = write_hdf5(&w, 2, path, n) == OK;
    world_free(&w);
    return ok;
}

static bool poke(int fd, int64_t at, int bit)
{
    char c;
    if (pread(fd, &c, 1, at) != 1) return false;
    c ^= (char)(1 << bit);
    return pwrite(fd, &c, 1, at) == 1;
}

/* Catches: an unchecked extent, count or offset, a block or a header whose checksum is not
 * compared. */
static void test_damage(int deflate, int64_t flips)
{
    char path[256], file[300], *text;
    size_t n;
    struct digest before, after;
    bool ok = write_small(deflate, path, sizeof path) && digest_of(path, &before) == OK;
    snprintf(file, sizeof file, "%s/data_00002.h5", path);
    int fd = ok ? open(file, O_RDWR) : -1;
    if (fd < 0 || file_load(file, (size_t)1 << 30, &text, &n) != OK) {
        check_on(&alone, false, "a file to be damaged");
        return;
    }
    int64_t detected = 0, silent = 0;
    for (uint64_t k = 0; k < (uint64_t)flips; k++) {
        int64_t at = (int64_t)(rng_mix(2 * k) % n);
        int bit = (int)(rng_mix(2 * k + 1) % 8);
        silent += !poke(fd, at, bit);
        if (digest_of(path, &after) != OK)
            detected += strstr(err_message(), file) != NULL;
        else
            silent += !same_digest(&before, &after);
        silent += !poke(fd, at, bit);
    }
    if (flips > 1000)
        printf("%lld of %lld flips detected\n", (long long)detected, (long long)flips);
    check_on(&alone, detected > flips / 3 && silent == 0,
             "bits that flip are noticed or do no harm");
    for (uint64_t k = 0; ok && k < 50; k++) {
        int64_t cut = (int64_t)(k < 10 ? n - 1 - k : rng_mix(k) % n);
        ok = ftruncate(fd, cut) == 0 && digest_of(path, &after) == ERR_FORMAT &&
             strstr(err_message(), file) &&
             pwrite(fd, text + cut, n - (size_t)cut, cut) == (ssize_t)n - cut;
    }
    check_on(&alone, ok, "files cut anywhere are refused, by name");
    close(fd);
    FREE(text);
}

static void remove_all(void)
{
    for (int i = 1; i <= 4; i++) {
        char path[32];
        snprintf(path, sizeof path, "output_%05d", i);
        if (dir_remove(path) != OK) printf("%s\n", err_message());
    }
}

#ifdef PTAH_HDF5
static void go_to_memory(char dir[32])
{
    snprintf(dir, 32, "/dev/shm/ptah.XXXXXX");
    if (all.rank == 0 && !mkdtemp(dir)) dir[0] = 0;
    comm_bcast(&all, dir, 32, 0);
    BUG_ON(*dir && chdir(dir) != 0);
}

/* Catches: a number of the header that is missing in the file. einit to mass_sph are adjacent
 * members. */
static void test_head(void)
{
    struct world w;
    char path[256];
    struct source *s = NULL;
    enum { N = (offsetof(struct ckpt_head, unit_l) - offsetof(struct ckpt_head, einit)) / 8 };
    double want[N];
    world_new(&w, alone, false);
    w.h.overwrite = true;
    for (int i = 0; i < N; i++) want[i] = 0.5 + i;
    memcpy((char *)&w.h + offsetof(struct ckpt_head, einit), want, sizeof want);
    bool good = write_hdf5(&w, 1, path, sizeof path) == OK && source_open(path, &s) == OK;
    check_on(&alone,
             good && memcmp((char *)&s->head + offsetof(struct ckpt_head, einit), want,
                            sizeof want) == 0,
             "every real number of the header is read back");
    source_close(&s);
    world_free(&w);
}

static void test_all(void)
{
    test_order();
    if (all.rank == 0) test_head();
    comm_barrier(&all);
    test_round_trip(DOMAIN_HILBERT, false);
    test_round_trip(DOMAIN_KSECTION, true);
    test_large(0);
    test_large(1);
    for (int deflate = 0; deflate <= 1 && all.rank == 0; deflate++) test_damage(deflate, 160);
    comm_barrier(&all);
    test_full_disk(0);
    test_full_disk(1);
    comm_barrier(&all);
}

int main(int argc, char **argv)
{
    char dir[32];
    comm_init(&argc, &argv, &all);
    go_to_memory(dir);
    int64_t flips = argc > 1 ? strtoll(argv[1], NULL, 10) : 0;
    if (flips == 0) test_all();
    for (int deflate = 0; deflate <= 1 && flips && all.rank == 0; deflate++)
        test_damage(deflate, flips);
    if (all.rank == 0) remove_all();
    if (all.rank == 0 && *dir) rmdir(dir);
    if (all.rank == 0) printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    comm_bcast(&all, &failed, sizeof failed, 0);
    comm_fini();
    return failed != 0;
}
#else
/* Catches: a build without HDF5 that fails without a proper message. */
int main(int argc, char **argv)
{
    struct world w;
    char path[256];
    comm_init(&argc, &argv, &all);
    world_new_in(&w, all, false, DOMAIN_KSECTION);
    check(write_hdf5(&w, 1, path, sizeof path) == ERR_LIMIT &&
              strstr(err_message(), "without HDF5"),
          "it says what it lacks");
    world_free(&w);
    if (all.rank == 0) printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    comm_bcast(&all, &failed, sizeof failed, 0);
    comm_fini();
    return failed != 0;
}
#endif
