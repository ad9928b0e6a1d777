/* halo: see halo.h. The order of the work. */
#include "halo/halo.h"

#include <stdlib.h>
#include <string.h>

#include "halo/halo_priv.h"

enum { MEMBERS = 1 << 20 }; /* ids that rank 0 receives at a time */

const char *const HALO_SPHERE_NAME[HALO_SPHERES] = {"200c", "200m", "vir", "500c"};

/* What a rank works with. */
struct search {
    struct halo_space space;
    const struct halo_par *par;
    struct halo_list *list;
    int64_t n;
    struct halo_body *body;
    int64_t nfound;
    struct halo *found;
};

/* ---- checks ---- */

static enum err check_bodies(const struct halo_par *p, int64_t n, const struct halo_body *body)
{
    for (int64_t i = 0; i < n; i++) {
        const struct halo_body *b = &body[i];
        bool good = b->m >= 0 && isfinite(b->m);
        for (int k = 0; k < 3; k++) {
            good &= isfinite(b->x[k]) && isfinite(b->v[k]);
            if (p->periodic[k]) good &= b->x[k] >= 0 && b->x[k] < 1;
        }
        if (!good)
            FAIL(ERR_PARAM,
                 "%s %ld at %g %g %g of the box has the mass %g and the velocity %g %g %g, which "
                 "must be finite, as must its place: see inspect -cc",
                 b->kind == HALO_GAS ? "a cell of gas, number" : "particle", (long)b->id, b->x[0],
                 b->x[1], b->x[2], b->m, b->v[0], b->v[1], b->v[2]);
    }
    return OK;
}

/* Masses of all ranks, and the link: a part of the mean separation of particles that all have the
 * lightest mass. */
static void find_scales(struct search *q)
{
    struct halo_list *l = q->list;
    struct sum mass[2]; /* all, dark matter */
    double least = INFINITY;
    sum_init(&mass[0]);
    sum_init(&mass[1]);
    for (int64_t i = 0; i < q->n; i++) {
        const struct halo_body *b = &q->body[i];
        l->bodies[b->kind]++;
        sum_add(&mass[0], b->m);
        if (b->kind != HALO_DM) continue;
        sum_add(&mass[1], b->m);
        if (b->m > 0) least = fmin(least, b->m);
    }
    comm_sums(q->space.c, mass, 2);
    comm_min_f64(q->space.c, &least, 1);
    comm_add_i64(q->space.c, l->bodies, HALO_KINDS);
    bool given = q->par->lightest > 0;
    double dark = given ? q->par->dark : sum_get(&mass[1]);
    l->lightest = q->space.lightest = given ? q->par->lightest : least;
    l->mean = q->par->mean > 0 ? q->par->mean : sum_get(&mass[0]);
    for (int k = 0; k < HALO_SPHERES; k++) q->space.density[k] = q->par->over[k] * l->mean;
    l->link = q->par->link;
    if (!(l->link > 0)) l->link = dark > 0 ? q->par->part * cbrt(l->lightest / dark) : 0;
}

/* ---- groups ---- */

/* The label of the group of each body; −1: it is no dark matter. */
static enum err label_bodies(struct search *q, int64_t **out)
{
    int64_t n = 0, *label = mem_new(sizeof *label * (size_t)q->n + 1, "halos: labels");
    double *x[3];
    for (int64_t i = 0; i < q->n; i++) n += q->body[i].kind == HALO_DM;
    for (int k = 0; k < 3; k++) {
        x[k] = mem_new(sizeof *x[k] * (size_t)n + 1, "halos: points");
        for (int64_t i = 0, at = 0; i < q->n; i++)
            if (q->body[i].kind == HALO_DM) x[k][at++] = q->body[i].x[k];
    }
    enum err err = halo_groups(&q->space, n, (const double *const *)x, q->list->link, label);
    for (int k = 0; k < 3; k++) FREE(x[k]);
    for (int64_t i = q->n - 1, at = n; i >= 0 && err == OK; i--)
        label[i] = q->body[i].kind == HALO_DM ? label[--at] : -1;
    *out = label;
    return err;
}

