/* halo/spread: distributes bodies over the ranks by a decomposition of its own, with equal
 * numbers of particles of dark matter: bodies read from files are on any rank, and those of a run
 * are balanced by other costs. Bodies are sent in batches, so that few are in memory twice. */
#include <string.h>

#include "halo/halo_priv.h"

enum { LEVEL = 19, SAMPLES = 8192, TURNS = 32, TURN = 8192 };

static okey key_of(const double x[3])
{
    uint64_t at[3];
    for (int k = 0; k < 3; k++) {
        double cell = x[k] * (double)(1l << (LEVEL - 1));
        at[k] = (uint64_t)fmin(fmax(cell, 0), (double)((1l << (LEVEL - 1)) - 1));
    }
    return okey_make(at[0], at[1], at[2]);
}

int64_t halo_turns(const struct comm *c, int64_t n)
{
    int64_t turns = n / TURN + 1;
    comm_max_i64(c, &turns, 1);
    return turns < TURNS ? turns : TURNS;
}

/* Makes the decomposition from a sample of the bodies. */
static void make_domain(struct halo_space *s, const struct halo_set *q)
{
    bool bounded[6];
    for (int k = 0; k < 6; k++) bounded[k] = !s->periodic[k / 2];
    struct domain *uniform = domain_new(DOMAIN_KSECTION, s->c->size, LEVEL, bounded);
    int64_t n = q->n, step = n / SAMPLES + 1, samples = (n + step - 1) / step;
    int *level = mem_new(sizeof *level * (size_t)samples + 1, "halos: samples");
    okey *key = mem_new(sizeof *key * (size_t)samples + 1, "halos: samples");
    double *cost = mem_new(sizeof *cost * (size_t)samples + 1, "halos: samples");
    for (int64_t i = 0; i < samples; i++) {
        const int64_t at = i * step;
        level[i] = LEVEL;
        key[i] = key_of((double[3]){q->x[0][at], q->x[1][at], q->x[2][at]});
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

static struct halo_point body_of(const struct halo_set *s, int64_t i)
{
    struct halo_point b = {.x = {s->x[0][i], s->x[1][i], s->x[2][i]}, .m = s->m[i]};
    b.kind = s->others ? s->kind[i] : SPECIES_DM;
    for (int k = 0; k < 3 && !s->others; k++) b.v[k] = s->v[k][i];
    if (!s->others) b.id = s->id[i];
    return b;
}

/* Sends the last n bodies of a set to their ranks. */
static void send_turn(const struct halo_space *s, struct halo_set *set, int64_t n,
                      struct halo_points *to)
{
    struct halo_point *send = mem_new(sizeof *send * (size_t)n + 1, "halos: bodies");
    int *rank = mem_new(sizeof *rank * (size_t)n + 1, "halos: ranks");
    int64_t ngot;
    set->n -= n;
    for (int64_t i = 0; i < n; i++) {
        send[i] = body_of(set, set->n + i);
        rank[i] = domain_rank(s->domain, LEVEL, key_of(send[i].x));
    }
    if (n) halo_set_room(set, set->n);
    struct halo_point *got = comm_exchange_by(s->c, send, n, rank, sizeof *got, &ngot, NULL);
    FREE(send);
    FREE(rank);
    for (int64_t i = 0; i < ngot; i++) halo_points_add(to, &got[i]);
    FREE(got);
}

void halo_spread_set(const struct halo_space *s, struct halo_set *set)
{
    const bool others = set->others;
    struct halo_points to = {.bad = false};
    if (!s->domain) return;
    for (int64_t turn = halo_turns(s->c, set->n); turn > 0; turn--)
        send_turn(s, set, set->n / turn, &to);
    halo_set_free(set);
    *set = others ? to.others : to.dark;
    set->others = others;
}

void halo_spread(struct halo_space *s, struct halo_set *dark)
{
    if (s->c->size > 1) {
        make_domain(s, dark);
        halo_spread_set(s, dark);
    }
    for (int k = 0; k < 3; k++) s->lo[k] = INFINITY, s->hi[k] = -INFINITY;
    for (int64_t i = 0; i < dark->n; i++)
        for (int k = 0; k < 3; k++) {
            const double x = dark->x[k][i]; /* no NaN, so that no call is needed */
            if (x < s->lo[k]) s->lo[k] = x;
            if (x > s->hi[k]) s->hi[k] = x;
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
    MEM_ROOM(l->rank, l->n, l->cap, 8, "halos: ranks");
    for (int k = l->n++; k > at; k--) l->rank[k] = l->rank[k - 1];
    l->rank[at] = rank;
}

/* A sphere inside the bounding box of this rank's dark matter, which its domain contains, overlaps
 * no other rank. */
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
        bool meets = true;
        for (int k = 0; k < 3; k++) {
            int shift = image / (k == 0 ? 1 : k == 1 ? 3 : 9) % 3 - 1;
            y[k] = x[k] + shift;
            meets &= shift == 0 || (s->periodic[k] && y[k] + far >= 0 && y[k] - far <= 1);
        }
        if (!meets) continue;
        domain_ball(s->domain, y, radius * (1 + 1e-9), s->margin, scratch);
        for (int i = 0; i < scratch->n; i++)
            if (scratch->rank[i] != s->c->rank) add_rank(out, scratch->rank[i]);
    }
}

/* ---- requests ---- */

void *halo_ask(const struct comm *c, const struct halo_question *q, int64_t n, const void *item,
               const int *rank)
{
    int64_t *order = mem_new(sizeof *order * (size_t)n + 1, "halos: questions"), ngot, nback;
    struct comm_counts to = comm_counts_of(n, rank, order), from;
    char *send = mem_new(q->item * (size_t)n + 1, "halos: questions");
    for (int64_t i = 0; i < n; i++)
        memcpy(send + q->item * (size_t)i, (const char *)item + q->item * (size_t)order[i],
               q->item);
    char *got = comm_exchange(c, send, &to, q->item, &ngot, &from);
    FREE(send);
    char *reply = mem_zero(q->answer * (size_t)ngot + 1, "halos: answers");
    q->reply(q->ctx, ngot, got, reply);
    FREE(got);
    char *back = comm_exchange(c, reply, &from, q->answer, &nback, NULL);
    FREE(reply);
    BUG_ON(nback != n);
    char *answer = mem_new(q->answer * (size_t)n + 1, "halos: answers");
    for (int64_t i = 0; i < n; i++)
        memcpy(answer + q->answer * (size_t)order[i], back + q->answer * (size_t)i, q->answer);
    FREE(back);
    FREE(order);
    comm_counts_free(&to);
    comm_counts_free(&from);
    return answer;
}
