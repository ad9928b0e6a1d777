/* Laws of swarms (lib/swarm), for uniform and clustered particles, in a periodic box and without
 * one: after a move or a balance each particle exists once, with its columns, at the owner of its
 * position; ghosts are those that brute force finds to be within reach, and few others, with the
 * bits of their owners; the frame of an open swarm is that of one rank with all particles. Catches:
 * a row that is lost when more particles leave than arrive, a column that stays behind, a ghost
 * that is missed across a boundary or because only its own reach is large, a frame that knows the
 * past or the ranks, a column that gets the bytes of another.
 *
 * test: tier=quick mpi=1,3
 * test: tier=check mpi=2,5,8 */
#include "mpicount.h"

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "swarm/priv.h"

enum { N = 2400, X0 = 0, Y0, Z0, ID, PAYLOAD, TAG, REACH, SCRATCH, COLUMNS };
enum place { UNIFORM, CLUSTERS, ONE_PLACE, ESCAPER, PLACES };

static struct comm c;

/* The particles of this rank. */
struct rows {
    double *x[3], *payload, *reach, *scratch;
    int64_t *id, room;
    int8_t *tag;
};

/* Place and reach of a particle, which all ranks know. */
struct truth {
    double x[3], reach;
};

static struct truth *all;
static int64_t total;

static double payload_of(int64_t id, int turn)
{
    return (double)(rng_mix((uint64_t)id * 31 + (uint64_t)turn) >> 11);
}

static void reserve(void *owner, int64_t rows)
{
    struct rows *r = owner;
    if (rows <= r->room) return;
    size_t n = (size_t)(r->room = rows + rows / 8);
    for (int a = 0; a < 3; a++) r->x[a] = mem_grow(r->x[a], 8 * n, "test");
    r->payload = mem_grow(r->payload, 8 * n, "test");
    r->reach = mem_grow(r->reach, 8 * n, "test");
    r->scratch = mem_grow(r->scratch, 8 * n, "test");
    r->id = mem_grow(r->id, 8 * n, "test");
    r->tag = mem_grow(r->tag, n, "test");
}

static void rows_free(struct rows *r)
{
    for (int a = 0; a < 3; a++) FREE(r->x[a]);
    FREE(r->payload);
    FREE(r->reach);
    FREE(r->scratch);
    FREE(r->id);
    FREE(r->tag);
}

static void columns_add(struct swarm *s, struct rows *r)
{
    for (int a = 0; a < 3; a++) swarm_add(s, (void **)&r->x[a], 8, true);
    swarm_add(s, (void **)&r->id, 8, true);
    swarm_add(s, (void **)&r->payload, 8, true);
    swarm_add(s, (void **)&r->tag, 1, true);
    swarm_add(s, (void **)&r->reach, 8, true);
    swarm_add(s, (void **)&r->scratch, 8, false);
    s->x = r->x;
    s->reserve = reserve;
    s->owner = r;
}

/* ---- sets ---- */

/* In −0.5 … 0.5 mostly. Clusters are 1/r² spheres with reaches that follow the density. */
static struct truth particle(enum place place, int64_t id)
{
    struct rng g = rng_make(4711 + (uint64_t)place, (uint64_t)id, 0);
    struct truth p = {.reach = 0.16 + 0.01 * rng_uniform(&g)};
    for (int a = 0; a < 3; a++) p.x[a] = place == ONE_PLACE ? 0.25 : rng_uniform(&g) - 0.5;
    if (place == CLUSTERS && id % 4) {
        double r = pow(10, -4 * rng_uniform(&g)), v[3], len = 0;
        for (int a = 0; a < 3; a++) v[a] = rng_normal(&g), len += v[a] * v[a];
        for (int a = 0; a < 3; a++)
            p.x[a] = (id % 4 == 1 ? 0.4999 : -0.1 * a) + 0.2 * r * v[a] / sqrt(len);
        p.reach = 0.03 * r;
    } else if (place == CLUSTERS) {
        p.reach *= 0.75;
    }
    if (place == ESCAPER && id == 7) p.x[1] = 3e5;
    return p;
}

/* Rank `first` and every `step`-th after it share the particles at first. */
static void rows_start(struct swarm *s, struct rows *r, enum place place, int64_t n, int ranks)
{
    total = n;
    all = mem_grow(all, sizeof *all * (size_t)n + 1, "test");
    reserve(r, 1);
    for (int64_t id = 0; id < n; id++) {
        all[id] = particle(place, id);
        if ((int)(rng_mix((uint64_t)id) % (uint64_t)ranks) != c.rank) continue;
        reserve(r, s->n + 1);
        for (int a = 0; a < 3; a++) r->x[a][s->n] = all[id].x[a];
        r->id[s->n] = id;
        r->payload[s->n] = payload_of(id, 0);
        r->tag[s->n] = (int8_t)(id % 5);
        r->reach[s->n++] = all[id].reach;
    }
}

