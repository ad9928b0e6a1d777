/* genzoom/mask: see mask.h.
 *
 * Masks from a shape: a cell of the finest level is 1 if its centre is inside; a cell of a coarser
 * level is 1 if it contains such a cell. A convex shape cuts a row along x in one interval, so the
 * cost of a row does not depend on the number of cells. Masks from maps: a cell is 1 if the map is
 * not 0 within `pad` cells in every direction. The map is read once: for each column the last plane
 * with a 1 nearby is stored. A refined cell needs data for its children: a shape that extends
 * beyond the files of the next level is an error; a map is cut there, and a level without a map,
 * which is 1 throughout, ends one cell earlier for the cells that nexpand adds. */
#include "mask.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

struct plane_maker {
    const struct zoom_set *s;
    const struct mask_par *p;
    const struct ics_level *ic;
    int l;
    bool ones;
    int64_t pad; /* padding in cells of this level */
    struct ics_file map;
    int64_t k; /* next plane of the result */
    /* next plane of the map; on a complete level it may be < 0 or beyond the end (periodic) */
    int64_t read;
    bool whole;                /* complete level: periodic */
    unsigned char *cell, *row; /* [n1][n0] plane; scratch */
    int32_t *last;             /* [n1][n0] last plane with a 1 nearby */
    float *value;
    double *line; /* of the file */
};

static int64_t plane_cells(const struct plane_maker *m)
{
    return (int64_t)m->ic->head.n[0] * m->ic->head.n[1];
}

static enum err maker_begin(struct plane_maker *m, const struct zoom_set *s,
                            const struct mask_par *p, int l)
{
    *m = (struct plane_maker){.s = s, .p = p, .ic = &s->g.lev[l], .l = l, .map.whole.fd = -1};
    size_t n = (size_t)plane_cells(m);
    m->whole = m->ic->head.n[0] == (int64_t)1 << l && m->ic->head.n[1] == m->ic->head.n[0] &&
               m->ic->head.n[2] == m->ic->head.n[0];
    m->pad = (int64_t)p->pad << (l - s->g.levelmin);
    m->read = m->whole ? -m->pad : 0;
    m->ones = !p->shape && l > s->g.levelmin && (p->ones || !s->lev[l].refmap);
    if (!p->shape && !m->ones) TRY(ics_open(&m->map, m->ic->dir, "ic_refmap", true));
    m->cell = mem_new(n, "mask");
    m->value = mem_new(sizeof *m->value * n, "mask");
    m->line = mem_new(sizeof *m->line * (size_t)m->ic->head.n[0], "mask");
    if (m->pad) {
        m->row = mem_new(n, "mask");
        m->last = mem_new(sizeof *m->last * n, "mask");
        for (size_t i = 0; i < n; i++) m->last[i] = INT32_MIN;
    }
    return OK;
}

static void maker_end(struct plane_maker *m)
{
    if (m->map.whole.path) ics_close(&m->map);
    FREE(m->cell);
    FREE(m->row);
    FREE(m->last);
    FREE(m->value);
    FREE(m->line);
}

/* ---- from a shape ---- */

/* Sets cells of row j that contain centres of fine cells between x0 and x1. */
static void fill_interval(struct plane_maker *m, int64_t j, double x0, double x1)
{
    int up = m->s->g.levelmax - m->l;
    int64_t fine = (int64_t)1 << m->s->g.levelmax, n0 = m->ic->head.n[0], off = m->ic->off[0];
    int64_t a = (int64_t)ceil(x0 * (double)fine - 0.5), b = (int64_t)floor(x1 * (double)fine - 0.5);
    if (b - a >= fine) b = a + fine - 1;
    if (a > b) return;
    for (int image = -2; image <= 2; image++) { /* periodic images of the interval */
        int64_t lo = ((a + image * fine) >> up) - off, hi = ((b + image * fine) >> up) - off;
        lo = lo < 0 ? 0 : lo;
        hi = hi >= n0 ? n0 - 1 : hi;
        if (lo <= hi) memset(m->cell + j * n0 + lo, 1, (size_t)(hi - lo + 1));
    }
}

/* Periodic images of coordinate x between lo and hi, at most three. */
static int images(double x, double lo, double hi, double out[3])
{
    int n = 0;
    for (int i = -1; i <= 1; i++)
        if (x + i >= lo && x + i <= hi) out[n++] = x + i;
    return n;
}

static void fill_from_shape(struct plane_maker *m)
{
    const struct shape *s = m->p->shape;
    int up = m->s->g.levelmax - m->l;
    double fine = ldexp(1, -m->s->g.levelmax), y[3], z[3], x0, x1;
    memset(m->cell, 0, (size_t)plane_cells(m));
    for (int64_t kk = 0; kk < (int64_t)1 << up; kk++) {
        double zz = ((double)(((m->ic->off[2] + m->k) << up) + kk) + 0.5) * fine;
        int nz = images(zz, s->lo[2], s->hi[2], z);
        for (int64_t jj = 0; nz && jj < (int64_t)m->ic->head.n[1] << up; jj++) {
            int ny = images(((double)((m->ic->off[1] << up) + jj) + 0.5) * fine, s->lo[1], s->hi[1],
                            y);
            for (int i = 0; i < nz * ny; i++)
                if (shape_row(s, y[i % ny], z[i / ny], &x0, &x1))
                    fill_interval(m, jj >> up, x0, x1);
        }
    }
}

