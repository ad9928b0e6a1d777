/* Laws of lib/ckpt: checkpoints are read back as written, on any number of ranks, with one digest;
 * wrong files are refused.
 *
 * The fields are noise, a function of field, level, key and cell; each value that comes back is
 * compared with it. Each check says which fault it catches. Last line: N passed, N failed. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/manifest.h"
#include "ckpt_world.h"
#include "io/dir.h"
#include "io/file.h"
#include "io/fortran.h"
#include "io/zip.h"
#include "oct/transpose.h"

static enum err write_world(struct world *w, int number, char *path, size_t n)
{
    return world_write(w, &ramses_writer, number, path, n);
}

/* ---- links: data that RAMSES needs for a restart ---- */

struct links {
    int32_t ngrid, ngridmax, ncpu, nlevel;
    int32_t *level, *owner, *father, *nbor[6], *son[8], *map[8], *flag[8];
    double *x[3];
    int64_t wrong;
};

static void links_column(struct fort_in *f, const int32_t *index, int32_t n, int32_t *column,
                         struct links *k)
{
    int32_t *v = mem_new(4 * (size_t)n, "test");
    if (fort_get(f, "column", 4, v, (size_t)n) != OK) k->wrong++;
    for (int32_t i = 0; i < n; i++) column[index[i]] = v[i];
    FREE(v);
}

static void links_block(struct fort_in *f, int level, int owner, int32_t first, int32_t n,
                        struct links *k)
{
    int32_t *index = mem_new(12 * (size_t)n, "test"), *next = index + n, *prev = next + n;
    double *x = mem_new(8 * (size_t)n, "test");
    if (fort_get(f, "index", 4, index, (size_t)n) != OK ||
        fort_get(f, "next", 4, next, (size_t)n) != OK ||
        fort_get(f, "prev", 4, prev, (size_t)n) != OK)
        k->wrong++;
    for (int32_t i = 0; i < n; i++) {
        k->wrong += index[i] != first + i || next[i] != (i < n - 1 ? index[i] + 1 : 0) ||
                    prev[i] != (i > 0 ? index[i] - 1 : 0);
        index[i] = first + i;
        k->level[index[i]] = level, k->owner[index[i]] = owner;
    }
    for (int d = 0; d < 3; d++) {
        if (fort_get(f, "xg", 8, x, (size_t)n) != OK) k->wrong++;
        for (int32_t i = 0; i < n; i++) k->x[d][index[i]] = x[i];
    }
    links_column(f, index, n, k->father, k);
    for (int c = 0; c < 6; c++) links_column(f, index, n, k->nbor[c], k);
    for (int c = 0; c < 8; c++) links_column(f, index, n, k->son[c], k);
    for (int c = 0; c < 8; c++) links_column(f, index, n, k->map[c], k);
    for (int c = 0; c < 8; c++) links_column(f, index, n, k->flag[c], k);
    FREE(x);
    FREE(index);
}

/* Whether `cell` is the one of size 2^-level centred at x (periodic). */
static bool is_cell(const struct links *k, int32_t cell, int level, const double x[3])
{
    int32_t c = (cell - 2) / k->ngridmax, oct = cell - 1 - c * k->ngridmax;
    if (cell < 2 || c > 7 || oct < 1 || oct > k->ngrid || k->level[oct] != level) return false;
    for (int d = 0; d < 3; d++) {
        double s = k->x[d][oct] + ((c >> d & 1) - 0.5) * ldexp(1, -level) - x[d];
        if (s - rint(s) != 0) return false;
    }
    return true;
}

static void links_check(struct links *k, int me)
{
    for (int32_t i = 1; i <= k->ngrid; i++) {
        int l = k->level[i];
        double x[3] = {k->x[0][i], k->x[1][i], k->x[2][i]};
        for (int c = 0; c < 8; c++) {
            int32_t son = k->son[c][i];
            k->wrong += k->map[c][i] < 1 || k->map[c][i] > k->ncpu;
            k->wrong += son && (son > k->ngrid || k->father[son] != 1 + c * k->ngridmax + i ||
                                k->flag[c][i] != 1);
            k->wrong += son && son <= k->ngrid && k->owner[son] != k->map[c][i];
        }
        if (l == 1) continue;
        k->wrong += !is_cell(k, k->father[i], l - 1, x);
        for (int face = 0; face < 6; face++) {
            double y[3] = {x[0], x[1], x[2]};
            y[face / 2] += (face & 1 ? 1 : -1) * ldexp(1, 1 - l);
            int32_t cell = k->nbor[face][i];
            k->wrong += cell || k->owner[i] == me ? !is_cell(k, cell, l - 1, y) : 0;
        }
    }
}