/* Moves all particles; large steps cross the box and domains. */
static void drift(struct swarm *s, struct rows *r, double far, int turn)
{
    double *step = mem_new(sizeof *step * 3 * (size_t)total + 1, "test");
    for (int64_t id = 0; id < total; id++) {
        struct rng g = rng_make(99, (uint64_t)id, (uint32_t)turn);
        for (int a = 0; a < 3; a++) {
            step[3 * id + a] = far * rng_normal(&g);
            all[id].x[a] += step[3 * id + a];
        }
    }
    for (int64_t i = 0; i < s->n; i++)
        for (int a = 0; a < 3; a++) r->x[a][i] += step[3 * r->id[i] + a];
    FREE(step);
}

/* ---- laws ---- */

struct seen {
    int64_t id;
    double x[3], payload, reach;
    int tag, rank;
};
MEM_ORDER(seen_order, struct seen, id)

/* All rows of all ranks by id; positions become the truth. */
static struct seen *see(const struct swarm *s, const struct rows *r)
{
    struct seen *v = mem_zero(sizeof *v * (size_t)(total + s->n + 1), "test");
    for (int64_t i = 0; i < s->n; i++)
        v[i] = (struct seen){.id = r->id[i],
                             .x = {r->x[0][i], r->x[1][i], r->x[2][i]},
                             .payload = r->payload[i],
                             .reach = r->reach[i],
                             .tag = r->tag[i],
                             .rank = c.rank};
    int64_t n = comm_union(&c, s->n, total, sizeof *v, v, 0, NULL);
    CHECK(n == total, "%lld of %lld particles", (long long)n, (long long)total);
    mem_sort(v, (size_t)(n < total ? n : total), sizeof *v, seen_order);
    return v;
}

static void check_particles(const struct swarm *s, const struct seen *v)
{
    int64_t wrong = 0, away = 0, outside = 0;
    for (int64_t i = 0; i < total; i++) {
        bool good = v[i].id == i && v[i].tag == i % 5 && v[i].reach == all[i].reach &&
                    v[i].payload == payload_of(i, 0);
        for (int a = 0; a < 3; a++) {
            double period = s->frame.period[a], d = v[i].x[a] - all[i].x[a];
            if (period > 0) d -= period * rint(d / period);
            good &= fabs(d) <= (period > 0 ? 1e-15 : 0);
            all[i].x[a] = v[i].x[a];
            outside += period > 0 && !(v[i].x[a] >= s->frame.lo[a] &&
                                       v[i].x[a] < s->frame.lo[a] + s->frame.side[a]);
        }
        wrong += !good;
        away += domain_rank(s->dom, SWARM_LEVEL, swarm_home(&s->plan->home, v[i].x)) != v[i].rank;
    }
    CHECK(wrong == 0, "%lld particles", (long long)wrong);
    CHECK(away == 0, "%lld particles", (long long)away);
    CHECK(outside == 0, "%lld positions", (long long)outside);
}

static bool within(const struct swarm *s, const struct truth *p, const struct truth *q)
{
    double sum = 0, reach = fmax(p->reach, q->reach);
    for (int a = 0; a < 3; a++) {
        double d = p->x[a] - q->x[a], period = s->frame.period[a];
        if (period > 0) d -= period * rint(d / period);
        sum += d * d;
    }
    return sum <= reach * reach;
}

/* Marks the particles that this rank has: 1 own, 2 ghost; counts those that it has not. */
static int64_t missing(const struct swarm *s, const struct rows *r, int64_t *needed)
{
    char *has = mem_zero((size_t)total + 1, "test");
    int64_t wrong = 0;
    for (int64_t i = 0; i < s->n + s->ghosts; i++) {
        wrong += has[r->id[i]] != 0;
        has[r->id[i]] = i < s->n ? 1 : 2;
    }
    CHECK(wrong == 0, "%lld particles twice", (long long)wrong);
    wrong = 0;
    for (int64_t b = 0; b < total; b++) {
        if (has[b] == 1) continue;
        bool need = false;
        for (int64_t i = 0; i < s->n && !need; i++) need = within(s, &all[r->id[i]], &all[b]);
        *needed += need;
        wrong += need && !has[b];
    }
    FREE(has);
    return wrong;
}

static void check_values(const struct swarm *s, const struct rows *r, int turn)
{
    int64_t wrong = 0;
    for (int64_t i = s->n; i < s->n + s->ghosts; i++) {
        int64_t id = r->id[i];
        bool good = r->payload[i] == payload_of(id, turn) && r->tag[i] == id % 5 &&
                    r->reach[i] == all[id].reach;
        for (int a = 0; a < 3; a++) good &= r->x[a][i] == all[id].x[a];
        wrong += !good;
    }
    CHECK(wrong == 0, "%lld ghosts", (long long)wrong);
}

