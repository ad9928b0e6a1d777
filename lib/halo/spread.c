/* halo/spread: which rank has which bodies. A decomposition of its own, balanced by numbers: bodies
 * that are read from files are anywhere, those of a run are balanced by other costs. */
#include "halo/halo_priv.h"

enum { LEVEL = 19, SAMPLES = 8192 };

static okey key_of(const double x[3])
{
    uint64_t at[3];
    for (int k = 0; k < 3; k++) {
        double cell = x[k] * (double)(1l << (LEVEL - 1));
        at[k] = (uint64_t)fmin(fmax(cell, 0), (double)((1l << (LEVEL - 1)) - 1));
    }
    return okey_make(at[0], at[1], at[2]);
}

static void make_domain(struct halo_space *s, int64_t n, const struct halo_body *body)
{
    bool bounded[6];
    for (int k = 0; k < 6; k++) bounded[k] = !s->periodic[k / 2];
    struct domain *uniform = domain_new(DOMAIN_KSECTION, s->c->size, LEVEL, bounded);
    int64_t step = n / SAMPLES + 1, samples = (n + step - 1) / step;
    int *level = mem_new(sizeof *level * (size_t)samples + 1, "halos: samples");
    okey *key = mem_new(sizeof *key * (size_t)samples + 1, "halos: samples");
    double *cost = mem_new(sizeof *cost * (size_t)samples + 1, "halos: samples");
    for (int64_t i = 0; i < samples; i++) {
        level[i] = LEVEL;
        key[i] = key_of(body[i * step].x);
        cost[i] = (double)step;
    }
    struct domain_load load = {.n = samples, .level = level, .key = key, .cost = cost};
    s->domain = domain_balance(uniform, DOMAIN_KSECTION, s->c, &load, NULL);
    s->margin = ldexp(1, 1 - LEVEL);
    FREE(level);
    FREE(key);
    FREE(cost);
    domain_free(uniform);
}

static void send_bodies(const struct halo_space *s, int64_t *n, struct halo_body **body)
{
    int *rank = mem_new(sizeof *rank * (size_t)*n + 1, "halos: ranks");
    int64_t *order = mem_new(sizeof *order * (size_t)*n + 1, "halos: ranks");
    for (int64_t i = 0; i < *n; i++) rank[i] = domain_rank(s->domain, LEVEL, key_of((*body)[i].x));
    struct comm_counts to = comm_counts_of(*n, rank, order);
    FREE(rank);
    struct halo_body *send = mem_new(sizeof *send * (size_t)*n + 1, "halos: bodies");
    for (int64_t i = 0; i < *n; i++) send[i] = (*body)[order[i]];
    FREE(order);
    FREE(*body);
    *body = comm_exchange(s->c, send, &to, sizeof *send, n, NULL);
    FREE(send);
    comm_counts_free(&to);
}

void halo_spread(struct halo_space *s, int64_t *n, struct halo_body **body)
{
    if (s->c->size > 1) {
        make_domain(s, *n, *body);
        send_bodies(s, n, body);
    }
    for (int k = 0; k < 3; k++) s->lo[k] = INFINITY, s->hi[k] = -INFINITY;
    for (int64_t i = 0; i < *n; i++)
        for (int k = 0; k < 3; k++) {
            s->lo[k] = fmin(s->lo[k], (*body)[i].x[k]);
            s->hi[k] = fmax(s->hi[k], (*body)[i].x[k]);
        }
}

void halo_space_free(struct halo_space *s)
{
    if (s->domain) domain_free(s->domain);
    s->domain = NULL;
}

static void add_rank(struct rank_list *l, int rank)
{
    int at = l->n;
    while (at > 0 && l->rank[at - 1] >= rank) at--;
    if (at < l->n && l->rank[at] == rank) return;
    if (l->n == l->cap) {
        l->cap = 2 * l->cap + 8;
        l->rank = mem_grow(l->rank, sizeof *l->rank * (size_t)l->cap, "halos: ranks");
    }
    for (int k = l->n++; k > at; k--) l->rank[k] = l->rank[k - 1];
    l->rank[at] = rank;
}

/* A ball within the box around this rank's bodies, which its domain contains, meets no other. */
void halo_ranks_near(const struct halo_space *s, const double x[3], double radius,
                     struct rank_list *out, struct rank_list *scratch)
{
    double far = radius + 2 * s->margin;
    bool inside = true;
    out->n = 0;
    for (int k = 0; k < 3; k++) inside &= x[k] - far >= s->lo[k] && x[k] + far <= s->hi[k];
    if (!s->domain || inside) return;
    for (int image = 0; image < 27; image++) {
        double y[3];
        bool there = true;
        for (int k = 0; k < 3; k++) {
            int shift = image / (k == 0 ? 1 : k == 1 ? 3 : 9) % 3 - 1;
            y[k] = x[k] + shift;
            there &= shift == 0 || (s->periodic[k] && y[k] + far >= 0 && y[k] - far <= 1);
        }
        if (!there) continue;
        domain_ball(s->domain, y, radius * (1 + 1e-9), s->margin, scratch);
        for (int i = 0; i < scratch->n; i++)
            if (scratch->rank[i] != s->c->rank) add_rank(out, scratch->rank[i]);
    }
}