static void links_read(struct fort_in *f, struct links *k)
{
    int32_t head[8] = {0}, *count = NULL;
    /* ncpu ndim nx,ny,nz nlevelmax ngridmax nboundary ngrid_current */
    for (int i = 0; i < 7; i++) {
        int32_t v[3] = {0};
        if (fort_get(f, "head", 4, v, i == 2 ? 3 : 1) != OK) k->wrong++;
        head[i] = v[0];
    }
    k->ncpu = head[0], k->nlevel = head[3], k->ngridmax = head[4], k->ngrid = head[6];
    size_t n = (size_t)k->ngrid + 1, lists = (size_t)k->ncpu * (size_t)k->nlevel;
    int32_t **column[] = {&k->level, &k->owner, &k->father};
    for (int i = 0; i < 3; i++) *column[i] = mem_zero(4 * n, "test");
    for (int i = 0; i < 6; i++) k->nbor[i] = mem_zero(4 * n, "test");
    for (int i = 0; i < 8; i++)
        k->son[i] = mem_zero(4 * n, "test"), k->map[i] = mem_zero(4 * n, "test"),
        k->flag[i] = mem_zero(4 * n, "test");
    for (int i = 0; i < 3; i++) k->x[i] = mem_zero(8 * n, "test");
    count = mem_zero(4 * lists, "test");
    if (fort_skip(f, "state", 14) != OK || fort_get(f, "numbl", 4, count, lists) != OK ||
        fort_skip(f, "domains", 7) != OK)
        k->wrong++;
    int32_t first = 1;
    for (int l = 1; l <= k->nlevel; l++)
        for (int r = 1; r <= k->ncpu; r++) {
            int32_t c = count[(l - 1) * k->ncpu + r - 1];
            if (c && first + c <= k->ngrid + 1) links_block(f, l, r, first, c, k);
            first += c;
        }
    k->wrong += first != k->ngrid + 1 || fort_at_end(f) != OK;
    FREE(count);
}

/* Catches: a wrong number, father, neighbour, child or owner, in own octs and in ghosts. */
static void test_links(const struct comm *c, const char *directory, int number)
{
    struct links k = {0};
    struct fort_in f;
    char path[320];
    snprintf(path, sizeof path, "%s/amr_%05d.out%05d", directory, number, c->rank + 1);
    k.wrong = fort_open(&f, path) != OK;
    if (!k.wrong) links_read(&f, &k);
    if (!k.wrong) links_check(&k, c->rank + 1);
    fort_shut(&f);
    check_on(c, k.wrong == 0 && k.ngrid > 0, "all links of all files are right");
    FREE(k.level);
    FREE(k.owner);
    FREE(k.father);
    for (int i = 0; i < 6; i++) FREE(k.nbor[i]);
    for (int i = 0; i < 8; i++) {
        FREE(k.son[i]);
        FREE(k.map[i]);
        FREE(k.flag[i]);
    }
    for (int i = 0; i < 3; i++) FREE(k.x[i]);
}

/* ---- tests ---- */

/* Catches: a wrong link, owner, order, record or variable; anything that depends on the number of
 * ranks. */
