/* Laws of lib/comm, on any number of ranks. Catches: a count that is not summed, an error message
 * that other ranks do not get, items sent to the wrong rank. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "comm/comm.h"
#include "comm/transport.h"
#include "comm/tree.h"
#include "comm/tuner.h"

static struct comm c;

/* Each rank in turn has an error, then the last two together. */
static void test_agree(void)
{
    for (int bad = -1; bad <= c.size; bad++) {
        bool mine = bad == c.rank || (bad == c.size && c.rank >= c.size - 2);
        int first = bad < c.size ? bad : c.size > 1 ? c.size - 2 : 0;
        char want[32];
        snprintf(want, sizeof want, "rank %d says no", first);
        enum err e = mine ? err_set(ERR_LIMIT, "rank %d says no", c.rank) : OK;
        e = err_agree(&c, e);
        CHECK(e == (bad < 0 ? OK : ERR_LIMIT), "%d", (int)e);
        CHECK(bad < 0 || strcmp(err_message(), want) == 0, "%s", err_message());
    }
}

static void test_sums(void)
{
    struct sum s;
    int64_t n = c.rank + 1, max = c.rank, before = comm_scan_i64(&c, c.rank + 1);
    double min = c.rank + 0.5;
    comm_add_i64(&c, &n, 1);
    comm_max_i64(&c, &max, 1);
    comm_min_f64(&c, &min, 1);
    CHECK(n == c.size * (c.size + 1) / 2 && max == c.size - 1 && min == 0.5, "%ld", (long)n);
    CHECK(before == c.rank * (c.rank + 1) / 2, "%ld before rank %d", (long)before, c.rank);
    sum_init(&s);
    sum_add(&s, c.rank ? 1e-30 : 1e30);
    sum_add(&s, c.rank ? 0 : -1e30);
    comm_sum(&c, &s);
    CHECK(fabs(sum_get(&s) / 1e-30 - (c.size - 1)) < 1e-15, "%g", sum_get(&s));
    sum_init(&s);
    sum_add(&s, c.rank == c.size - 1 ? NAN : 1);
    comm_sum(&c, &s);
    CHECK(isnan(sum_get(&s)), "%g: of a number that is none", sum_get(&s));
    struct sum many[3];
    for (int i = 0; i < 3; i++) sum_init(&many[i]);
    sum_add(&many[0], c.rank + 1);
    sum_add(&many[1], c.rank ? 1 : INFINITY);
    sum_add(&many[2], c.rank ? 0 : 0.5);
    comm_sums(&c, many, 3);
    CHECK(sum_get(&many[0]) == (double)n, "%g of the first sum", sum_get(&many[0]));
    CHECK(isnan(sum_get(&many[1])), "%g of the second, which is not finite", sum_get(&many[1]));
    CHECK(sum_get(&many[2]) == 0.5, "%g of the third", sum_get(&many[2]));
}

/* Rank a sends (a + 2 b) % 4 items to rank b. */
static void test_exchange(void)
{
    enum { MAX = 4 };
    int64_t *count = calloc((size_t)c.size, sizeof *count),
            *from = calloc((size_t)c.size, sizeof *from), n = 0, got;
    int64_t(*item)[3] = calloc((size_t)c.size * MAX, sizeof *item);
    if (!count || !from || !item) abort();
    for (int b = 0; b < c.size; b++) {
        count[b] = (c.rank + 2 * b) % MAX;
        for (int k = 0; k < count[b]; k++, n++) item[n][0] = c.rank, item[n][1] = b, item[n][2] = k;
    }
    int64_t(*in)[3] = comm_exchange_all(&c, item, count, sizeof *item, &got, from);
    n = 0;
    for (int a = 0; a < c.size; a++) {
        CHECK(from[a] == (a + 2 * c.rank) % MAX, "%ld from rank %d", (long)from[a], a);
        for (int k = 0; k < from[a] && n < got; k++, n++)
            CHECK(in[n][0] == a && in[n][1] == c.rank && in[n][2] == k, "item %d of rank %d", k, a);
    }
    CHECK(n == got, "%ld items of %ld", (long)n, (long)got);
    FREE(in);
    free(count);
    free(from);
    free(item);
}

