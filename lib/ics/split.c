#include "ics/split.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { DIGITS = 5, PATH = 4096, BLOCKS_MAX = 99999 };

/* ---- names ---- */

/* DIR/dir_X of a field ic_X. */
static bool split_dir(const char *dir, const char *name, char path[PATH])
{
    return strncmp(name, "ic_", 3) == 0 && snprintf(path, PATH, "%s/dir_%s", dir, name + 3) < PATH;
}

static void block_name(const char *name, int number, char out[96])
{
    snprintf(out, 96, "%.63s.%05d", name, number);
}

static bool has_first(const char *dir, const char *name)
{
    char path[PATH], first[96];
    block_name(name, 1, first);
    return split_dir(dir, name, path) && grafic_exists(path, first);
}

bool ics_exists(const char *dir, const char *name)
{
    return grafic_exists(dir, name) || has_first(dir, name);
}

bool ics_is_split(const char *dir, const char *entry, char name[64])
{
    if (strncmp(entry, "dir_", 4) != 0 || strlen(entry) > 60) return false;
    snprintf(name, 64, "ic_%s", entry + 4);
    return has_first(dir, name);
}

/* Number of a block from its file name; 0: it is none. */
static int number_of(const char *entry, const char *name)
{
    const size_t n = strlen(name);
    if (strncmp(entry, name, n) != 0 || entry[n] != '.') return 0;
    const char *digits = entry + n + 1;
    const bool is = strlen(digits) == DIGITS && strspn(digits, "0123456789") == DIGITS;
    return is ? (int)strtol(digits, NULL, 10) : 0;
}

/* ---- headers ---- */

static enum err count_blocks(struct ics_file *f)
{
    DIR *d = opendir(f->whole.path);
    int last = 0;
    f->nblock = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        const int k = number_of(e->d_name, f->name);
        f->nblock += k > 0;
        last = k > last ? k : last;
    }
    if (d) closedir(d);
    if (f->nblock == 0) FAIL(ERR_FILE, "%s: has no %s.00001", f->whole.path, f->name);
    if (last > BLOCKS_MAX || f->nblock != last)
        FAIL(ERR_FILE,
             "%s: has %d files %s.NNNNN, but the last one has the number %d: some are "
             "missing",
             f->whole.path, f->nblock, f->name, last);
    return OK;
}

static enum err open_block(struct ics_file *f, int number, struct grafic *g)
{
    char name[96];
    block_name(f->name, number, name);
    return grafic_open(g, f->whole.path, name, f->cosmo);
}

/* Takes a block's header into that of the union. lo: its low corner in cells of the box. */
static enum err take_head(struct ics_file *f, const struct grafic *g, bool first, int64_t lo[3],
                          int64_t end[3])
{
    struct grafic_head *u = &f->whole.head;
    const struct grafic_head *h = &g->head;
    if (first) *u = *h;
    if (!grafic_near(h->dx, u->dx) || !grafic_near(h->astart, u->astart) ||
        !grafic_near(h->omega_m, u->omega_m) || !grafic_near(h->omega_l, u->omega_l) ||
        !grafic_near(h->h0, u->h0))
        FAIL(ERR_FORMAT,
             "%s: has other cells, another time or another cosmology than the first "
             "file of %s",
             g->path, f->whole.path);
    for (int d = 0; d < 3; d++) {
        const double off = h->off[d] / u->dx, cell = nearbyint(off);
        if (!(fabs(off - cell) < 0.1) || fabs(cell) > 1e6)
            FAIL(ERR_FORMAT, "%s: offset %.7g along %c is %.4f cells, not a whole number", g->path,
                 h->off[d], 'x' + d, off);
        lo[d] = (int64_t)cell;
        end[d] = lo[d] + h->n[d];
    }
    return OK;
}

static void grow(int64_t all[2][3], const int64_t lo[3], const int64_t end[3], bool first)
{
    for (int d = 0; d < 3; d++) {
        if (first || lo[d] < all[0][d]) all[0][d] = lo[d];
        if (first || end[d] > all[1][d]) all[1][d] = end[d];
    }
}

static enum err read_heads(struct ics_file *f)
{
    int64_t all[2][3], end[3] = {0};
    f->block = mem_zero(sizeof *f->block * (size_t)f->nblock, "ics blocks");
    for (int i = 0; i < f->nblock; i++) {
        struct ics_block *b = &f->block[i];
        struct grafic g;
        b->number = i + 1, b->slot = -1;
        TRY(open_block(f, b->number, &g));
        const enum err err = take_head(f, &g, i == 0, b->lo, end);
        if (i == 0) f->whole.width = g.width, f->whole.swap = g.swap;
        grafic_close(&g);
        TRY(err);
        for (int d = 0; d < 3; d++) b->n[d] = end[d] - b->lo[d];
        grow(all, b->lo, end, i == 0);
    }
    struct grafic_head *u = &f->whole.head;
    for (int d = 0; d < 3; d++) {
        for (int i = 0; i < f->nblock; i++) f->block[i].lo[d] -= all[0][d];
        if (all[1][d] - all[0][d] > 65536)
            FAIL(ERR_FORMAT, "%s: its blocks span %ld cells along %c", f->whole.path,
                 (long)(all[1][d] - all[0][d]), 'x' + d);
        u->n[d] = (int32_t)(all[1][d] - all[0][d]);
        u->off[d] = (double)all[0][d] * u->dx;
    }
    return OK;
}

