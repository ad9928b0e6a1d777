#include "ics/field.h"

#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "ics/split.h"

/* A thread reads this many values at a time, or two planes where these are larger. So many stay in
 * the cache until their octs have them. */
enum { BLOCK_VALUES = 1 << 15 };
/* Bytes that all threads of a rank read at a time, if more than one thread reads: where planes are
 * large, fewer threads do. */
enum { ALL_BYTES = 1 << 28 };

/* Pointer to reals or to ids of cells; ids are not converted to floating point. */
union values {
    double *real;
    int64_t *id;
};

/* Rows of consecutive planes of a file. */
struct block {
    bool ids;
    int64_t y0, z0; /* coordinates of the first oct in the block */
    int64_t plane;  /* values per plane */
    int64_t cap;
    union values val; /* [cap] values read */
};

static enum err check_inside(const struct ics_level *ic, const struct level *lv);
static enum err read_values(const struct ics_layers *s, const char *name, bool ids,
                            union values out);
static enum err read_layers(const struct ics_layers *s, struct ics_file *f, int64_t k0, int64_t k1,
                            struct block *b);
static void scatter(const struct ics_layers *s, const struct block *b, lidx begin, lidx end,
                    union values out);

enum err ics_layers_new(const struct ics_grafic *g, const struct mesh *m, int l,
                        struct ics_layers *s)
{
    BUG_ON(!ics_grafic_has(g, l));
    const struct level *lv = &m->lev[l];
    *s = (struct ics_layers){.lv = lv, .ic = &g->lev[l], .cosmo = g->cosmo};
    TRY(check_inside(s->ic, lv));
    int64_t x[3], lo = INT64_MAX, hi = -1;
    for (lidx i = 0; i < lv->nown; i++) {
        okey_coords(lv->key[i], x);
        if (x[2] < lo) lo = x[2];
        if (x[2] > hi) hi = x[2];
    }
    s->z0 = lo;
    s->nz = hi < 0 ? 0 : hi - lo + 1;
    s->oct = mem_new(sizeof *s->oct * (size_t)lv->nown + 1, "ics layers");
    s->first = mem_zero(sizeof *s->first * (size_t)(s->nz + 2), "ics layers");
    for (lidx i = 0; i < lv->nown; i++) {
        okey_coords(lv->key[i], x);
        s->first[x[2] - lo + 2]++;
    }
    for (int64_t k = 0; k < s->nz; k++) s->first[k + 2] += s->first[k + 1];
    /* On entry first[k+1] is the start of layer k; the loop advances it to the end. */
    for (lidx i = 0; i < lv->nown; i++) {
        okey_coords(lv->key[i], x);
        s->oct[s->first[x[2] - lo + 1]++] = i;
    }
    return OK;
}

void ics_layers_free(struct ics_layers *s)
{
    FREE(s->oct);
    FREE(s->first);
}

enum err ics_field_read(const struct ics_layers *s, const char *name, double (*val)[8])
{
    return read_values(s, name, false, (union values){.real = *val});
}

enum err ics_ids_read(const struct ics_layers *s, const char *name, int64_t (*val)[8])
{
    return read_values(s, name, true, (union values){.id = *val});
}

/* Reads layers k0..k1-1 and gives their values to the octs. */
static enum err read_block(const struct ics_layers *s, struct ics_file *f, int64_t k0, int64_t k1,
                           struct block *b, union values out)
{
    if (s->first[k0] == s->first[k1]) return OK;
    TRY(read_layers(s, f, k0, k1, b));
    scatter(s, b, s->first[k0], s->first[k1], out);
    return OK;
}

/* Threads read blocks of layers side by side; of a split file one thread reads, since its blocks
 * are opened in turns. */