/* Rank r has r % 3 rows, numbered from 10 r; the buffer has space for one row less than there
 * are. */
static void test_union(void)
{
    int64_t all = 0, mine = c.rank % 3, seen = 0, add[2] = {1, c.rank};
    for (int r = 0; r < c.size; r++) all += r % 3;
    for (int64_t max = all > 0 ? all - 1 : 0; max <= all + 3; max++) {
        int64_t(*row)[2] = calloc((size_t)(max + 3), sizeof *row);
        if (!row) abort();
        for (int k = 0; k < mine && k < max; k++) row[k][0] = row[k][1] = 10 * c.rank + k;
        add[0] = 1, add[1] = c.rank, seen = 0;
        double low[2] = {1.5 * c.rank, -c.rank};
        struct comm_minima min = {2, low};
        int64_t n = comm_union_min(&c, mine, max, sizeof *row, row, 2, add, &min);
        CHECK(n == all, "%ld rows of %ld", (long)n, (long)all);
        CHECK(min.n == 0 && low[0] == 0 && low[1] == 1 - c.size, "%g %g", low[0], low[1]);
        CHECK(add[0] == c.size && add[1] == c.size * (c.size - 1) / 2, "%ld", (long)add[1]);
        for (int64_t i = 0; i < n && n <= max; i++)
            for (int r = 0; r < c.size; r++)
                for (int k = 0; k < r % 3; k++)
                    seen += row[i][0] == 10 * r + k && row[i][1] == 10 * r + k;
        CHECK(n > max || seen == all, "%ld rows are right", (long)seen);
        free(row);
    }
}

/* ---- transports ---- */

/* Number of items that rank a sends to rank b in a case; some cases are sparse, some empty. */
static int64_t amount(int number, int a, int b)
{
    uint64_t h = rng_mix((uint64_t)number * 1000003 + (uint64_t)a * 1009 + (uint64_t)b);
    if (number == 0) return 0;
    if (number % 3 == 1) return (b - a + c.size) % c.size == number % c.size ? 5 : 0;
    return h % 4 ? (int64_t)(h >> 8) % (number % 2 ? 40 : 3) : 0;
}

static uint64_t value(int number, int a, int b, int64_t k)
{
    return rng_mix((uint64_t)number << 48 | (uint64_t)a << 32 | (uint64_t)b << 16 | (uint64_t)k);
}

/* Sizes known to senders only; destinations in arbitrary order. */
static void one_exchange(int number)
{
    int64_t n = 0, got;
    for (int b = 0; b < c.size; b++) n += amount(number, c.rank, b);
    int *rank = mem_new(sizeof *rank * (size_t)(n + 1), "test"), skipped = 1;
    int64_t *order = mem_new(sizeof *order * (size_t)(n + 1), "test"), at = 0;
    rank[n] = -1; /* for no rank */
    for (int q = 0; q < c.size; q++) {
        int b = (q * 5 + number) %
                c.size; /* each rank once if 5 and the number of ranks are coprime */
        if (c.size % 5 == 0) b = q;
        for (int64_t k = 0; k < amount(number, c.rank, b); k++) rank[at++] = b;
    }
    struct comm_counts to = comm_counts_of(n + skipped, rank, order), from;
    CHECK(comm_counts_total(&to) == n, "%ld of %ld", (long)comm_counts_total(&to), (long)n);
    uint64_t *send = mem_new(sizeof *send * (size_t)n + 1, "test");
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) {
        k = i > 0 && rank[order[i]] == rank[order[i - 1]] ? k + 1 : 0;
        send[i] = value(number, c.rank, rank[order[i]], k);
    }
    uint64_t *in = comm_exchange(&c, send, &to, sizeof *send, &got, &from);
    int64_t want = 0, bad = 0;
    int sources = 0;
    for (int a = 0; a < c.size; a++) {
        int64_t some = amount(number, a, c.rank);
        if (some) {
            bad += sources >= from.n || from.rank[sources] != a || from.count[sources] != some;
            sources++;
        }
        for (k = 0; k < some; k++, want++)
            bad += want >= got || in[want] != value(number, a, c.rank, k);
    }
    CHECK(want == got && sources == from.n && bad == 0, "case %d: %ld of %ld, %ld wrong", number,
          (long)got, (long)want, (long)bad);
    comm_counts_free(&from);
    comm_counts_free(&to);
    mem_free(in);
    mem_free(send);
    mem_free(order);
    mem_free(rank);
}

