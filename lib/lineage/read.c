/* lineage/read: the files of progenitors; see files.h.
 *
 * Nothing in them says whether ids have 4 or 8 bytes, whether peak masses are there and whether
 * there are record marks. The layout whose length is that of the file holds; of several the first
 * one whose contents make sense. RAMSES writes a row for each part of a clump that a rank has: the
 * rows of a clump are joined. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ckpt/files.h"
#include "io/file.h"
#include "io/fortran.h"
#include "lineage/files.h"

/* Numbers of progenitorcount.dat. */
struct counts {
    int32_t clumps, rows, particles, past;
};

/* A file: columns one after the other, each of n values of `bytes` bytes. */
enum { COLUMNS = 5 };
struct layout {
    bool marks; /* whether each column is a Fortran record */
    int n;      /* number of columns */
    int64_t count[COLUMNS];
    int bytes[COLUMNS];
};

static int64_t layout_bytes(const struct layout *l)
{
    int64_t sum = 0;
    for (int i = 0; i < l->n; i++) sum += l->count[i] * l->bytes[i] + (l->marks ? 8 : 0);
    return sum;
}

/* Layout number `which`, 0..7, of a file whose column `ids` contains ids of particles and whose
 * last column has peak masses: those with the probable number of columns come first. */
static struct layout layout_of(const int64_t count[COLUMNS], int ids, int which, bool peaks)
{
    struct layout l = {.marks = which & 1,
                       .n = ((which & 4) == 0) == peaks ? COLUMNS : COLUMNS - 1};
    static const int BYTES[COLUMNS] = {4, 4, 4, 8, 8};
    memcpy(l.count, count, sizeof l.count);
    memcpy(l.bytes, BYTES, sizeof l.bytes);
    if (which & 2) l.bytes[ids] = 8;
    return l;
}

/* Finds the start of each column. False if the record marks are wrong. */
static bool find_columns(const struct layout *l, const char *text, const char *col[COLUMNS])
{
    for (int i = 0; i < l->n; i++) {
        int64_t n = l->count[i] * l->bytes[i];
        int32_t before, after;
        if (l->marks) {
            memcpy(&before, text, sizeof before);
            memcpy(&after, text + 4 + n, sizeof after);
            if (before != n || after != n) return false;
            text += 4;
        }
        col[i] = text;
        text += n + (l->marks ? 4 : 0);
    }
    return true;
}

static int64_t int_at(const char *col, int bytes, int64_t i)
{
    int64_t wide;
    int32_t narrow;
    if (bytes == 8) return memcpy(&wide, col + 8 * i, sizeof wide), wide;
    return memcpy(&narrow, col + 4 * i, sizeof narrow), narrow;
}

static double real_at(const char *col, int64_t i)
{
    double x;
    return memcpy(&x, col + 8 * i, sizeof x), x;
}

static bool is_mass(double x)
{
    return isfinite(x) && x > 0;
}

typedef bool parse_fn(const struct counts *n, const struct layout *l, const char *const *col,
                      void *out);

/* Reads a file by the first layout that fits. */
static enum err parse(const char *dir, enum files_kind kind, const struct counts *n,
                      const int64_t count[COLUMNS], bool peaks, parse_fn *fn, void *out)
{
    char path[PATH_MAX], *text;
    size_t bytes;
    bool fits = false;
    TRY(files_path(dir, kind, 0, 0, path));
    TRY(file_load(path, SIZE_MAX / 4, &text, &bytes));
    for (int which = 0; which < 8; which++) {
        struct layout l = layout_of(count, 2, which, peaks);
        const char *col[COLUMNS];
        if (layout_bytes(&l) != (int64_t)bytes || !find_columns(&l, text, col)) continue;
        fits = true;
        if (!fn(n, &l, col, out)) continue;
        FREE(text);
        return OK;
    }
    FREE(text);
    if (fits)
        FAIL(ERR_FORMAT,
             "%s: an id, a number of particles or a mass is impossible: the file is damaged", path);
    FAIL(ERR_FORMAT,
         "%s: %zu bytes do not agree with the %ld clumps, %ld particles and %ld merged progenitors "
         "of progenitorcount.dat: one of the files is damaged",
         path, bytes, (long)n->rows, (long)n->particles, (long)n->past);
}

/* ---- clumps ---- */

/* A row of progenitor_data.dat. */
struct row {
    int64_t id, first, n, galaxy; /* galaxy: index of the galaxy's particle; −1: in another row */
    double mass, peak;
};