static enum err read_values(const struct ics_layers *s, const char *name, bool ids,
                            union values out)
{
    struct ics_file f;
    struct err_first trouble = {0};
    enum err err = OK;
    const int64_t planes = 2 * (int64_t)s->ic->head.n[0] * s->ic->head.n[1],
                  step = BLOCK_VALUES / planes + 1,
                  most = ALL_BYTES / (step * planes * (int64_t)sizeof(double)) + 1;
    const int threads = omp_get_max_threads();
    TRY(ics_open(&f, s->ic->dir, name, s->cosmo));
    TRY_OUT(grafic_check_same(&f.whole, &s->ic->head, s->ic->first, s->cosmo));
#pragma omp parallel if (f.nblock == 0) num_threads(most < threads ? (int)most : threads)
    {
        struct block b = {.ids = ids};
#pragma omp for schedule(dynamic)
        for (int64_t k = 0; k < s->nz; k += step) {
            const int64_t end = k + step < s->nz ? k + step : s->nz;
            err_save(&trouble, read_block(s, &f, k, end, &b, out), (int)k);
        }
        mem_free(b.val.real);
    }
    err = err_restore(&trouble);
out:
    ics_close(&f);
    return err;
}

static enum err check_inside(const struct ics_level *ic, const struct level *lv)
{
    static const char axis[] = "xyz";
    for (lidx i = 0; i < lv->nown; i++) {
        int64_t x[3];
        okey_coords(lv->key[i], x);
        for (int d = 0; d < 3; d++) {
            if (2 * x[d] >= ic->off[d] && 2 * x[d] + 2 <= ic->off[d] + ic->head.n[d]) continue;
            FAIL(ERR_PARAM,
                 "%s: the refined region leaves the initial conditions of level %d: cells at %c = "
                 "%.6g of the box are "
                 "needed, the files hold %.6g to %.6g; give files with more padding or refine less",
                 ic->dir, lv->level, axis[d],
                 (double)(2 * x[d] + 1) / (double)((int64_t)1 << lv->level),
                 (double)ic->off[d] / (double)((int64_t)1 << lv->level),
                 (double)(ic->off[d] + ic->head.n[d]) / (double)((int64_t)1 << lv->level));
        }
    }
    return OK;
}

/* Reads both planes of each layer k0..k1-1, and of these only the rows from the first to the last
 * oct. */
static enum err read_layers(const struct ics_layers *s, struct ics_file *f, int64_t k0, int64_t k1,
                            struct block *b)
{
    int64_t x[3], hi = -1, row = s->ic->head.n[0];
    b->y0 = INT64_MAX;
    for (lidx n = s->first[k0]; n < s->first[k1]; n++) {
        okey_coords(s->lv->key[s->oct[n]], x);
        if (x[1] < b->y0) b->y0 = x[1];
        if (x[1] > hi) hi = x[1];
    }
    int64_t rows = 2 * (hi - b->y0 + 1);
    b->z0 = s->z0 + k0;
    b->plane = rows * row;
    if (2 * (k1 - k0) * b->plane > b->cap) {
        mem_free(b->val.real);
        b->cap = 2 * (k1 - k0) * b->plane;
        b->val.real = mem_new(sizeof *b->val.real * (size_t)b->cap, "ics planes");
    }
    for (int64_t q = 0; q < 2 * (k1 - k0); q++) {
        if (s->first[k0 + q / 2] == s->first[k0 + q / 2 + 1]) continue;
        int64_t k = 2 * b->z0 + q - s->ic->off[2], j = 2 * b->y0 - s->ic->off[1];
        TRY(b->ids ? ics_ids(f, k, j, rows, b->val.id + q * b->plane)
                   : ics_rows(f, k, j, rows, b->val.real + q * b->plane));
    }
    return OK;
}

/* Values are copied by pairs of cells along x; a real is as wide as an id. */
static void scatter(const struct ics_layers *s, const struct block *b, lidx begin, lidx end,
                    union values out)
{
    const int64_t row = s->ic->head.n[0];
    for (lidx n = begin; n < end; n++) {
        const lidx i = s->oct[n];
        int64_t k[3];
        okey_coords(s->lv->key[i], k);
        const int64_t first = 2 * (k[2] - b->z0) * b->plane + 2 * (k[1] - b->y0) * row + 2 * k[0] -
                              s->ic->off[0];
        for (int c = 0; c < 8; c += 2) {
            const int64_t at = first + (c >> 1 & 1) * row + (c >> 2) * b->plane;
            memcpy(out.real + 8 * (int64_t)i + c, b->val.real + at, 2 * sizeof(double));
        }
    }
}
