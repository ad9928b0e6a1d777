/* halo: see halo.h. The sequence of steps. */
#include "halo/halo.h"

#include <stdlib.h>

#include "base/mem.h"
#include "halo/halo_priv.h"

const char *const HALO_SPHERE_NAME[HALO_SPHERES] = {"200c", "200m", "vir", "500c"};

/* Data of a rank's search for halos. */
struct search {
    struct halo_space space;
    const struct halo_par *par;
    struct halo_list *list;
    struct halo_points *points;
    int64_t nfound;
    struct halo *found;
};

/* ---- checks ---- */

static enum err refuse_body(const struct halo_point *b)
{
    FAIL(ERR_PARAM,
         "%s %ld at %g %g %g of the box has the mass %g and the velocity %g %g %g, but position, "
         "mass and velocity must be finite: see inspect -cc",
         b->kind == SPECIES_GAS ? "a cell of gas, number" : "particle", (long)b->id, b->x[0],
         b->x[1], b->x[2], b->m, b->v[0], b->v[1], b->v[2]);
}

static enum err check_set(const struct halo_par *p, const struct halo_set *s)
{
    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < s->n && p->periodic[k]; i++) {
            if (s->x[k][i] >= 0 && s->x[k][i] < 1) continue;
            struct halo_point b = {.x = {s->x[0][i], s->x[1][i], s->x[2][i]}, .m = s->m[i]};
            b.kind = s->others ? s->kind[i] : SPECIES_DM;
            b.id = s->others ? 0 : s->id[i];
            return refuse_body(&b);
        }
    return OK;
}

static enum err check_bodies(const struct halo_par *p, const struct halo_points *b)
{
    if (b->bad) return refuse_body(&b->wrong);
    TRY(check_set(p, &b->dark));
    return check_set(p, &b->others);
}

/* Finds the total masses of all ranks, and the linking length: a fraction of the mean separation of
 * particles if all had the lowest mass. */
static void find_scales(struct search *q)
{
    struct halo_list *l = q->list;
    const struct halo_set *dark = &q->points->dark, *others = &q->points->others;
    struct sum mass[2]; /* masses of all bodies, of dark matter */
    double min = INFINITY;
    sum_init(&mass[0]);
    sum_init(&mass[1]);
    sum_add_many(&mass[1], dark->n, dark->m);
    for (int64_t i = 0; i < dark->n; i++)
        if (dark->m[i] > 0 && dark->m[i] < min) min = dark->m[i];
    sum_join(&mass[0], &mass[1]);
    l->points[SPECIES_DM] = dark->n;
    l->points[SPECIES_GAS] = q->points->cells.leaves;
    sum_add_many(&mass[0], others->n, others->m);
    sum_add_many(&mass[0], 8 * q->points->cells.n, (const double *)q->points->cells.m);
    for (int64_t i = 0; i < others->n; i++) l->points[others->kind[i]]++;
    comm_sums(q->space.c, mass, 2);
    comm_min_f64(q->space.c, &min, 1);
    comm_add_i64(q->space.c, l->points, SPECIES_COUNT);
    bool given = q->par->lightest > 0;
    double dark_mass = given ? q->par->dark : sum_get(&mass[1]), all = sum_get(&mass[0]);
    l->lightest = q->space.lightest = given ? q->par->lightest : min;
    l->mean = q->par->mean > 0 ? q->par->mean : all;
    q->space.quantum = all > 0 ? ldexp(1, ilogb(all) - 120) : 1;
    for (int k = 0; k < HALO_SPHERES; k++) q->space.density[k] = q->par->over[k] * l->mean;
    l->link = q->par->link;
    if (!(l->link > 0)) l->link = dark_mass > 0 ? q->par->part * cbrt(l->lightest / dark_mass) : 0;
}

/* ---- the list ---- */

static int compare_halos(const void *a, const void *b)
{
    const struct halo *p = a, *q = b;
    if (p->mass != q->mass) return p->mass > q->mass ? -1 : 1;
    if (p->number != q->number) return p->number > q->number ? -1 : 1;
    if (p->id != q->id) return p->id < q->id ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (p->x[k] != q->x[k]) return p->x[k] < q->x[k] ? -1 : 1;
    return 0;
}

struct numbered {
    int64_t index, halo;
};

static void answer_numbers(void *ctx, int64_t n, const void *item, void *answer)
{
    const int64_t *index = item, *position = ctx;
    int64_t *a = answer;
    for (int64_t i = 0; i < n; i++) a[i] = position[index[i]];
}

/* Sends the position of each halo in the list to the rank that has measured it, for its tracers,
 * and from there to those that have members. */