static void check_ghosts(struct swarm *s, struct rows *r)
{
    const int which[] = {X0, TAG, Y0, Z0, ID, PAYLOAD, REACH}, later[] = {TAG, PAYLOAD};
    int64_t count[2] = {0, 0};
    int sends;
    enum err err = swarm_ghosts(s, r->reach, 7, which);
    CHECK(err == OK, "%s", err_message());
    int64_t miss = missing(s, r, &count[0]);
    CHECK(miss == 0, "%lld ghosts of %lld", (long long)miss, (long long)count[0]);
    check_values(s, r, 0);
    count[1] = s->ghosts;
    comm_add_i64(&c, count, 2);
    CHECK((double)count[1] <= 2.5 * (double)count[0] + 0.1 * (double)total,
          "%lld ghosts, %lld needed", (long long)count[1], (long long)count[0]);
    if (c.rank == 0)
        printf("  ghosts %lld, needed %lld\n", (long long)count[1], (long long)count[0]);

    for (int64_t i = 0; i < s->n; i++) r->payload[i] = payload_of(r->id[i], 1);
    mpicount_reset();
    swarm_fill(s, 2, later);
    sends = (int)mpicount.n[MPICOUNT_SENDS];
    CHECK(sends <= s->plan->npeer, "%d messages to %d peers", sends, s->plan->npeer);
    check_values(s, r, 1);
    for (int64_t i = 0; i < s->n; i++) r->payload[i] = payload_of(r->id[i], 0);
}

/* The frame is that of one rank with all particles, in any order. */
static void check_frame(const struct swarm *s)
{
    struct comm alone = {.rank = 0, .size = 1};
    struct rows r = {0};
    struct swarm one;
    swarm_init(&one, &alone, DOMAIN_KSECTION, NULL, NULL, false);
    columns_add(&one, &r);
    reserve(&r, total);
    for (int64_t i = 0; i < total; i++)
        for (int a = 0; a < 3; a++) r.x[a][i] = all[total - 1 - i].x[a];
    one.n = total;
    enum err err = swarm_move(&one);
    CHECK(err == OK, "%s", err_message());
    CHECK(memcmp(&one.frame, &s->frame, sizeof one.frame) == 0, "frame at %g of side %g, not %g %g",
          s->frame.lo[0], s->frame.side[0], one.frame.lo[0], one.frame.side[0]);
    int64_t outside = 0;
    for (int64_t i = 0; i < total; i++)
        for (int a = 0; a < 3; a++)
            outside += all[i].x[a] < s->frame.lo[a] ||
                       all[i].x[a] >= s->frame.lo[a] + s->frame.side[a];
    CHECK(outside <= total / 1000, "%lld coordinates", (long long)outside);
    swarm_fini(&one);
    rows_free(&r);
}

static void check_order(const struct swarm *s, const struct rows *r)
{
    int64_t wrong = 0;
    uint64_t last = 0;
    for (int64_t i = 0; i < s->n; i++) {
        uint64_t key = near_key(&s->frame, (double[3]){r->x[0][i], r->x[1][i], r->x[2][i]});
        wrong += key < last;
        last = key;
    }
    CHECK(wrong == 0, "%lld rows", (long long)wrong);
}

static void check_all(struct swarm *s, struct rows *r)
{
    struct seen *v = see(s, r);
    check_particles(s, v);
    FREE(v);
    if (s->open) check_frame(s);
    check_ghosts(s, r);
}

static void check_balance(struct swarm *s, struct rows *r, double limit)
{
    double *cost = mem_new(sizeof *cost * (size_t)s->n + 1, "test");
    for (int64_t i = 0; i < s->n; i++) cost[i] = 1 + (double)(r->id[i] % 3);
    enum err err = swarm_balance(s, cost);
    CHECK(err == OK, "%s", err_message());
    cost = mem_grow(cost, sizeof *cost * (size_t)s->n + 1, "test");
    for (int64_t i = 0; i < s->n; i++) cost[i] = 1 + (double)(r->id[i] % 3);
    double worst = swarm_imbalance(s, cost);
    CHECK(worst < limit, "imbalance %g", worst);
    FREE(cost);
    check_order(s, r);
}

struct world {
    enum domain_kind kind;
    bool periodic;
    enum place place;
    int64_t n;
    int ranks; /* that have particles at first */
};