/* Members of groups that other ranks label, sent to these; returns those received. */
static struct halo_part *send_members(const struct search *q, const int64_t *label, int64_t *ngot)
{
    int64_t n = 0;
    for (int64_t i = 0; i < q->n; i++) n += label[i] >= 0 && label[i] >> 32 != q->space.c->rank;
    struct halo_part *away = mem_new(sizeof *away * (size_t)n + 1, "halos: members");
    int *rank = mem_new(sizeof *rank * (size_t)n + 1, "halos: members");
    n = 0;
    for (int64_t i = 0; i < q->n; i++)
        if (label[i] >= 0 && label[i] >> 32 != q->space.c->rank) {
            rank[n] = (int)(label[i] >> 32);
            away[n++] = (struct halo_part){label[i], q->body[i]};
        }
    struct halo_part *got = comm_exchange_by(q->space.c, away, n, rank, sizeof *got, ngot, NULL);
    FREE(away);
    FREE(rank);
    return got;
}

/* Members of the groups of this rank that have enough, by group and id. */
static struct halo_part *gather_members(const struct search *q, const int64_t *label, int64_t *n)
{
    int64_t ngot, me = q->space.c->rank;
    struct halo_part *got = send_members(q, label, &ngot);
    int32_t *count = mem_zero(sizeof *count * (size_t)q->n + 1, "halos: counts");
    for (int64_t i = 0; i < q->n; i++)
        if (label[i] >= 0 && label[i] >> 32 == me) count[label[i] & UINT32_MAX]++;
    for (int64_t i = 0; i < ngot; i++) count[got[i].group & UINT32_MAX]++;
    *n = 0;
    for (int64_t i = 0; i < q->n; i++) *n += count[i] >= q->par->least ? count[i] : 0;
    struct halo_part *part = mem_new(sizeof *part * (size_t)*n + 1, "halos: members");
    *n = 0;
    for (int64_t i = 0; i < q->n; i++)
        if (label[i] >= 0 && label[i] >> 32 == me && count[label[i] & UINT32_MAX] >= q->par->least)
            part[(*n)++] = (struct halo_part){label[i], q->body[i]};
    for (int64_t i = 0; i < ngot; i++)
        if (count[got[i].group & UINT32_MAX] >= q->par->least) part[(*n)++] = got[i];
    FREE(count);
    FREE(got);
    halo_sort_parts(*n, part);
    return part;
}