static void number_halos(struct search *q)
{
    struct halo_list *l = q->list;
    const struct comm *c = q->space.c;
    int64_t ngot;
    int *rank = mem_new(sizeof *rank * (size_t)(l->n + l->nids) + 1, "halos: numbers");
    struct numbered *send = mem_new(sizeof *send * (size_t)l->n + 1, "halos: numbers");
    for (int64_t i = 0; i < l->n; i++) {
        rank[i] = l->at[i].owner;
        send[i] = (struct numbered){l->at[i].index, i};
    }
    struct numbered *got = comm_exchange_by(c, send, l->n, rank, sizeof *got, &ngot, NULL);
    FREE(send);
    int64_t *position = mem_new(sizeof *position * (size_t)(ngot + l->nids) + 1, "halos: numbers");
    int64_t *index = position + ngot;
    for (int64_t i = 0; i < ngot; i++) position[got[i].index] = got[i].halo;
    FREE(got);
    for (int64_t i = 0; i < l->ntracers; i++) l->tracer[i].halo = position[l->tracer[i].halo];
    for (int64_t i = 0; i < l->nids; i++) {
        rank[i] = l->ids[i].owner;
        index[i] = l->ids[i].index;
    }
    struct halo_question ask = {sizeof *index, sizeof *index, answer_numbers, position};
    int64_t *halo = halo_ask(c, &ask, l->nids, index, rank);
    for (int64_t i = 0; i < l->nids; i++) l->ids[i].halo = halo[i];
    FREE(halo);
    FREE(position);
    FREE(rank);
}

static void gather_halos(struct search *q)
{
    struct halo_list *l = q->list;
    l->at = comm_exchange_root(q->space.c, q->found, q->nfound, sizeof *l->at, &l->n);
    mem_sort(l->at, (size_t)l->n, sizeof *l->at, compare_halos);
    for (int64_t i = 0; i < l->n; i++) l->grouped += l->at[i].number;
    if (q->par->members || q->par->tracers) number_halos(q);
}

MEM_ORDER_OF(compare_ids, int64_t)

static void keep_members(const struct halo_groups *g, struct halo_list *l)
{
    int64_t n = 0;
    for (int64_t k = 0; k < g->nparts; k++) n += g->parts[k].n;
    l->nids = g->nparts;
    l->ids = mem_new(sizeof *l->ids * (size_t)g->nparts + 1, "halos: ids");
    l->member = mem_new(sizeof *l->member * (size_t)n + 1, "halos: ids");
    for (int64_t i = 0; i < n; i++) l->member[i] = g->dark->id[g->member[i]];
    for (int64_t k = 0; k < g->nparts; k++) {
        const struct halo_part *p = &g->parts[k];
        l->ids[k] = (struct halo_ids){p->owner, p->index, p->first, p->n, -1};
        mem_sort(l->member + p->first, (size_t)p->n, sizeof *l->member, compare_ids);
    }
}

/* ---- sequence of steps ---- */

static enum err measure(struct search *q, struct halo_groups *g)
{
    struct halo_trees t = {.set = {&q->points->dark}, .tree = {g->tree}};
    struct halo_nearby near;
    const struct halo_space *s = &q->space;
    q->nfound = g->n;
    q->found = mem_new(sizeof *q->found * (size_t)g->n + 1, "halos");
    struct halo_tracers tracers = {.want = q->par->tracers};
    halo_measure_members(s, q->par->centre, g, q->found, &tracers);
    q->list->tracer = tracers.at;
    q->list->ntracers = tracers.n;
    if (q->par->members) keep_members(g, q->list);
    FREE(g->part);
    FREE(g->member);
    FREE(g->parts);
    halo_nearby_init(&near, q->points);
    enum err err = halo_measure_spheres(s, &near, &t, q->nfound, q->found);
    if (err == OK) halo_measure_inside(s, &t, q->nfound, q->found);
    tree_free(&t.tree[1]);
    halo_nearby_fini(&near);
    return err;
}

enum err halo_find(const struct comm *c, const struct halo_par *p, struct halo_points *b,
                   struct halo_list *out)
{
    struct search q = {.space = {.c = c}, .par = p, .list = out, .points = b};
    struct halo_groups g = {.tree = NULL};
    *out = (struct halo_list){.centre = p->centre};
    for (int k = 0; k < 3; k++) q.space.periodic[k] = p->periodic[k];
    q.space.gravity = p->gravity;
    q.space.exact = p->exact > 0 ? p->exact : 4096;
    enum err err = err_agree(c, check_bodies(p, b));
    if (err == OK) {
        find_scales(&q);
        halo_spread(&q.space, &b->dark);
        err = halo_groups(&q.space, out->link, p->min, &b->dark, &g);
    }
    if (err == OK) err = measure(&q, &g);
    halo_groups_free(&g);
    if (err == OK) gather_halos(&q);
    if (err != OK) halo_list_free(out);
    FREE(q.found);
    halo_points_free(b);
    halo_space_free(&q.space);
    return err;
}

void halo_list_free(struct halo_list *l)
{
    FREE(l->at);
    FREE(l->member);
    FREE(l->ids);
    FREE(l->tracer);
}

/* ---- densities ---- */

void halo_densities(double omega_m, double omega_l, double omega_k, double aexp,
                    double over_mean[HALO_SPHERES])
{
    double z1 = 1 / aexp, matter = omega_m * z1 * z1 * z1;
    double e2 = matter + omega_k * z1 * z1 + omega_l, omega = matter / e2, x = omega - 1;
    /* Bryan & Norman 1998, eq. 6: flat universes, and open universes without Λ */
    double vir = omega_l > 0 ? 18 * M_PI * M_PI + 82 * x - 39 * x * x
                             : 18 * M_PI * M_PI + 60 * x - 32 * x * x;
    over_mean[HALO_200C] = 200 / omega;
    over_mean[HALO_200M] = 200;
    over_mean[HALO_VIR] = vir / omega;
    over_mean[HALO_500C] = 500 / omega;
}