struct swapped {
    struct comm_swap *swap;
    int n, *peer;
    void **buf;
    size_t *len;
    uint64_t *block;
};

static void swap_start(struct swapped *s, int number)
{
    int64_t total = 0;
    *s = (struct swapped){0};
    s->peer = mem_new(sizeof *s->peer * (size_t)c.size, "test");
    s->buf = mem_new(2 * sizeof *s->buf * (size_t)c.size, "test");
    s->len = mem_new(2 * sizeof *s->len * (size_t)c.size, "test");
    for (int r = 0; r < c.size; r++) total += amount(number, c.rank, r) + amount(number, r, c.rank);
    uint64_t *p = s->block = mem_zero(sizeof *p * (size_t)total + 1, "test");
    for (int r = 0; r < c.size; r++) {
        int64_t out = amount(number, c.rank, r), in = amount(number, r, c.rank);
        if (r == c.rank || (!out && !in)) continue;
        int i = s->n++;
        s->peer[i] = r;
        s->len[i] = sizeof *p * (size_t)out, s->len[c.size + i] = sizeof *p * (size_t)in;
        s->buf[i] = p, s->buf[c.size + i] = p + out;
        for (int64_t k = 0; k < out; k++) p[k] = value(number, c.rank, r, k);
        p += out + in;
    }
    s->swap = comm_swap_begin(&c, COMM_FINE_DP, s->n, s->peer, s->buf, s->len, s->buf + c.size,
                              s->len + c.size);
}

static void swap_check(struct swapped *s, int number)
{
    int64_t bad = 0;
    comm_swap_end(s->swap);
    for (int i = 0; i < s->n; i++)
        for (int64_t k = 0; k < amount(number, s->peer[i], c.rank); k++)
            bad += ((uint64_t *)s->buf[c.size + i])[k] != value(number, s->peer[i], c.rank, k);
    CHECK(bad == 0, "case %d: %ld wrong", number, (long)bad);
    mem_free(s->block);
    mem_free(s->len);
    mem_free(s->buf);
    mem_free(s->peer);
}

/* Two exchanges in progress at a time, with a sparse exchange in between. */
static void test_transport(const char *method, int cases)
{
    c.tuner = tuner_new(method);
    CHECK(c.tuner, "%s", method);
    for (int i = 0; i < cases; i++) {
        struct swapped a, b;
        one_exchange(i);
        swap_start(&a, i);
        swap_start(&b, i + 1);
        one_exchange(i + 1);
        swap_check(&a, i);
        swap_check(&b, i + 1);
    }
    tuner_free(&c.tuner);
}

static void test_transports(void)
{
    size_t usual = comm_piece_max;
    for (int i = 0; i < TRANSPORTS; i++) {
        test_transport(comm_transport[i].name, 20);
        comm_piece_max = 64; /* long messages, in pieces */
        test_transport(comm_transport[i].name, 20);
        comm_piece_max = usual;
    }
    CHECK(tuner_new("pigeons") == NULL, "a transport that there is not");
}