static enum err measure_groups(struct search *q, int64_t n, const struct halo_part *part)
{
    enum err err = OK;
    int64_t cap = 0;
    for (int64_t i = 0, end; i < n && err == OK; i = end) {
        for (end = i + 1; end < n && part[end].group == part[i].group; end++)
            ;
        if (q->nfound == cap) {
            cap = 2 * cap + 64;
            q->found = mem_grow(q->found, sizeof *q->found * (size_t)cap, "halos");
        }
        struct halo *h = &q->found[q->nfound++];
        err = halo_measure_members(&q->space, end - i, part + i, h);
        h->owner = q->space.c->rank;
        h->first = i;
    }
    if (q->par->members) {
        q->list->nmember = n;
        q->list->member = mem_new(sizeof *q->list->member * (size_t)n + 1, "halos: ids");
        for (int64_t i = 0; i < n; i++) q->list->member[i] = part[i].b.id;
    }
    return err;
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

static void gather_halos(struct search *q)
{
    struct halo_list *l = q->list;
    l->at = comm_exchange_root(q->space.c, q->found, q->nfound, sizeof *l->at, &l->n);
    qsort(l->at, (size_t)l->n, sizeof *l->at, compare_halos);
    for (int64_t i = 0; i < l->n; i++) l->grouped += l->at[i].number;
}

static enum err find_groups(struct search *q)
{
    int64_t *label = NULL, n = 0;
    enum err err = label_bodies(q, &label);
    if (err == OK) {
        struct halo_part *part = gather_members(q, label, &n);
        FREE(label);
        err = err_agree(q->space.c, measure_groups(q, n, part));
        FREE(part);
    }
    FREE(label);
    return err;
}

enum err halo_find(const struct comm *c, const struct halo_par *p, int64_t n,
                   struct halo_body **body, struct halo_list *out)
{
    struct search q = {.space = {.c = c}, .par = p, .list = out, .n = n, .body = *body};
    *out = (struct halo_list){0};
    *body = NULL;
    for (int k = 0; k < 3; k++) q.space.periodic[k] = p->periodic[k];
    enum err err = err_agree(c, check_bodies(p, n, q.body));
    if (err == OK) {
        find_scales(&q);
        halo_spread(&q.space, &q.n, &q.body);
        err = find_groups(&q);
    }
    if (err == OK) err = halo_spheres(&q.space, p->gravity, q.n, q.body, q.nfound, q.found);
    if (err == OK) gather_halos(&q);
    FREE(q.found);
    FREE(q.body);
    halo_space_free(&q.space);
    return err;
}

void halo_list_free(struct halo_list *l)
{
    FREE(l->at);
    FREE(l->member);
}

/* ---- members ---- */

struct slot {
    int64_t halo, first, number; /* a request; an answer: halo, id */
};

static int compare_slots(const void *a, const void *b)
{
    const struct slot *p = a, *q = b;
    if (p->halo != q->halo) return p->halo < q->halo ? -1 : 1;
    return p->first < q->first ? -1 : p->first > q->first;
}

/* Rank 0 asks the owners of halos first..end-1 for their members. */
static struct slot *ask_members(const struct comm *c, const struct halo_list *l, int64_t first,
                                int64_t end, int64_t *n)
{
    int64_t ask = c->rank == 0 ? end - first : 0, got, total = 0;
    int *rank = mem_new(sizeof *rank * (size_t)ask + 1, "halos: ids");
    struct slot *send = mem_new(sizeof *send * (size_t)ask + 1, "halos: ids");
    for (int64_t i = 0; i < ask; i++) {
        const struct halo *h = &l->at[first + i];
        rank[i] = h->owner;
        send[i] = (struct slot){first + i, h->first, h->number};
    }
    struct slot *asked = comm_exchange_by(c, send, ask, rank, sizeof *send, &got, NULL);
    for (int64_t i = 0; i < got; i++) total += asked[i].number;
    struct slot *reply = mem_new(sizeof *reply * (size_t)total + 1, "halos: ids");
    int64_t at = 0;
    for (int64_t i = 0; i < got; i++)
        for (int64_t k = 0; k < asked[i].number; k++)
            reply[at++] = (struct slot){asked[i].halo, l->member[asked[i].first + k], 0};
    struct slot *all = comm_exchange_root(c, reply, total, sizeof *all, n);
    FREE(reply);
    FREE(asked);
    FREE(send);
    FREE(rank);
    return all;
}

static enum err pass_members(int64_t n, const struct slot *s, int64_t *id, halo_member *fn,
                             void *ctx)
{
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && s[end].halo == s[i].halo; end++) id[end - i] = s[end].first;
        TRY(fn(s[i].halo, end - i, id, ctx));
    }
    return OK;
}

enum err halo_each_member(const struct comm *c, const struct halo_list *l, halo_member *fn,
                          void *ctx)
{
    enum err err = OK;
    int64_t more = 1, total = c->rank == 0 ? l->n : 0;
    for (int64_t first = 0, end; more; first = end) {
        int64_t n = 0, ids = 0;
        for (end = first; end < total && (end == first || ids < MEMBERS); end++)
            ids += l->at[end].number;
        struct slot *s = ask_members(c, l, first, end, &n);
        int64_t *id = mem_new(sizeof *id * (size_t)n + 1, "halos: ids");
        qsort(s, (size_t)n, sizeof *s, compare_slots);
        if (err == OK) err = pass_members(n, s, id, fn, ctx);
        FREE(id);
        FREE(s);
        more = end < total;
        comm_max_i64(c, &more, 1);
    }
    return err_agree(c, err);
}

/* ---- densities ---- */

void halo_densities(double omega_m, double omega_l, double omega_k, double aexp,
                    double over_mean[HALO_SPHERES])
{
    double z1 = 1 / aexp, matter = omega_m * z1 * z1 * z1;
    double e2 = matter + omega_k * z1 * z1 + omega_l, omega = matter / e2, x = omega - 1;
    /* Bryan & Norman 1998, eq. 6: of flat universes, and of open ones without Λ */
    double vir = omega_l > 0 ? 18 * M_PI * M_PI + 82 * x - 39 * x * x
                             : 18 * M_PI * M_PI + 60 * x - 32 * x * x;
    over_mean[HALO_200C] = 200 / omega;
    over_mean[HALO_200M] = 200;
    over_mean[HALO_VIR] = vir / omega;
    over_mean[HALO_500C] = 500 / omega;
}