static void test_round_trip(void)
{
    struct world w, one;
    char path[256], single[256];
    struct seen s;
    struct digest many_digest, one_digest;
    world_new(&w, all, false);
    int64_t octs = 0;
    for (int l = 1; l <= LMAX; l++) octs += w.m.lev[l].total;
    check(write_world(&w, 1, path, sizeof path) == OK, "a checkpoint is written by all ranks");
    check(!file_exists("output_00001.tmp"), "no temporary directory is left");
    check(see(path, &s) == OK, "and read");
    check(s.cells == 8 * octs && s.wrong == 0 && s.split_wrong == 0,
          "every cell once, with its values and its refinement");
    check(s.parts == NPART && s.parts_wrong == 0, "every particle once, with its values");
    test_links(&all, path, 1);
    if (all.rank == 0) {
        world_new(&one, alone, false);
        check_on(&alone, write_world(&one, 2, single, sizeof single) == OK,
                 "a checkpoint is written by one rank");
        enum err a = digest_of(path, &many_digest), b = digest_of(single, &one_digest);
        check_on(&alone, a == OK && b == OK && same_digest(&many_digest, &one_digest),
                 "one digest for any number of ranks");
        world_free(&one);
    }
    check(write_world(&w, 1, path, sizeof path) == ERR_FILE,
          "an existing checkpoint is not overwritten");
    w.h.overwrite = true;
    if (w.p.n) w.p.x[0][0] = BOX + 0.5, w.p.x[1][0] = -0.25;
    check(write_world(&w, 1, path, sizeof path) == OK && see(path, &s) == OK,
          "unless this is asked for");
    check(s.parts_wrong == 2 * all.size && !file_exists("output_00001.tmp"),
          "then the new one stands there");
    check(s.parts_outside == 0, "with positions wrapped into the box");
    world_free(&w);
}

/* Catches: a digest blind to order of cells, sign of zero, single bits, or to one of its lines. */
static void test_digest_sees(void)
{
    struct world w;
    char path[256];
    struct digest d[6];
    enum err err = OK;
    world_new(&w, alone, false);
    w.h.overwrite = true;
    struct level *lv = &w.m.lev[LMAX];
    for (int k = 0; k < 6; k++) {
        double(*rho)[8] = lv->fld[FLD_U], (*fx)[8] = lv->fld[FLD_FX], swap;
        if (k == 1) rho[3][5] = nextafter(rho[3][5], 9);
        if (k == 2) swap = fx[0][1], fx[0][1] = fx[0][2], fx[0][2] = swap;
        if (k == 3) fx[2][0] = -0.0;
        if (k == 4) fx[2][0] = 0.0;
        if (k == 5) swap = w.p.v[1][8], w.p.v[1][8] = w.p.v[1][9], w.p.v[1][9] = swap;
        if (err == OK) err = write_world(&w, 3, path, sizeof path);
        if (err == OK) err = digest_of(path, &d[k]);
    }
    bool differ = err == OK;
    for (int k = 1; differ && k < 6; k++) differ = d[k].state != d[k - 1].state;
    check_on(&alone, differ,
             "the digest sees a bit, a swap of cells or particles, and the sign of zero");
    w.h.ngridmax = 100000;
    w.h.provenance = "elsewhere";
    for (lidx i = 0; i < lv->nown; i++) lv->flag[i][1] ^= 1;
    for (int64_t i = 0; i < w.p.n / 2; i++) { /* other order of particles */
        int64_t j = w.p.n - 1 - i, id = w.p.id[i];
        for (int k = 0; k < 3; k++) {
            double x = w.p.x[k][i], v = w.p.v[k][i];
            w.p.x[k][i] = w.p.x[k][j], w.p.x[k][j] = x;
            w.p.v[k][i] = w.p.v[k][j], w.p.v[k][j] = v;
        }
        w.p.id[i] = w.p.id[j], w.p.id[j] = id;
    }
    err = write_world(&w, 3, path, sizeof path);
    if (err == OK) err = digest_of(path, &d[0]);
    bool positions = err == OK;
    for (int i = 0; positions && i < d[0].n; i++)
        if (strncmp(d[0].line[i].name, "particle", 8) != 0)
            positions = d[0].line[i].hash == d[5].line[i].hash;
    check_on(&alone, positions, "and neither array sizes nor flags nor provenance");
    world_free(&w);
}