/* All calls of the trial, then a decision, which is stored as text. */
static void test_tuner(void)
{
    char text[4096], again[4096];
    test_transport("auto", 3);
    c.tuner = tuner_new("auto");
    for (int i = 0; i < 2 * TUNER_TRIAL + TUNER_INTERVAL + 3 * TUNER_PROBE; i++) {
        int by = tuner_choice(c.tuner, COMM_FINE_DP);
        int64_t low = by, high = by;
        CHECK(comm_transport[by].tried, "%s", comm_transport[by].name);
        if (i % 10 == 0) {
            comm_min_i64(&c, &low, 1);
            comm_max_i64(&c, &high, 1);
            CHECK(low == high, "call %d: ranks differ", i);
        }
        /* the walk is faster, on the slowest rank */
        tuner_spent(&c, COMM_FINE_DP, by == TRANSPORT_ksection ? 1e-6 : 1e-6 * (c.rank + 2));
        if (i > 2 * TUNER_TRIAL && i < 2 * TUNER_TRIAL + TUNER_INTERVAL)
            CHECK(by == TRANSPORT_ksection, "call %d: %s", i, comm_transport[by].name);
    }
    tuner_state(&c, text, sizeof text);
    CHECK(strstr(text, "fine_dp ksection 1000 "), "%s", text);
    tuner_free(&c.tuner);
    c.tuner = tuner_new("auto");
    tuner_resume(&c, text);
    tuner_state(&c, again, sizeof again);
    CHECK(strcmp(text, again) == 0, "%s", again);
    CHECK(tuner_choice(c.tuner, COMM_FINE_DP) == TRANSPORT_ksection, "resumed");
    tuner_resume(&c, "nonsense\nexchange: 1 fine_dp p2p\n\nexchange: 99999 fine_dp p2p 500 1e-6");
    CHECK(tuner_choice(c.tuner, COMM_FINE_DP) == TRANSPORT_ksection, "of other ranks");
    tuner_free(&c.tuner);
}

/* Tree of any number of ranks: every rank is a leaf, and receives what is sent to it. */
static void test_tree(void)
{
    static const int sizes[] = {1,  2,  3,  4,  5,    6,     7,      8,       11,      12,
                                13, 22, 77, 96, 1000, 10007, 100000, 1 << 20, 1000000, 999983};
    static const int want[] = {0, 1, 2, 2, 4, 3, 6, 3, 4, 4, 4, 5, 10, 7, 15, 14, 25, 20, 30, 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct tree t;
        int max = 0, bad = 0;
        tree_init(&t, sizes[i]);
        for (int rank = 0; rank<sizes[i]; rank += sizes[i]> 20000 ? 97 : 1) {
            struct group g = {0, sizes[i]};
            int n = tree_messages(&t, rank);
            if (n > max) max = n;
            for (int l = 0; l < t.nlev; l++) {
                int k = t.factor[l], mine = group_slot(g, k, rank);
                struct group own = group_child(g, k, mine);
                for (int j = 0; j < k; j++) {
                    struct group other = group_child(g, k, j);
                    if (j == mine || !other.n) continue;
                    struct group from = tree_sources(own, other, rank);
                    for (int q = 0; q < from.n; q++)
                        bad += tree_partner(other, own, from.first + q) != rank;
                    int to = tree_partner(own, other, rank);
                    struct group back = tree_sources(other, own, to);
                    bad += rank < back.first || rank >= back.first + back.n;
                }
                g = own;
            }
            bad += g.first != rank || g.n != 1;
        }
        CHECK(max == want[i] && bad == 0, "%d ranks: %d messages, %d wrong", sizes[i], max, bad);
    }
}

/* Threads follow the mesh unless the environment sets their number. */
static void test_threads(void)
{
    struct comm one = {.size = 1, .node_size = 1};
    unsetenv("OMP_NUM_THREADS");
    omp_set_num_threads(4);
    CHECK(comm_share_threads(&one) == 4, "%d", one.threads);
    static const int64_t octs[] = {0, 500, 1100, 1 << 20, 1100};
    static const int want[] = {1, 1, 3, 4, 3};
    for (size_t i = 0; i < sizeof octs / sizeof *octs; i++) {
        comm_use_threads(&one, octs[i]);
        CHECK(omp_get_max_threads() == want[i], "%d", omp_get_max_threads());
    }
    setenv("OMP_NUM_THREADS", "2", 1);
    comm_use_threads(&one, 0);
    CHECK(omp_get_max_threads() == 3, "%d", omp_get_max_threads());
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &c);
    test_threads();
    test_agree();
    test_sums();
    test_exchange();
    test_union();
    test_transports();
    /* with empty messages, or without */
    c.empty_messages = c.size > COMM_EMPTY_MESSAGES ? c.size : 0;
    test_transports();
    test_tuner();
    test_tree();
    int64_t n[2] = {passed, failed};
    comm_add_i64(&c, n, 2);
    if (c.rank == 0) printf("%ld passed, %ld failed\n", (long)n[0], (long)n[1]);
    comm_fini();
    return n[1] != 0;
}