/* The row with the galaxy comes first. */
static int order_row(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    if ((x->galaxy < 0) != (y->galaxy < 0)) return x->galaxy < 0 ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static bool read_row(const struct layout *l, const char *const *col, int64_t i, int64_t total,
                     struct row *r)
{
    r->id = int_at(col[0], 4, i);
    r->n = int_at(col[1], 4, i);
    r->mass = real_at(col[3], i);
    r->peak = l->n == COLUMNS ? real_at(col[4], i) : r->mass;
    r->galaxy = -1;
    if (r->id <= 0 || r->n <= 0 || r->n > total - r->first) return false;
    if (!is_mass(r->mass) || !is_mass(r->peak)) return false;
    for (int64_t j = r->first; j < r->first + r->n; j++) {
        int64_t particle = int_at(col[2], l->bytes[2], j);
        if (particle > 0 || (particle == 0 && j > r->first)) continue;
        if (r->galaxy >= 0) return false;
        r->galaxy = j;
    }
    return true;
}

/* Reads the rows, sorted by clump. Returns the number of clumps, −1 if any number is impossible. */
static int64_t read_rows(const struct counts *n, const struct layout *l, const char *const *col,
                         struct row *row)
{
    int64_t at = 0, clumps = 0;
    for (int64_t i = 0; i < n->rows; i++) {
        row[i].first = at;
        if (!read_row(l, col, i, n->particles, &row[i])) return -1;
        at += row[i].n;
    }
    mem_sort(row, (size_t)n->rows, sizeof *row, order_row);
    for (int64_t i = 0; i < n->rows; i++) {
        bool starts = i == 0 || row[i].id != row[i - 1].id;
        if (starts != (row[i].galaxy >= 0)) return -1;
        clumps += starts;
    }
    return at == n->particles ? clumps : -1;
}

/* Joins the rows of each clump; its galaxy becomes the first particle. */
static bool parse_clumps(const struct counts *n, const struct layout *l, const char *const *col,
                         void *out)
{
    struct lineage_groups *g = out;
    struct row *row = mem_new(sizeof *row * (size_t)n->rows + 1, "lineage");
    int64_t at = 0, clumps = read_rows(n, l, col, row);
    if (clumps >= 0) lineage_groups_make(g, clumps, n->particles);
    if (clumps >= 0) g->n = 0;
    for (int64_t i = 0; i < n->rows && clumps >= 0; i++) {
        const struct row *r = &row[i];
        if (r->galaxy >= 0) {
            g->id[g->n] = r->id;
            g->mass[g->n] = r->mass;
            g->peak[g->n++] = r->peak;
            g->particle[at++] = -int_at(col[2], l->bytes[2], r->galaxy);
        }
        for (int64_t j = r->first; j < r->first + r->n; j++)
            if (j != r->galaxy) g->particle[at++] = int_at(col[2], l->bytes[2], j);
        g->first[g->n] = at;
    }
    FREE(row);
    return clumps >= 0;
}

/* ---- past progenitors ---- */

static bool parse_past(const struct counts *n, const struct layout *l, const char *const *col,
                       void *out)
{
    struct lineage_past *past = out;
    lineage_past_free(past);
    past->n = past->room = n->past;
    past->at = mem_new(sizeof *past->at * (size_t)n->past + 1, "lineage");
    for (int64_t i = 0; i < n->past; i++) {
        struct lineage_merged m = {.id = int_at(col[0], 4, i),
                                   .output = int_at(col[1], 4, i),
                                   .galaxy = int_at(col[2], l->bytes[2], i),
                                   .mass = real_at(col[3], i)};
        m.peak = l->n == COLUMNS ? real_at(col[4], i) : m.mass;
        past->at[i] = m;
        if (m.id <= 0 || m.output < 0 || m.galaxy < 0) return false;
        if (!is_mass(m.mass) || !is_mass(m.peak)) return false;
    }
    lineage_past_sort(past);
    return true;
}

/* ---- files ---- */

static enum err read_counts(const char *path, struct counts *n)
{
    struct fort_in f = {.fd = -1};
    int32_t x[4];
    enum err err = fort_open(&f, path);
    if (err == OK) err = fort_get(&f, "the numbers of progenitors", 4, x, 4);
    fort_shut(&f);
    TRY(err);
    *n = (struct counts){x[0], x[1], x[2], x[3]};
    for (int i = 0; i < 4; i++)
        if (x[i] < 0)
            FAIL(ERR_FORMAT,
                 "%s: the numbers %d, %d, %d and %d must not be below 0: the file is damaged", path,
                 x[0], x[1], x[2], x[3]);
    return OK;
}

enum err lineage_read(const char *dir, bool peaks, struct lineage_groups *g,
                      struct lineage_past *past, bool *found)
{
    char path[PATH_MAX];
    struct counts n;
    memset(g, 0, sizeof *g);
    memset(past, 0, sizeof *past);
    TRY(files_path(dir, FILES_PROGENITORS, 0, 0, path));
    *found = file_exists(path);
    if (!*found) return OK;
    TRY(read_counts(path, &n));
    const int64_t now[COLUMNS] = {n.rows, n.rows, n.particles, n.rows, n.rows},
                  was[COLUMNS] = {n.past, n.past, n.past, n.past, n.past};
    enum err err = parse(dir, FILES_PROGENITOR_DATA, &n, now, peaks, parse_clumps, g);
    if (err == OK) err = parse(dir, FILES_PAST_MERGED, &n, was, peaks, parse_past, past);
    if (err == OK) return OK;
    lineage_groups_free(g);
    lineage_past_free(past);
    return err;
}
