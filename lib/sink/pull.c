#include "sink/pull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"

MEM_ORDER(by_id, struct sink_pull, id)

void sink_pulls_gather(const struct sink_context *p, const struct sinks *s, struct sink_pulls *out)
{
    int64_t all = 0, n = 0;
    for (int64_t i = 0; i < s->n; i++) all += s->at[i].direct && s->at[i].m > 0;
    int64_t mine = all;
    comm_add_i64(p->comm, &all, 1);
    *out = (struct sink_pulls){all, mem_new(sizeof *out->at * (size_t)(all + mine) + 1, "sinks")};
    for (int64_t i = 0; i < s->n; i++) {
        const struct sink *a = &s->at[i];
        if (!a->direct || !(a->m > 0)) continue;
        struct sink_pull *k = &out->at[n++];
        *k = (struct sink_pull){
            .id = a->id, .home = p->comm->rank, .number = i, .m = a->m, .near = a->near};
        memcpy(k->x, a->x, sizeof k->x);
    }
    if (all) comm_union(p->comm, mine, all, sizeof *out->at, out->at, 0, NULL);
    mem_sort(out->at, (size_t)all, sizeof *out->at, by_id);
}

/* 1 / (ε² + r²)^(3/2) */
static double plummer(double soft, double r2)
{
    double u = soft * soft + r2;
    return 1 / (u * sqrt(u));
}

/* Force of one sink on the cells of octs, the reaction on the sink, and min r². */
struct draw {
    struct sum f[3];
    double nearest;
};

static void draw_oct(const struct sink_context *p, const struct sink_pull *k,
                     const struct sink_softening *soft, int l, lidx i, struct draw *o)
{
    const struct level *lv = &p->mesh->lev[l];
    double dx = mesh_dx(p->mesh, l), volume = dx * dx * dx, f[3] = {0};
    for (int c = 0; c < 8; c++) {
        double x[3], r[3], r2 = 0;
        okey_cell_centre(lv->key[i], c, dx, x);
        sink_between(p->mesh, x, k->x, r);
        for (int d = 0; d < 3; d++) r2 += r[d] * r[d];
        double w = plummer(soft->length, r2);
        for (int d = 0; d < 3; d++) level_force(lv, d)[i][c] += soft->G * k->m * (w * r[d]);
        o->nearest = i < lv->nown ? fmin(o->nearest, r2) : o->nearest;
        if (lv->child[i][c] >= 0) continue;
        double mass = level_rho(lv)[i][c] * volume;
        for (int d = 0; d < 3; d++) f[d] -= soft->G * mass * (w * r[d]);
    }
    for (int d = 0; d < 3 && i < lv->nown; d++) sum_add(&o->f[d], f[d]);
}

static void draw_level(const struct sink_context *p, const struct sink_pull *k,
                       const struct sink_softening *soft, int l, bool ghosts, struct draw *all)
{
    const struct level *lv = &p->mesh->lev[l];
    lidx n = ghosts ? lv->noct : lv->nown;
#pragma omp parallel
    {
        struct draw o = {.nearest = all->nearest};
        for (int d = 0; d < 3; d++) sum_init(&o.f[d]);
#pragma omp for schedule(static)
        for (lidx i = 0; i < n; i++) draw_oct(p, k, soft, l, i, &o);
#pragma omp critical
        {
            for (int d = 0; d < 3; d++) sum_join(&all->f[d], &o.f[d]);
            all->nearest = fmin(all->nearest, o.nearest);
        }
    }
}

double sink_pull_cells(const struct sink_context *p, const struct sink_pulls *all,
                       const struct sink_softening *soft, int l, bool ghosts, struct sinks *s)
{
    const double SPHERE = 4. / 3 * (0.5 * RAMSES_TWOPI);
    double dense = 0;
    struct sum *f = mem_new(sizeof *f * 3 * (size_t)all->n + 1, "sinks");
    for (int64_t i = 0; i < all->n; i++) {
        const struct sink_pull *k = &all->at[i];
        struct draw o = {.nearest = p->mesh->boxlen * p->mesh->boxlen};
        for (int d = 0; d < 3; d++) sum_init(&o.f[d]);
        draw_level(p, k, soft, l, ghosts, &o);
        for (int d = 0; d < 3; d++) f[3 * i + d] = o.f[d];
        double r = fmax(soft->length, sqrt(o.nearest));
        dense = fmax(dense, fmax(k->m, k->near) / (SPHERE * r * r * r));
    }
    if (all->n) comm_sums(p->comm, f, (int)(3 * all->n));
    for (int64_t i = 0; i < all->n; i++)
        for (int d = 0; d < 3 && all->at[i].home == p->comm->rank; d++)
            s->at[all->at[i].number].force[l][d] = sum_get(&f[3 * i + d]);
    FREE(f);
    return dense;
}

void sink_pull_sink(const struct mesh *m, const struct sink_pulls *all,
                    const struct sink_softening *soft, const struct sink *s, double f[3])
{
    for (int64_t i = 0; i < all->n; i++) {
        double r[3], r2 = 0;
        sink_between(m, s->x, all->at[i].x, r);
        for (int d = 0; d < 3; d++) r2 += r[d] * r[d];
        double w = soft->G * all->at[i].m * plummer(soft->length, r2);
        for (int d = 0; d < 3; d++) f[d] += w * r[d];
    }
}
