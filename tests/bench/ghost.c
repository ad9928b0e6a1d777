/* ghost: the time of one ghost exchange of all gas variables of a uniform mesh (Kim 2026, section
 * 8.6.1), with both decompositions and all transports, as simulate does it (dom/ghost).
 *
 *     mpirun -n RANKS ghost CELLS-PER-SIDE VARIABLES REPEATS [0|1]
 *
 * 0: messages hold all data; 1: ranks read each other's windows (comm/share); without: both,
 * alternately. A table on stdout, means over ranks. sent: octs sent by a rank; a ghost layer is
 * one oct, i.e. two cells, wide, and includes corners. bytes: bytes sent by a rank. build: time
 * to build mesh and plans. Times are of the slowest rank: median, min and spread of the repeats,
 * and the min processor time, waiting included. Ghosts are compared with their owners; a
 * difference ends with status 1. To count calls of MPI (mpicount.h), each exchange begins with a
 * mark, and the last one of a transport ends with one. */
#include <stdio.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "comm/share.h"
#include "comm/transport.h"
#include "comm/tuner.h"
#include "dom/ghost.h"
#include "repeat.h"

struct bench {
    struct comm c;
    struct mesh m;
    int level, nvar, repeats, wrong;
    bool shared[2]; /* variants to measure: without and with windows */
    struct comm_share *share;
};

static double value(okey key, int v, int cell)
{
    return (double)(key % 1000003) + 0.1 * v + 0.01 * cell;
}

static void fill_own(struct bench *b)
{
    struct level *lv = &b->m.lev[b->level];
    for (int v = 0; v < b->nvar; v++)
        for (lidx i = 0; i < lv->noct; i++)
            for (int k = 0; k < 8; k++)
                lv->fld[FLD_U + v][i][k] = i < lv->nown ? value(lv->key[i], v, k) : -1;
}

static void compare_ghosts(struct bench *b)
{
    const struct level *lv = &b->m.lev[b->level];
    for (int v = 0; v < b->nvar; v++)
        for (lidx i = lv->nown; i < lv->noct; i++)
            for (int k = 0; k < 8; k++)
                b->wrong += lv->fld[FLD_U + v][i][k] != value(lv->key[i], v, k);
}

static void print_row(const struct bench *b, const char *domains, const char *transport, int shared,
                      double build, struct repeat_times t)
{
    const struct xplan *p = &b->m.lev[b->level].plan;
    double n[3] = {p->npeer, p->npeer ? p->sfirst[p->npeer] : 0, b->m.lev[b->level].nown};
    comm_add_f64(&b->c, n, 3);
    if (b->c.rank) return;
    for (int i = 0; i < 3; i++) n[i] /= b->c.size;
    printf("%d\t%d\t%d\t%s\t%s\t%d\t%.2f\t%.0f\t%.0f\t%.0f\t%.4f\t%.3f\t%.3f\t%.3f\t%.3f\n",
           b->c.size, 1 << b->level, b->nvar, domains, transport, shared, n[0], n[2], n[1],
           n[1] * b->nvar * 64, build, 1e3 * t.median, 1e3 * t.min, 1e3 * t.spread, 1e3 * t.cpu);
    fflush(stdout);
}

static void exchange(struct bench *b, struct repeat *r)
{
    comm_mark(&b->c);
    repeat_begin(r);
    ghost_fill_hydro(&b->c, &b->m, b->level);
    repeat_end(r);
}

/* Measures with messages and with windows, alternately. */
static void measure_transport(struct bench *b, const char *domains, const char *transport,
                              double build)
{
    struct repeat r[2] = {{.comm = &b->c}, {.comm = &b->c}};
    b->c.tuner = tuner_new(transport);
    for (int i = 0; i <= b->repeats; i++)
        for (int w = 0; w < 2; w++) {
            if (!b->shared[w]) continue;
            b->c.share = w ? b->share : NULL;
            if (i == 0) fill_own(b);
            exchange(b, &r[w]);
            if (i > 0) continue;
            compare_ghosts(b);
            r[w].n = 0; /* the first exchange allocates buffers */
        }
    comm_mark(&b->c);
    for (int w = 0; w < 2; w++)
        if (b->shared[w]) print_row(b, domains, transport, w, build, repeat_times(&r[w]));
    tuner_free(&b->c.tuner);
}

static void measure(struct bench *b, enum domain_kind kind, const char *domains)
{
    static const bool boundary[6] = {false};
    struct repeat build = {.comm = &b->c};
    repeat_begin(&build);
    struct domain *d = domain_new(kind, b->c.size, b->level, boundary);
    mesh_init(&b->m, b->level, b->level, b->nvar, true, false, 1, boundary);
    adapt_build(&b->m, &b->c, d);
    repeat_end(&build);
    for (int t = 0; t < TRANSPORTS; t++)
        measure_transport(b, domains, comm_transport[t].name, build.seconds[0]);
    mesh_fini(&b->m);
    domain_free(d);
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    comm_init(&argc, &argv, &b.c);
    int n = argc == 4 || argc == 5 ? (int)strtol(argv[1], NULL, 10) : 0;
    while (n > 1 && 1 << b.level < n) b.level++;
    if (n > 0) {
        b.nvar = (int)strtol(argv[2], NULL, 10);
        b.repeats = (int)strtol(argv[3], NULL, 10);
        for (int w = 0; w < 2; w++) b.shared[w] = argc == 4 || strtol(argv[4], NULL, 10) == w;
    }
    if (n < 2 || 1 << b.level != n || b.nvar < 1 || b.nvar > NVAR_MAX || b.repeats < 1) {
        if (b.c.rank == 0) fprintf(stderr, "usage: ghost CELLS-PER-SIDE VARIABLES REPEATS [0|1]\n");
        comm_fini();
        return 2;
    }
    b.share = comm_share_new(&b.c);
    b.shared[1] &= b.share != NULL;
    if (b.c.rank == 0)
        printf("ranks\tN\tvariables\tdomains\ttransport\tshared\tpartners\towned\tsent\tbytes\tbuil"
               "d_s\t"
               "exchange_ms\tleast_ms\tspread_ms\tcpu_ms\n");
    measure(&b, DOMAIN_KSECTION, "ksection");
    measure(&b, DOMAIN_HILBERT, "hilbert");
    comm_share_free(&b.share);
    int64_t wrong = b.wrong;
    comm_max_i64(&b.c, &wrong, 1);
    if (wrong && b.c.rank == 0) fprintf(stderr, "ghost: ghosts differ from their owners' values\n");
    comm_fini();
    return wrong > 0;
}