/* Catches: ids written in four bytes that do not fit, or in eight although they fit in four. */
static void test_id_width(void)
{
    static const int64_t last[] = {INT32_MAX, INT32_MAX + (int64_t)1, UINT32_MAX};
    struct world w;
    bool same = true;
    int64_t bytes[3] = {0};
    world_new(&w, alone, false);
    w.h.overwrite = true;
    for (int k = 0; k < 3; k++) {
        char path[256];
        struct seen s;
        struct stat st = {0};
        w.p.id[7] = last[k];
        same = same && write_world(&w, 3, path, sizeof path) == OK && see(path, &s) == OK &&
               s.last_id == last[k] && stat("output_00003/part_00003.out00001", &st) == 0;
        bytes[k] = st.st_size;
    }
    check_on(&alone, same, "ids beside 2^31 and 2^32 are read back");
    check_on(&alone, bytes[1] == bytes[0] + 4 * NPART && bytes[2] == bytes[1],
             "ids take eight bytes where four are too few");
    world_free(&w);
}

static void count_twice(const struct damage *d, void *ctx)
{
    *(int *)ctx += strstr(d->what, "occurs twice") != NULL;
}

/* Catches: ids that differ only in their highest bits, or in their family, taken for equal by the
 * check. */
static void test_check_ids(void)
{
    struct world w;
    int twice[4] = {0};
    world_new(&w, alone, false);
    w.h.overwrite = true;
    for (int k = 0; k < 4; k++) {
        char path[256];
        struct check_found found;
        struct check_how how = {CHECK_ALL, 1 << 20, count_twice, &twice[k]};
        w.p.family[7] = k == 2 ? FAM_STAR : FAM_DM, w.p.family[8] = FAM_DM;
        w.p.id[7] = w.p.id[8] + (k == 0 ? (int64_t)1 << 60 : k == 1 ? (int64_t)1 << 32 : 0);
        check_on(&alone,
                 write_world(&w, 3, path, sizeof path) == OK &&
                     ckpt_check(path, &how, &found) == OK,
                 "a checkpoint is checked");
    }
    check_on(&alone, !twice[0] && !twice[1], "ids that differ in one high bit are different");
    check_on(&alone, !twice[2] && twice[3] == 1, "an id may occur once in each family");
    world_free(&w);
}

/* Catches: a link that ends at a boundary. Bounded boxes are written as periodic ones, so all links
 * of a single rank exist. */
static void test_bounded(void)
{
    struct world w;
    char path[256];
    struct seen s;
    world_new(&w, alone, true);
    w.h.overwrite = true;
    check_on(&alone, write_world(&w, 3, path, sizeof path) == OK && see(path, &s) == OK,
             "a box with boundaries is written");
    test_links(&alone, path, 3);
    world_free(&w);
}

/* Catches: an error that stays on one rank, a leftover directory, an old checkpoint lost. */
static void test_full_disk(void)
{
    struct world w;
    char path[256];
    struct seen s;
    struct rlimit old, low;
    static const rlim_t limit[] = {0, 1000, 40000, 300000};
    world_new(&w, all, false);
    bool ok = write_world(&w, 4, path, sizeof path) == OK;
    w.h.overwrite = true;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    for (int k = 0; k < 4; k++) {
        low = old;
        low.rlim_cur = limit[k];
        if (all.rank == all.size - 1) setrlimit(RLIMIT_FSIZE, &low);
        enum err err = write_world(&w, 4, path, sizeof path);
        setrlimit(RLIMIT_FSIZE, &old);
        ok = ok && err == ERR_FILE && strstr(err_message(), "output_00004.tmp/");
    }
    check(ok, "a full disk is an error on all ranks that names the file");
    check(!file_exists("output_00004.tmp") && see(path, &s) == OK && s.wrong == 0,
          "nothing is left of it, the old one stands");
    world_free(&w);
}

static bool copy_part(const char *from, const char *to, int64_t keep)
{
    char *text;
    size_t n;
    if (file_load(from, (size_t)1 << 30, &text, &n) != OK) return false;
    int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    bool ok = fd >= 0 && file_write_at(fd, to, text, keep < 0 ? n : (size_t)keep, 0) == OK &&
              file_close_synced(fd, to) == OK;
    FREE(text);
    return ok;
}

