/* tracer/place: the tracers of a new run.
 *
 * 'inplace': a leaf cell of mass M gets the whole part of M / tracer_mass tracers, and one more
 * with the probability of the fraction. Such a stratified sample has less noise than Poisson's. Ids
 * follow the Morton curve, so that they do not depend on ranks. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sum.h"
#include "tracer/feed.h"

/* Leaf cells of this rank that get tracers. */
struct cells {
    int64_t n;
    struct part_ticket *ticket;
    struct place {
        double x[3], m;
    } * place;
};

bool tracer_is_cell(const struct params *p, const struct level *lv, lidx i, int c)
{
    const struct param_refine *f = &p->refine;
    const double rho = level_gas(lv, GAS_DENSITY)[i][c];
    if (lv->child[i][c] >= 0) return false;
    return f->ivar_refine <= 0 ||
           level_gas(lv, f->ivar_refine - 1)[i][c] / rho >= f->var_cut_refine;
}

/* Folds a key to the 64 bits that random numbers take. */
static uint64_t folded(okey key)
{
    return (uint64_t)key ^ (uint64_t)(key >> 32 >> 32) * 0x9E3779B97F4A7C15u;
}

static int64_t draw(const struct tracer_run *r, const struct level *lv, lidx i, int c, double mass)
{
    const double per = r->par->tracer.tracer_mass;
    if (per <= 0) return 1;
    const double n = mass / per, whole = floor(n);
    struct rng g = tracer_rng(r, folded(lv->key[i] << 3 | (okey)c), lv->level, TRACER_USE_PLACE);
    return (int64_t)whole + (rng_uniform(&g) < n - whole);
}

typedef void leaf_fn(struct tracer_run *r, const struct level *lv, lidx i, int c, void *ctx);

static void each_leaf(struct tracer_run *r, leaf_fn *fn, void *ctx)
{
    const struct mesh *m = r->mesh;
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            for (int c = 0; c < m->cells; c++)
                if (tracer_is_cell(r->par, &m->lev[l], i, c)) fn(r, &m->lev[l], i, c, ctx);
}

static double cell_mass(const struct tracer_run *r, const struct level *lv, lidx i, int c)
{
    return level_gas(lv, GAS_DENSITY)[i][c] * mesh_volume(r->mesh, lv->level);
}

/* Expected numbers of cells with tracers and of tracers. */
static void count_leaf(struct tracer_run *r, const struct level *lv, lidx i, int c, void *ctx)
{
    double *n = ctx;
    const double per = r->par->tracer.tracer_mass;
    n[0]++;
    n[1] += per > 0 ? cell_mass(r, lv, i, c) / per : 1;
}

static void list_leaf(struct tracer_run *r, const struct level *lv, lidx i, int c, void *ctx)
{
    struct cells *s = ctx;
    const double mass = cell_mass(r, lv, i, c), per = r->par->tracer.tracer_mass;
    const int64_t n = draw(r, lv, i, c, mass);
    if (n == 0) return;
    s->ticket[s->n] = (struct part_ticket){.cell = part_cell_key(lv, i, c), .count = n};
    s->place[s->n].m = per > 0 ? per : mass;
    okey_cell_centre(lv->key[i], c, mesh_dx(r->mesh, lv->level), s->place[s->n].x);
    for (int d = r->mesh->ndim; d < 3; d++) s->place[s->n].x[d] = 0;
    s->n++;
}

static enum err fits(const struct tracer_run *r, double most)
{
    const double need = most * r->comm->node_size * (double)part_bytes(&r->parts->columns),
                 have = (double)mem_machine();
    if (need > have)
        FAIL(ERR_LIMIT,
             "tracer_mass=%g in &TRACER_PARAMS makes about %.3g tracers on each rank, and %.3g GiB "
             "of "
             "memory on each node; this one has %.3g: raise tracer_mass",
             r->par->tracer.tracer_mass, most, need / 0x1p30, have / 0x1p30);
    return OK;
}

void tracer_init(struct tracer_run *r, int64_t i, const double x[3], double m, int64_t id)
{
    struct parts *p = r->parts;
    for (int d = 0; d < 3; d++) p->x[d][i] = x[d], p->v[d][i] = 0;
    p->m[i] = m;
    p->id[i] = id;
    p->levelp[i] = r->mesh->levelmin;
    p->family[i] = FAM_GAS_TRACER;
    p->tag[i] = 0;
    p->host[i] = -1;
}

/* Appends the tracers of the listed cells. */
static int64_t append(struct tracer_run *r, const struct cells *s)
{
    int64_t n = 0;
    for (int64_t k = 0; k < s->n; k++) n += s->ticket[k].count;
    int64_t at = part_append(r->parts, n);
    for (int64_t k = 0; k < s->n; k++)
        for (int64_t i = 0; i < s->ticket[k].count; i++)
            tracer_init(r, at++, s->place[k].x, s->place[k].m, s->ticket[k].id + i);
    return n;
}

static enum err in_place(struct tracer_run *r, int64_t next, int64_t *n)
{
    double expected[2] = {0, 0};
    struct cells s = {0};
    each_leaf(r, count_leaf, expected);
    comm_max_f64(r->comm, &expected[1], 1);
    TRY(err_agree(r->comm, fits(r, expected[1])));
    s.ticket = mem_zero(sizeof *s.ticket * (size_t)expected[0] + 1, "tracers");
    s.place = mem_zero(sizeof *s.place * (size_t)expected[0] + 1, "tracers");
    each_leaf(r, list_leaf, &s);
    part_number(r->comm, s.n, s.ticket, next);
    *n = append(r, &s);
    FREE(s.ticket);
    FREE(s.place);
    return OK;
}

static bool is_in_place(const struct tracer_run *r)
{
    return strcmp(r->par->tracer.tracer_feed_fmt, "inplace") == 0;
}

enum err tracers_expect(struct tracer_run *r, double cells, double gas, double *n)
{
    const double per = r->par->tracer.tracer_mass;
    *n = per > 0 ? gas / per : cells;
    return is_in_place(r) ? OK : tracers_feed_count(r, n);
}

enum err tracers_place(struct tracer_run *r, int64_t *n)
{
    int64_t next = 0;
    TRY(part_next_id(r->parts, r->comm, "tracers cannot be placed", &next));
    *n = 0;
    TRY(is_in_place(r) ? in_place(r, next, n) : tracers_feed(r, next, n));
    comm_add_i64(r->comm, n, 1);
    part_redistribute(r->parts, r->mesh, r->comm, r->dom);
    return OK;
}