/* ---- from maps ---- */

/* Dilation in one direction: out[i] = 1 where a[] has a 1 within pad entries; n entries with stride
 * `step`. */
static void spread(const unsigned char *a, unsigned char *out, int64_t n, int64_t step, int64_t pad,
                   bool around)
{
    int64_t last = INT64_MIN / 2;
    /* i: entry read; i - pad: entry decided */
    for (int64_t i = around ? -pad : 0; i < n + pad; i++) {
        int64_t at = around ? ((i % n) + n) % n : i;
        if (at < n && a[at * step]) last = i;
        if (i - pad >= 0) out[(i - pad) * step] = last >= i - 2 * pad;
    }
}

static enum err read_map(struct plane_maker *m, int64_t k)
{
    const int64_t n0 = m->ic->head.n[0], n1 = m->ic->head.n[1];
    for (int64_t j = 0; j < n1; j++) {
        TRY(ics_rows(&m->map, k, j, 1, m->line));
        for (int64_t i = 0; i < n0; i++) m->cell[j * n0 + i] = m->line[i] != 0;
    }
    if (!m->pad) return OK;
    for (int64_t j = 0; j < n1; j++)
        spread(m->cell + j * n0, m->row + j * n0, n0, 1, m->pad, m->whole);
    for (int64_t i = 0; i < n0; i++) spread(m->row + i, m->cell + i, n1, n0, m->pad, m->whole);
    return OK;
}

static enum err fill_from_map(struct plane_maker *m)
{
    int64_t n2 = m->ic->head.n[2];
    if (!m->pad) return read_map(m, m->k);
    for (; m->read <= m->k + m->pad; m->read++) {
        int64_t k = m->whole ? ((m->read % n2) + n2) % n2 : m->read;
        if (k >= n2) continue;
        TRY(read_map(m, k));
        for (int64_t i = 0; i < plane_cells(m); i++)
            if (m->cell[i]) m->last[i] = (int32_t)m->read;
    }
    for (int64_t i = 0; i < plane_cells(m); i++) m->cell[i] = m->last[i] >= m->k - m->pad;
    return OK;
}

/* ---- planes ---- */

/* Cells whose children are in the files of the next level: lo..hi in cells of this level from the
 * corner of the box. */
static bool child_range(const struct plane_maker *m, int64_t lo[3], int64_t hi[3])
{
    const struct ics_level *in = &m->s->g.lev[m->l + 1];
    if (m->l == m->s->g.levelmax) return false;
    for (int d = 0; d < 3; d++) {
        int64_t side = (int64_t)1 << m->l, edge = m->ones ? 1 : 0;
        lo[d] = in->off[d] / 2;
        hi[d] = lo[d] + in->head.n[d] / 2 - 1;
        if (hi[d] - lo[d] + 1 == side) continue;
        lo[d] += edge;
        hi[d] -= edge;
    }
    return true;
}

static void clear_row(struct plane_maker *m, int64_t j, int64_t lo, int64_t hi,
                      struct mask_level *r)
{
    unsigned char *row = m->cell + j * m->ic->head.n[0];
    for (int64_t i = 0; i < m->ic->head.n[0]; i++)
        if (row[i] && (i < lo || i > hi)) {
            row[i] = 0;
            r->cut++;
        }
}

static void cut_plane(struct plane_maker *m, struct mask_level *r)
{
    int64_t lo[3], hi[3];
    if (!child_range(m, lo, hi)) return;
    bool out = m->ic->off[2] + m->k < lo[2] || m->ic->off[2] + m->k > hi[2];
    for (int64_t j = 0; j < m->ic->head.n[1]; j++) {
        bool none = out || m->ic->off[1] + j < lo[1] || m->ic->off[1] + j > hi[1];
        clear_row(m, j, none ? 1 : lo[0] - m->ic->off[0], none ? 0 : hi[0] - m->ic->off[0], r);
    }
}

static void count_plane(const struct plane_maker *m, struct mask_level *r)
{
    int64_t n0 = m->ic->head.n[0];
    for (int64_t j = 0; j < m->ic->head.n[1]; j++) {
        const unsigned char *row = m->cell + j * n0, *first = memchr(row, 1, (size_t)n0),
                            *last = memrchr(row, 1, (size_t)n0);
        if (!first) continue;
        for (const unsigned char *c = first; c <= last; c++) r->cells += *c;
        const int64_t at[2][3] = {{first - row, j, m->k}, {last - row, j, m->k}};
        for (int d = 0; d < 3; d++) {
            int64_t a = m->ic->off[d] + at[0][d], b = m->ic->off[d] + at[1][d];
            if (a < r->lo[d]) r->lo[d] = a;
            if (b > r->hi[d]) r->hi[d] = b;
        }
    }
}