/* Catches: an unchecked count, a record whose end is not checked. */
static void test_cut_files(void)
{
    static const char *const kind[] = {"amr", "hydro", "grav", "part"};
    bool refused = true;
    for (int k = 0; k < 4; k++) {
        char path[64];
        struct stat st;
        struct seen s;
        snprintf(path, sizeof path, "output_00002/%s_00002.out00001", kind[k]);
        if (stat(path, &st) != 0 || !copy_part(path, "whole", -1)) refused = false;
        for (int cut = 1; refused && cut < 20; cut++) {
            int64_t keep = (int64_t)(st.st_size * (1 - pow(0.5, cut)));
            refused = copy_part("whole", path, keep) && see("output_00002", &s) == ERR_FORMAT &&
                      strstr(err_message(), path);
        }
        if (!copy_part("whole", path, -1)) refused = false;
        FILE *f = fopen(path, "ab");
        if (!f || fwrite("\0\0\0\0\0\0\0\0", 8, 1, f) != 1 || fclose(f) != 0) refused = false;
        refused = refused && see("output_00002", &s) == ERR_FORMAT && strstr(err_message(), path);
        if (!copy_part("whole", path, -1)) refused = false;
        refused = refused && see("output_00002", &s) == OK;
    }
    check_on(&alone, refused, "files cut anywhere, or too long, are refused, by name");
}

/* Catches: a wrong sign or length of a sub-record. The expected layout of 25 bytes in pieces of 10
 * is written out. */
static void test_subrecords(void)
{
    static const int32_t expect[] = {-10, 10, -10, -10, 5, -5};
    struct fort_out f;
    struct fort_in in;
    char data[25], back[25] = {0};
    for (int i = 0; i < 25; i++) data[i] = (char)(3 * i + 1);
    unlink("sub");
    fort_create(&f, "sub", NULL, NULL);
    f.sub_max = 10;
    fort_begin(&f, 25);
    for (int i = 0; i < 25; i += 5) fort_put(&f, data + i, 5);
    fort_end(&f);
    fort_i4(&f, 77);
    bool ok = fort_close(&f) == OK && fort_open(&in, "sub") == OK;
    int32_t x = 0;
    ok = ok && fort_get(&in, "pieces", 1, back, 25) == OK && fort_get_i4(&in, "number", &x) == OK &&
         fort_at_end(&in) == OK;
    check_on(&alone, ok && x == 77 && memcmp(data, back, 25) == 0,
             "a record in sub-records is read back");
    fort_shut(&in);
    ok = true;
    FILE *raw = fopen("sub", "rb");
    for (int i = 0; i < 3; i++) {
        int32_t head, tail, n = i < 2 ? 10 : 5;
        ok = ok && fread(&head, 4, 1, raw) == 1 && fseek(raw, n, SEEK_CUR) == 0 &&
             fread(&tail, 4, 1, raw) == 1;
        ok = ok && head == expect[2 * i] && tail == expect[2 * i + 1];
    }
    fclose(raw);
    check_on(&alone, ok, "and has gfortran's lengths");
}

static void fill_count(const void *ctx, int64_t first, int64_t n, char *rows, size_t stride)
{
    for (int r = 0; r < 100; r++)
        for (int64_t i = 0; i < n; i++)
            ((double *)(rows + (size_t)r * stride))[i] = (double)(r * 100000 + first + i);
}

/* Catches: a piece at the wrong offset when records are longer than the scratch; a scratch that is
 * refilled before it is written. */
static void test_table(bool beside)
{
    static double back[50000];
    struct fort_out f;
    struct fort_in in;
    bool ok = true;
    unlink("table");
    fort_create(&f, "table", NULL, NULL);
    f.beside = beside;
    fort_i4(&f, 1);
    fort_table(&f, 100, sizeof(double), 50000, fill_count, NULL);
    fort_table(&f, 100, sizeof(double), 3, fill_count, NULL);
    fort_i4(&f, 2);
    ok = fort_close(&f) == OK && fort_open(&in, "table") == OK && fort_skip(&in, "1", 1) == OK;
    for (int t = 0; t < 2; t++)
        for (int r = 0; ok && r < 100; r++) {
            size_t n = t ? 3 : 50000;
            ok = fort_get(&in, "row", (int)sizeof *back, back, n) == OK;
            for (size_t i = 0; ok && i < n; i++) ok = back[i] == (double)(r * 100000) + (double)i;
        }
    ok = ok && fort_skip(&in, "2", 1) == OK && fort_at_end(&in) == OK;
    check_on(&alone, ok, "tables in one piece and in many");
    fort_shut(&in);
}

