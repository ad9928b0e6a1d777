/* movie/paint: see paint.h. A frame begins with plans of its cameras, which are the same on all
 * ranks; finish.c ends it. */
#include "base/mem.h"
#include "movie/priv.h"

/* ---- the plan ---- */

/* The group of a camera, which is added if no other camera has the same weights and selection. */
static int group_of(struct paint *p, const struct movie_camera *k)
{
    const struct group g = {.method = k->method,
                            .zoom = k->zoom_only && p->movie.zoom_ivar >= 0,
                            .ivar = k->ivar,
                            .min = k->varmin,
                            .max = k->varmax,
                            .n = p->ngas + (k->method <= MEAN_VOLUME)};
    int i = 0;
    for (; i < p->ngroup; i++) {
        const struct group *o = &p->group[i];
        if (o->method == g.method && o->zoom == g.zoom && o->ivar == g.ivar &&
            (g.ivar < 0 || (o->min == g.min && o->max == g.max)))
            break;
    }
    if (i == p->ngroup) p->group[p->ngroup++] = g;
    return i;
}

static const int NEEDS[MOVIE_QUANTITIES] = {
#define VARIABLE(symbol, name, of, needs, help) NEEDS_##needs,
#include "movie/variables.def"
};

static void list_variables(struct paint *p)
{
    for (int v = 0; v < p->movie.nvariable; v++) {
        const enum movie_quantity q = p->movie.variable[v].quantity;
        const bool dot = movie_of_particles(q);
        p->place[v] = dot ? p->ndots : p->ngas;
        if (dot)
            p->dot[p->ndots++] = v;
        else
            p->gas[p->ngas++] = v;
        if (NEEDS[q] > p->needs) p->needs = NEEDS[q];
    }
}

static void plan_camera(struct paint *p, int c, int finest)
{
    struct plan *k = &p->plan[c];
    movie_view(&p->movie, c, p->head, &k->view);
    k->group = group_of(p, &k->view.law);
    points_plan(p, k);
    k->owner = (int)((int64_t)c * p->comm->size / p->ncamera);
    for (int l = p->head->levelmin; p->ngas > 0 && l <= finest; l++) {
        raster_plan(p, k, l);
        columns_plan(p, k, l);
    }
}

enum err paint_begin(const struct paint_par *par, struct paint **out)
{
    struct paint *p = *out = mem_zero(sizeof *p, "movie frame");
    const struct ckpt_head *h = par->head;
    p->movie = *par->movie;
    p->comm = par->comm, p->head = h;
    p->ndim = h->ndim, p->ncamera = p->movie.ncamera;
    p->units = units_of(h->unit_l, h->unit_d, h->unit_t);
    list_variables(p);
    const int finest = par->finest > 0 && par->finest < p->movie.levelmax ? par->finest
                                                                          : p->movie.levelmax;
    p->plan = mem_zero(sizeof *p->plan * (size_t)p->ncamera, "movie frame");
    for (int c = 0; c < p->ncamera; c++) plan_camera(p, c, finest);
    p->finest = finest;
    for (int c = 0; c < p->ncamera; c++) columns_share(p, c);
    for (int v = 0; v < p->ndots; v++)
        if (p->movie.variable[p->dot[v]].quantity == MOVIE_LUMINOSITY && !p->light) {
            enum err err = light_new(par, &p->light);
            if (err != OK) paint_free(out);
            TRY(err);
        }
    paint_painters(p);
    return OK;
}

void paint_free(struct paint **out)
{
    struct paint *p = *out;
    if (!p) return;
    paint_painters_free(p);
    for (int c = 0; c < p->ncamera; c++) {
        for (int l = 1; l <= p->finest; l++) columns_fini(&p->plan[c].column[l]);
        for (int v = 0; v < p->movie.nvariable; v++) FREE(p->plan[c].map[v]);
    }
    FREE(p->plan);
    light_free(&p->light);
    FREE(p->rows);
    FREE(*out);
}

