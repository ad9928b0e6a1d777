/* audit/check_magnetic: magnetic fields on faces, as constrained transport keeps them.
 *
 * Each face is stored twice, with the cells on both sides. The copies are equal; a face of a split
 * cell is the mean of the finer faces on it; so the field through the faces of each leaf cell adds
 * up to zero. Along axes that are missing in fewer than three dimensions both faces of a cell hold
 * its one value.
 *
 * Each face between two octs waits in the row of the oct above it, each face of a split cell in the
 * row of the oct within, until both values have been read, perhaps from different files. The table
 * takes as many octs as memory allows; the files are read once for each pass. */
#include <math.h>
#include <string.h>

#include "audit/check_priv.h"
#include "base/mem.h"
#include "ckpt/magnetic.h"

/* Tolerance relative to the strongest field: codes that compute both copies may differ in the last
 * bits, which are all that some cells have where there is almost no field. */
static const double TOLERANCE = 1e-10;
static const char ACROSS[] = "in the cell on its other side";

/* Values of a row: the lower faces of the oct, up to four along each axis, as the oct has them or
 * as the oct below has them; its six outer faces, as its parent cell has them or as means. */
enum { LOWER = 12, ROW = LOWER + 6 };

struct faces {
    struct check *k;
    const struct tree_table *t;
    struct magnetic b;
    int ndim, cells;
    bool first;       /* first pass, in which cells are checked each by itself */
    bool restricted;  /* split cells hold means of finer cells */
    int64_t from, to; /* range of tree-table rows in this pass */
    double (*wait)[ROW];
    uint32_t *seen; /* [to - from] bits of the values that wait, or have been compared */
    double difference, strongest; /* maximum difference of both values of a face; maximum field */
};

/* A face of a cell of a batch of octs. */
struct face {
    const struct source_octs *o;
    int i, cell, f;
};

static double value(const struct faces *s, struct face a)
{
    return magnetic_face(&s->b, a.o, a.f, a.cell, a.i);
}

static void report(struct faces *s, enum check_kind kind, struct face a, const double v[2],
                   const char *than)
{
    struct check *k = s->k;
    char path[PATH_MAX], location[CHECK_LOCATION];
    if (k->count[kind] >= CHECK_MAX) {
        k->count[kind]++, k->found->damages++;
        return;
    }
    source_file(k->r, FILES_HYDRO, a.o->piece, path);
    check_place(k, a.o->level, a.o->key[a.i], a.cell, location);
    check_report(k, kind, path, location, "%s is %.15g, and %.15g %s",
                 k->r->field[s->b.face[a.f]].name, v[0], v[1], than);
}

/* Compares the value v of the face a with another; `than`: where the other is from. */
static void compare(struct faces *s, enum check_kind kind, struct face a, double v, double other,
                    const char *than)
{
    const double d = fabs(v - other);
    if (d > s->difference) s->difference = d;
    if (!(d <= TOLERANCE * s->strongest)) report(s, kind, a, (double[2]){v, other}, than);
}

/* Row of an oct in this pass, -1: none. */
static int64_t row_of(const struct faces *s, int level, okey key)
{
    const struct tree_row *row = tree_table_find(s->t, level, key);
    int64_t at = row ? s->t->base[level] + (row - s->t->row[level]) - s->from : -1;
    return at < s->to - s->from ? at : -1;
}

/* Takes one of both values of a face; compares once the other has been read, too. */
static void bring(struct faces *s, int64_t row, int at, enum check_kind kind, struct face a,
                  double v)
{
    if (row < 0) return;
    if (s->seen[row] >> at & 1)
        compare(s, kind, a, v, s->wait[row][at], kind == BAD_COPY ? ACROSS : "by the finer level");
    s->seen[row] |= (uint32_t)1 << at;
    s->wait[row][at] = v;
}

/* ---- faces between octs ---- */

/* Key of the next oct along axis d; false beyond the upper face of a box with boundaries. */
static bool key_above(const struct faces *s, int level, okey key, int d, okey *above)
{
    int64_t x[3];
    okey_coords(key, x);
    if (++x[d] == (int64_t)1 << (level - 1)) {
        if (s->k->bounded) return false;
        x[d] = 0;
    }
    *above = okey_make((uint64_t)x[0], (uint64_t)x[1], (uint64_t)x[2]);
    return true;
}

/* Index of a cell among the cells of its oct on the same face along axis d. */
static int beside(int cell, int d)
{
    return (cell & ((1 << d) - 1)) | (cell >> (d + 1) << d);
}

static void check_outer(struct faces *s, const struct source_octs *o, int i)
{
    for (int d = 0; d < s->ndim; d++) {
        okey above;
        const int64_t own = row_of(s, o->level, o->key[i]);
        const int64_t up = key_above(s, o->level, o->key[i], d, &above) ? row_of(s, o->level, above)
                                                                        : -1;
        for (int c = 0; c < s->cells; c++) {
            const struct face a = {o, i, c, 2 * d + (c >> d & 1)};
            bring(s, a.f & 1 ? up : own, 4 * d + beside(c, d), BAD_COPY, a, value(s, a));
        }
    }
}