static enum err fail_fourth(void *ctx)
{
    int64_t *done = ctx;
    usleep(1000);
    if (++*done == 4) FAIL(ERR_FILE, "the fourth of them");
    return OK;
}

/* Catches: a lost error of an asynchronous job; a job begun before the previous one has ended, or
 * after an error. */
static void test_async(void)
{
    struct async a = {0};
    int64_t done = 0;
    bool ok = async_wait(&a) == OK;
    for (int k = 0; k < 7; k++) {
        enum err err = async_begin(&a, fail_fourth, &done);
        ok = ok && err == (k < 4 ? OK : ERR_FILE);
    }
    ok = ok && async_wait(&a) == ERR_FILE && strcmp(err_message(), "the fourth of them") == 0;
    check_on(&alone, ok && done == 4, "jobs beside are done in turn, up to the first error");
    async_fini(&a);
    check_on(&alone, async_wait(&a) == OK, "and it can be used again");
}

enum { TOGETHER = 40, SOME_ROWS = 8192 }; /* records of "table" that threads read concurrently */

/* Reads elements at..at+n-1 of these records. */
static bool load_together(struct fort_in *in, const struct fort_rec *rec, int64_t at, size_t n)
{
    static double row[TOGETHER][SOME_ROWS];
    double *x[TOGETHER];
    for (int r = 0; r < TOGETHER; r++) x[r] = row[r];
    bool ok = fort_load_rows(in, TOGETHER, rec, 50000, at, n, x) == OK;
    for (int r = 0; r < TOGETHER; r++)
        for (size_t i = 0; ok && i < n; i++)
            ok = row[r][i] == (double)(r * 100000) + (double)at + (double)i;
    return ok;
}

/* Checksum of "table" from concurrent reads of some records, the others skipped. */
static bool sum_by_reading(uint64_t *sum)
{
    static double some[SOME_ROWS];
    struct fort_rec rec[100];
    struct fort_in in;
    bool ok = fort_open(&in, "table") == OK && fort_skip(&in, "small", 7) == OK;
    if (ok) fort_watch(&in);
    for (int r = 0; ok && r < 100; r++) ok = fort_next(&in, "row", &rec[r]) == OK;
    for (int64_t at = 0; ok && at < 50000; at += SOME_ROWS) {
        size_t n = 50000 - at < SOME_ROWS ? (size_t)(50000 - at) : SOME_ROWS;
        ok = load_together(&in, rec, at, n);
        for (int r = TOGETHER + 3; ok && r < 100; r++) /* some records are skipped */
            ok = fort_load(&in, &rec[r], sizeof *some, at, n, some) == OK;
    }
    ok = ok && fort_sum(&in, sum) == OK;
    fort_shut(&in);
    return ok;
}

/* Catches: a checksum that misses data written out of order; a listing that accepts anything. */
static void test_manifest(void)
{
    static const char *const wrong[] = {
        "",
        "ptah-checksums 1\n",
        "ptah-checksums 2\n0000000000000000 end\n",
        "ptah-checksums 1\n0123456789abcdef 12 ../x\n",
        "ptah-checksums 1\n0123456789abcdef 1234567890123456789012 x\n",
        "ptah-checksums 1\nbackup\n0123456789abcdef 12 x"};
    struct manifest list = {0}, got = {0}, *m = NULL;
    struct fort_out f;
    unlink("table");
    fort_create(&f, "./table", manifest_told, &list);
    f.beside = true;
    fort_table(&f, 7, 1, 3, fill_count, NULL);
    fort_table(&f, 100, sizeof(double), 50000, fill_count, NULL);
    bool ok = fort_close(&f) == OK && manifest_write(&list, &alone, ".", 3, NULL) == OK &&
              manifest_load(".", 3, &m) == OK;
    ok = ok && m->n == 1 && strcmp(m->row[0].name, "table") == 0 &&
         manifest_check_file(m, ".", "table") == OK;
    int64_t bytes = f.sum.bytes;
    check_on(&alone, ok && m->row[0].bytes == bytes, "a file's sum is made while it is written");
    uint64_t sum = 0;
    ok = ok && sum_by_reading(&sum) && manifest_check_sum(m, ".", "table", bytes, sum) == OK;
    ok = ok && manifest_check_sum(m, ".", "table", bytes - 1, sum) == ERR_FORMAT;
    check_on(&alone, ok, "and while it is read");
    FILE *t = fopen("table", "r+b");
    ok = ok && t && fseek(t, 22345678, SEEK_SET) == 0 && fputc('#', t) == '#';
    if (t) fclose(t);
    ok = ok && manifest_check_file(m, ".", "table") == ERR_FORMAT &&
         manifest_check_file(m, ".", "other") == ERR_FORMAT;
    ok = ok && sum_by_reading(&sum) &&
         manifest_check_sum(m, ".", "table", bytes, sum) == ERR_FORMAT;
    check_on(&alone, ok, "another byte is seen, and a file that is not listed");
    ok = manifest_load(".", 4, &m) == OK && !m;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ok = ok && manifest_parse("t", wrong[i], strlen(wrong[i]), &got) == ERR_FORMAT;
        manifest_fini(&got);
    }
    check_on(&alone, ok, "odd lists are refused");
    manifest_fini(&list);
}