static enum err next_plane(struct plane_maker *m, struct mask_level *r)
{
    int64_t n = plane_cells(m), cut = r->cut;
    if (m->p->shape)
        fill_from_shape(m);
    else if (m->ones)
        memset(m->cell, 1, (size_t)n);
    else
        TRY(fill_from_map(m));
    cut_plane(m, r);
    if (m->p->shape && r->cut > cut)
        FAIL(ERR_PARAM,
             "%s: the region extends beyond these files, which have cells %lld..%lld, %lld..%lld, "
             "%lld..%lld of level "
             "%d: "
             "make initial conditions with more room or take a smaller region",
             m->s->g.lev[m->l + 1].dir, (long long)m->s->g.lev[m->l + 1].off[0],
             (long long)(m->s->g.lev[m->l + 1].off[0] + m->s->g.lev[m->l + 1].head.n[0] - 1),
             (long long)m->s->g.lev[m->l + 1].off[1],
             (long long)(m->s->g.lev[m->l + 1].off[1] + m->s->g.lev[m->l + 1].head.n[1] - 1),
             (long long)m->s->g.lev[m->l + 1].off[2],
             (long long)(m->s->g.lev[m->l + 1].off[2] + m->s->g.lev[m->l + 1].head.n[2] - 1),
             m->l + 1);
    if (m->ones) r->cut = 0; /* cells cut from a level of ones were not requested by the user */
    count_plane(m, r);
    for (int64_t i = 0; i < n; i++) m->value[i] = (float)m->cell[i];
    m->k++;
    return OK;
}

/* Cells between the mask and the boundary of the next level's files; -1 for complete levels, the
 * finest level, and an empty mask. */
static int64_t margin_of(const struct plane_maker *m, const struct mask_level *r)
{
    int64_t lo[3], hi[3], min = INT64_MAX, side = (int64_t)1 << m->l, edge = m->ones ? 1 : 0;
    if (!r->cells || !child_range(m, lo, hi)) return -1;
    for (int d = 0; d < 3; d++) {
        if (hi[d] - lo[d] + 1 == side) continue;
        int64_t a = r->lo[d] - lo[d] + edge, b = hi[d] + edge - r->hi[d];
        min = a < min ? a : min;
        min = b < min ? b : min;
    }
    return min == INT64_MAX ? -1 : min;
}

static enum err make_level(const struct zoom_set *s, const struct mask_par *p, int l,
                           struct grafic_out *out, struct mask_level *r)
{
    struct plane_maker m;
    enum err err = OK;
    *r = (struct mask_level){.lo = {INT64_MAX, INT64_MAX, INT64_MAX}, .hi = {-1, -1, -1}};
    TRY_OUT(maker_begin(&m, s, p, l));
    if (out) TRY_OUT(grafic_create(out, m.ic->dir, p->name, &m.ic->head, s->lev[l].swap, p->force));
    while (m.k < m.ic->head.n[2]) {
        TRY_OUT(next_plane(&m, r));
        if (out) TRY_OUT(grafic_write_plane(out, m.value));
    }
    r->margin = margin_of(&m, r);
out:
    maker_end(&m);
    return err;
}

static enum err publish(const struct zoom_set *s, struct grafic_out *out)
{
    enum err err = OK;
    int turn = temp_turn(out[s->g.levelmin].temp.path);
    for (int l = s->g.levelmin; err == OK && l <= s->g.levelmax; l++) err = grafic_publish(&out[l]);
    temp_turn_end(turn);
    return err;
}

enum err mask_make(const struct zoom_set *s, const struct mask_par *p, struct mask_level *result,
                   mask_judge *judge, void *ctx)
{
    struct grafic_out out[LEVEL_MAX + 2];
    enum err err = OK;
    memset(out, 0, sizeof out);
    for (int l = 0; l < LEVEL_MAX + 2; l++) out[l].temp.fd = -1;
    if (!p->shape && !s->lev[s->g.levelmin].refmap)
        FAIL(ERR_FILE,
             "%s: has no ic_refmap: give the region by --box, --sphere, --ellipsoid, --points or "
             "--trace",
             s->g.lev[s->g.levelmin].dir);
    for (int l = s->g.levelmin; l <= s->g.levelmax; l++)
        TRY_OUT(make_level(s, p, l, p->name ? &out[l] : NULL, &result[l]));
    for (int l = s->g.levelmin; l <= s->g.levelmax; l++)
        if (result[l].cells == 0 && (l == s->g.levelmin || l < s->g.levelmax))
            TRY_OUT(err_set(
                ERR_PARAM, "%s: the mask is empty on level %d: nothing would be refined there%s",
                s->g.lev[l].dir, l, p->shape ? "" : "; give a region, for example by --sphere"));
    TRY_OUT(judge(s, result, ctx));
    for (int l = s->g.levelmin; p->name && l <= s->g.levelmax; l++) TRY_OUT(grafic_finish(&out[l]));
    if (p->name) err = publish(s, out);
out:
    for (int l = s->g.levelmin; l <= s->g.levelmax; l++) grafic_drop(&out[l]);
    return err;
}