/* ---- a running mesh ---- */

static void draw_mesh_block(struct paint *p, struct painter *a, const struct mesh *m, int l,
                            lidx at)
{
    const struct level *lv = &m->lev[l];
    unsigned char split[PAINT_OCTS];
    struct block b = {.level = l, .key = lv->key + at, .split = split};
    b.n = lv->nown - at < PAINT_OCTS ? (int)(lv->nown - at) : PAINT_OCTS;
    const bool deeper = l < m->levelmax && m->lev[l + 1].total > 0;
    memset(split, 0, sizeof split);
    for (int i = 0; deeper && i < b.n; i++) {
        for (int c = 0; c < 8; c++) split[i] |= (unsigned char)((lv->child[at + i][c] >= 0) << c);
    }
    for (int v = 0; v < m->nvar; v++) b.u[v] = (const double(*)[8])level_gas(lv, v) + at;
    for (int f = 0; m->magnetic && f < 6; f++)
        b.b[f] = (const double(*)[8])level_magnetic(lv, f) + at;
    paint_block(p, a, &b);
}

void paint_mesh(struct paint *p, const struct mesh *m)
{
    if (p->ngas == 0) return;
    paint_painters(p);
#pragma omp parallel
    {
        const int t = paint_thread(), nt = paint_threads();
        for (int l = m->levelmin; l <= p->finest && l <= m->levelmax; l++) {
            const int64_t blocks = (m->lev[l].nown + PAINT_OCTS - 1) / PAINT_OCTS;
            const int64_t end = blocks * (t + 1) / nt;
            for (int64_t k = blocks * t / nt; k < end; k++)
                draw_mesh_block(p, &p->painter[t], m, l, (lidx)(k * PAINT_OCTS));
        }
    }
}

/* ---- a checkpoint ---- */

/* Rows of eight cells of one value of octs at..at+n-1 of a batch. */
static const double (*take_rows(struct paint *p, const struct source_octs *o, int value, int at,
                                int n, int to))[8]
{
    double(*row)[8] = (double(*)[8])p->rows + (size_t)to * PAINT_OCTS;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 8; c++) {
            const int cells = 1 << p->ndim;
            row[i][c] = o->val[8 * value + (c < cells ? c : c - cells)][at + i];
        }
    return (const double(*)[8])row;
}

enum err paint_source_octs(const struct source_octs *o, void *ctx)
{
    struct paint *p = ctx;
    const struct source *s = o->source;
    const int nvar = s->head.nvar;
    if (p->ngas == 0 || o->level < p->head->levelmin || o->level > p->finest) return OK;
    if (!p->rows)
        p->rows = mem_new(sizeof *p->rows * 8 * PAINT_OCTS * (size_t)(nvar + 6), "movie frame");
    for (int at = 0; at < o->n; at += PAINT_OCTS) {
        struct block b = {.level = o->level, .key = o->key + at, .split = o->split + at};
        b.n = o->n - at < PAINT_OCTS ? o->n - at : PAINT_OCTS;
        for (int v = 0; v < nvar; v++) b.u[v] = take_rows(p, o, v, at, b.n, v);
        for (int v = nvar; s->head.magnetic && v < s->nvalue; v++) {
            const int f = field_stored(s->values, nvar, v, 3);
            const int face = f - field_rows[ROW_MAGNETIC].first;
            if (face >= 0 && face < 6) b.b[face] = take_rows(p, o, v, at, b.n, nvar + face);
        }
        paint_block(p, &p->painter[0], &b);
    }
    return OK;
}

enum err paint_source(struct paint *p, struct source *s)
{
    enum err err = OK;
    for (int i = p->comm->rank; err == OK && i < s->npiece; i += p->comm->size) {
        err = source_octs(s, i, SOURCE_STATE, paint_source_octs, p);
        if (err == OK && p->ndots > 0 && s->head.particles)
            err = source_parts(s, i, SOURCE_STATE, paint_source_parts, p);
    }
    return err_agree(p->comm, err);
}