/* Catches: octs beyond the last eight forgotten, a square transposed wrongly. */
static void test_turn(void)
{
    enum { MAX = 21, PITCH = 25, STEP = 3 };
    double column[8 * PITCH], back[8 * PITCH], row[STEP * MAX][8];
    const double *from[8];
    lidx which[MAX];
    bool ok = true;
    for (int i = 0; i < 8 * PITCH; i++) column[i] = i;
    for (int c = 0; c < 8; c++) from[c] = column + c * PITCH;
    for (int n = 0; n <= MAX; n++) {
        memset(row, 0, sizeof row);
        memset(back, 0, sizeof back);
        transpose_columns(from, 2, n, row, STEP);
        for (int i = 0; i < n; i++) which[i] = STEP * (n - 1 - i);
        transpose_rows((const double(*)[8])row, which, n, back, PITCH);
        for (int c = 0; c < 8; c++)
            for (int i = 0; i < MAX; i++) {
                ok = ok && row[STEP * i][c] == (i < n ? column[c * PITCH + 2 + i] : 0);
                ok = ok && back[c * PITCH + i] == (i < n ? column[c * PITCH + 2 + n - 1 - i] : 0);
            }
    }
    check_on(&alone, ok, "values turn from columns to rows and back");
}

/* CRC bit by bit. */
static uint32_t slow_crc(uint32_t crc, const unsigned char *p, size_t n)
{
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

/* Tests all lengths around the threshold of the fast method, at any alignment. */
static void test_crc(void)
{
    unsigned char p[1024];
    for (size_t i = 0; i < sizeof p; i++) p[i] = (unsigned char)(i * i * 7 + i / 3);
    bool same = zip_crc(0, "123456789", 9) == 0xcbf43926;
    for (size_t n = 0; n < 900; n += n < 300 ? 1 : 37)
        for (size_t at = 0; at < 3; at++)
            same &= zip_crc((uint32_t)n, p + at, n) == slow_crc((uint32_t)n, p + at, n);
    check_on(&alone, same, "the checksum is zlib's");
}

static void remove_all(void)
{
    for (int i = 1; i <= 4; i++) {
        char path[32];
        snprintf(path, sizeof path, "output_%05d", i);
        if (dir_remove(path) != OK) printf("%s\n", err_message());
    }
    unlink("sub"), unlink("table"), unlink("whole");
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &all);
    if (all.rank == 0) remove_all();
    comm_barrier(&all);
    test_round_trip();
    if (all.rank == 0) {
        test_digest_sees();
        test_id_width();
        test_check_ids();
        test_bounded();
        test_cut_files();
        test_subrecords();
        test_table(false);
        test_table(true);
        test_async();
        test_manifest();
        test_turn();
        test_crc();
    }
    comm_barrier(&all);
    test_full_disk();
    comm_barrier(&all);
    if (all.rank == 0 && argc == 1) remove_all();
    if (all.rank == 0) printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    comm_bcast(&all, &failed, sizeof failed, 0);
    comm_fini();
    return failed != 0;
}