static enum err open_split(struct ics_file *f, const char *dir, const char *name)
{
    f->whole.path = mem_new(PATH, "file names");
    f->whole.fd = -1;
    split_dir(dir, name, f->whole.path);
    snprintf(f->name, sizeof f->name, "%.63s", name);
    TRY(count_blocks(f));
    TRY(read_heads(f));
    f->open = mem_zero(sizeof *f->open * ICS_OPEN, "ics blocks");
    f->owner = mem_new(sizeof *f->owner * ICS_OPEN, "ics blocks");
    for (int s = 0; s < ICS_OPEN; s++) f->owner[s] = -1;
    return OK;
}

enum err ics_open(struct ics_file *f, const char *dir, const char *name, bool cosmo)
{
    *f = (struct ics_file){.cosmo = cosmo};
    if (grafic_exists(dir, name) || !has_first(dir, name))
        return grafic_open(&f->whole, dir, name, cosmo);
    const enum err err = open_split(f, dir, name);
    if (err != OK) ics_close(f);
    return err;
}

void ics_close(struct ics_file *f)
{
    for (int s = 0; f->owner && s < ICS_OPEN; s++)
        if (f->owner[s] >= 0) grafic_close(&f->open[s]);
    FREE(f->open);
    FREE(f->owner);
    FREE(f->block);
    grafic_close(&f->whole);
}

/* ---- values ---- */

/* The open file of a block. */
static enum err enter(struct ics_file *f, struct ics_block *b, struct grafic **g)
{
    if (b->slot < 0) {
        const int s = f->next++ % ICS_OPEN;
        if (f->owner[s] >= 0) {
            grafic_close(&f->open[s]);
            f->block[f->owner[s]].slot = -1;
            f->owner[s] = -1;
        }
        TRY(open_block(f, b->number, &f->open[s]));
        f->owner[s] = (int)(b - f->block);
        b->slot = s;
    }
    *g = &f->open[b->slot];
    return OK;
}

/* Rows of a plane of the union; values and ids have 8 bytes. */
struct rows {
    bool ids;
    int64_t k, j0, nj;
    void *out;
    unsigned char *done; /* [nj*n[0]] */
    int64_t missing;
};

/* Copies what a block has and no earlier one had. in: its rows j … j+n−1 of the union. */
static void copy(const struct ics_file *f, const struct ics_block *b, struct rows *r, int64_t j,
                 int64_t n, const int64_t *in)
{
    const int64_t row = f->whole.head.n[0];
    for (int64_t i = 0; i < n; i++)
        for (int64_t x = 0; x < b->n[0]; x++) {
            const int64_t to = (j - r->j0 + i) * row + b->lo[0] + x;
            if (r->done[to]) continue;
            r->done[to] = 1;
            r->missing--;
            memcpy((char *)r->out + 8 * to, &in[i * b->n[0] + x], 8);
        }
}

static enum err take_block(struct ics_file *f, struct ics_block *b, struct rows *r)
{
    const int64_t begin = b->lo[1] > r->j0 ? b->lo[1] : r->j0, top = b->lo[1] + b->n[1],
                  end = top < r->j0 + r->nj ? top : r->j0 + r->nj;
    struct grafic *g;
    if (r->k < b->lo[2] || r->k >= b->lo[2] + b->n[2] || begin >= end) return OK;
    TRY(enter(f, b, &g));
    int64_t *in = mem_new(8 * (size_t)((end - begin) * b->n[0]) + 8, "ics planes");
    const int64_t k = r->k - b->lo[2], j = begin - b->lo[1];
    enum err err = r->ids ? grafic_read_ids(g, k, j, end - begin, in)
                          : grafic_read_rows(g, k, j, end - begin, (double *)in);
    if (err == OK) copy(f, b, r, begin, end - begin, in);
    mem_free(in);
    return err;
}

static enum err read_blocks(struct ics_file *f, struct rows *r)
{
    enum err err = OK;
    const int64_t row = f->whole.head.n[0];
    r->missing = r->nj * row;
    r->done = mem_zero((size_t)r->missing + 1, "ics planes");
    for (int i = 0; i < f->nblock && r->missing > 0 && err == OK; i++)
        err = take_block(f, &f->block[i], r);
    int64_t at = 0;
    while (r->missing > 0 && r->done[at]) at++;
    mem_free(r->done);
    TRY(err);
    if (r->missing > 0)
        FAIL(ERR_FORMAT,
             "%s: none of its %d files has the cell %ld, %ld, %ld (counted from 0, from the corner "
             "of all)",
             f->whole.path, f->nblock, (long)(at % row), (long)(r->j0 + at / row), (long)r->k);
    return OK;
}

enum err ics_rows(struct ics_file *f, int64_t k, int64_t j0, int64_t nj, double *out)
{
    struct rows r = {.k = k, .j0 = j0, .nj = nj, .out = out};
    return f->nblock ? read_blocks(f, &r) : grafic_read_rows(&f->whole, k, j0, nj, out);
}

enum err ics_ids(struct ics_file *f, int64_t k, int64_t j0, int64_t nj, int64_t *out)
{
    struct rows r = {.ids = true, .k = k, .j0 = j0, .nj = nj, .out = out};
    return f->nblock ? read_blocks(f, &r) : grafic_read_ids(&f->whole, k, j0, nj, out);
}