/* ---- faces of split cells ---- */

/* Mean over n finer faces, in the order of mhd_face_mean: opposite ones first. */
static double mean_of(const double b[4], int n)
{
    if (n == 4) return ((b[0] + b[3]) + (b[1] + b[2])) / 4;
    return n == 2 ? (b[0] + b[1]) / 2 : b[0];
}

static void check_means(struct faces *s, const struct source_octs *o, int i)
{
    const int64_t own = o->level > 1 ? row_of(s, o->level, o->key[i]) : -1;
    for (int f = 0; f < 2 * s->ndim && own >= 0; f++) {
        struct face a = {o, i, 0, f};
        double b[4];
        int n = 0;
        for (int c = 0; c < s->cells; c++) {
            if ((c >> (f / 2) & 1) != (f & 1)) continue;
            a.cell = c;
            b[n++] = value(s, a);
        }
        bring(s, own, LOWER + f, BAD_MEAN, a, mean_of(b, n));
    }
    for (int c = 0; c < s->cells; c++) {
        if (!(o->split[i] >> c & 1)) continue;
        const int64_t within = row_of(s, o->level + 1, o->key[i] << 3 | (okey)c);
        for (int f = 0; f < 2 * s->ndim; f++) {
            const struct face a = {o, i, c, f};
            bring(s, within, LOWER + f, BAD_MEAN, a, value(s, a));
        }
    }
}

/* ---- cells by themselves ---- */

static void check_inner(struct faces *s, const struct source_octs *o, int i)
{
    for (int c = 0; c < s->cells; c++)
        for (int d = 0; d < 3; d++) {
            const struct face a = {o, i, c, 2 * d + 1};
            const struct face b = {o, i, d < s->ndim ? c | 1 << d : c, 2 * d};
            if (d < s->ndim && c >> d & 1) continue;
            compare(s, BAD_COPY, a, value(s, a), value(s, b),
                    d < s->ndim ? ACROSS : "at the opposite face");
        }
}

static void check_divergence(struct faces *s, const struct source_octs *o, int i)
{
    for (int c = 0; c < s->cells; c++) {
        if (o->split[i] >> c & 1) continue;
        const double size = magnetic_divergence(&s->b, o, c, i);
        if (size > s->k->found->divergence) s->k->found->divergence = size;
    }
}

static enum err take_octs(const struct source_octs *o, void *ctx)
{
    struct faces *s = ctx;
    for (int i = 0; i < o->n; i++) {
        if (s->first) check_inner(s, o, i);
        if (s->first) check_divergence(s, o, i);
        check_outer(s, o, i);
        if (s->restricted) check_means(s, o, i);
    }
    return OK;
}

/* ---- reading ---- */

/* Finds the strongest field of the leaf cells. */
static enum err take_strength(const struct source_octs *o, void *ctx)
{
    struct faces *s = ctx;
    for (int i = 0; i < o->n; i++)
        for (int c = 0; c < s->cells; c++) {
            const double b = o->split[i] >> c & 1 ? 0 : magnetic_strength(&s->b, o, c, i);
            if (b > s->strongest && isfinite(b)) s->strongest = b;
        }
    return OK;
}

/* Reads the octs of all pieces. */
static enum err read_all(struct faces *s, source_octs_fn *take)
{
    struct source *r = s->k->r;
    enum err err = OK;
    memset(&r->counts, 0, sizeof r->counts);
    for (int piece = 0; err == OK && piece < r->npiece; piece++)
        err = check_judge(s->k, source_octs(r, piece, SOURCE_STORED, take, s));
    return err;
}

enum err check_magnetic(struct check *k, const struct tree_table *t)
{
    struct source *r = k->r;
    struct faces s = {.k = k, .t = t, .b = magnetic_of(r), .ndim = r->head.ndim, .first = true};
    if (!s.b.there) return OK;
    k->found->magnetic = true;
    s.cells = source_cells(r);
    s.restricted = r->head.levelmin < r->head.levelmax;
    const int64_t rows = t->base[LEVEL_MAX + 1];
    const int64_t max = (int64_t)(k->how->memory / (sizeof *s.wait + sizeof *s.seen));
    const int64_t room = rows < max ? rows : max > 1 ? max : 1;
    s.wait = mem_new(sizeof *s.wait * (size_t)room + 1, "check");
    s.seen = mem_new(sizeof *s.seen * (size_t)room + 1, "check");
    enum err err = read_all(&s, take_strength);
    for (int64_t at = 0; err == OK && at < rows; at += room, s.first = false) {
        s.from = at, s.to = rows - at < room ? rows : at + room;
        memset(s.seen, 0, sizeof *s.seen * (size_t)(s.to - s.from));
        err = read_all(&s, take_octs);
    }
    if (s.difference > 0) k->found->copies = s.difference / s.strongest;
    FREE(s.wait);
    FREE(s.seen);
    return err;
}