static void test_swarm(struct world w)
{
    const double lo[3] = {-0.5, -0.5, -0.5}, side[3] = {1, 1, 1};
    struct swarm s;
    struct rows r = {0};
    if (c.rank == 0)
        printf("kind %d periodic %d place %d: %lld on %d\n", (int)w.kind, w.periodic, (int)w.place,
               (long long)w.n, w.ranks);
    swarm_init(&s, &c, w.kind, lo, side, w.periodic);
    columns_add(&s, &r);
    rows_start(&s, &r, w.place, w.n, w.ranks);
    for (int turn = 0; turn < 3; turn++) {
        enum err err = swarm_move(&s);
        CHECK(err == OK, "%s", err_message());
        check_all(&s, &r);
        if (turn == 1) {
            check_balance(&s, &r, w.n < N || w.place == ONE_PLACE ? HUGE_VAL : 1.1);
            check_all(&s, &r);
        }
        drift(&s, &r, w.place == ONE_PLACE ? 0 : turn ? 0.02 : w.periodic ? 1.5 : 0.3, turn);
    }
    swarm_fini(&s);
    rows_free(&r);
}

/* Positions on the sides of the box, next to them and far away. */
static void test_sides(void)
{
    const double lo[3] = {-0.7, 1, 1e5}, side[3] = {1.4, 3, 0.1};
    struct swarm s;
    struct rows r = {0};
    int64_t wrong = 0;
    swarm_init(&s, &c, DOMAIN_KSECTION, lo, side, true);
    columns_add(&s, &r);
    reserve(&r, 6);
    for (s.n = 0; s.n < 6; s.n++)
        for (int a = 0; a < 3; a++) {
            double high = lo[a] + side[a], at[6] = {lo[a],
                                                    high,
                                                    nextafter(lo[a], -HUGE_VAL),
                                                    nextafter(high, -HUGE_VAL),
                                                    lo[a] - 7 * side[a],
                                                    high + 2.5 * side[a]};
            r.x[a][s.n] = at[s.n];
            r.id[s.n] = 6 * c.rank + s.n;
        }
    enum err err = swarm_move(&s);
    CHECK(err == OK, "%s", err_message());
    for (int64_t i = 0; i < s.n; i++)
        for (int a = 0; a < 3; a++) {
            static const double PLACE[6] = {0, 0, 0, 1, 0, 0.5};
            double d = (r.x[a][i] - lo[a]) / side[a] - PLACE[r.id[i] % 6];
            wrong += !(r.x[a][i] >= lo[a] && r.x[a][i] < lo[a] + side[a]);
            wrong += fabs(d - rint(d)) > 1e-9;
        }
    CHECK(wrong == 0, "%lld coordinates", (long long)wrong);
    swarm_fini(&s);
    rows_free(&r);
}

/* Errors name the row and the rank, and all ranks have them. */
static void test_errors(void)
{
    struct swarm s;
    struct rows r = {0};
    int last = c.size - 1;
    char where[64];
    snprintf(where, sizeof where, "row 3 of rank %d", last);
    swarm_init(&s, &c, DOMAIN_KSECTION, NULL, NULL, false);
    columns_add(&s, &r);
    rows_start(&s, &r, UNIFORM, 100 * c.size, c.size);
    double keep = r.x[1][3];
    if (c.rank == last) r.x[1][3] = NAN;
    CHECK_FAILS(swarm_move(&s), where);
    if (c.rank == last) r.x[1][3] = keep;
    if (c.rank == last) r.reach[3] = -1;
    if (c.size > 1) CHECK_FAILS(swarm_ghosts(&s, r.reach, 0, NULL), where);
    swarm_fini(&s);
    rows_free(&r);
}

int main(int argc, char **argv)
{
    setenv("PTAH_MPI", "1", 1);
    comm_init(&argc, &argv, &c);
    for (int kind = 0; kind < 2; kind++)
        for (int periodic = 0; periodic < 2; periodic++) {
            struct world w = {kind, periodic, UNIFORM, N, c.size};
            test_swarm(w);
            w.place = CLUSTERS;
            test_swarm(w);
        }
    for (int periodic = 0; periodic < 2; periodic++) {
        test_swarm((struct world){DOMAIN_KSECTION, periodic, CLUSTERS, N, 1});
        test_swarm((struct world){DOMAIN_KSECTION, periodic, ONE_PLACE, 100, c.size});
        for (int64_t n = 0; n < 4; n += 1 + n)
            test_swarm((struct world){DOMAIN_KSECTION, periodic, UNIFORM, n, c.size});
    }
    test_swarm((struct world){DOMAIN_KSECTION, false, ESCAPER, N, c.size});
    test_sides();
    const size_t batch = swarm_batch;
    swarm_batch = 5000;
    test_swarm((struct world){DOMAIN_HILBERT, true, UNIFORM, N, 1});
    swarm_batch = batch;
    test_errors();
    FREE(all);
    int64_t sum[2] = {passed, failed};
    comm_add_i64(&c, sum, 2);
    if (c.rank == 0) printf("%lld passed, %lld failed\n", (long long)sum[0], (long long)sum[1]);
    comm_fini();
    return sum[1] > 0;
}
