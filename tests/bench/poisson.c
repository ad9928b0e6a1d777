/* poisson: Poisson's equation on a uniform periodic mesh (Kim 2026, section 8.6.4): source
 * -12 pi^2 sin sin sin of 2 pi x, 2 pi y, 2 pi z, by the solvers of simulate.
 *
 *     mpirun -n RANKS poisson CELLS-PER-SIDE REPEATS
 *
 * A table on stdout. error: the largest difference from sin sin sin. Times of one solve, of the
 * slowest rank: median, least and spread. An error beyond that of the mesh ends with status 1. */
#include <stdio.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "comm/transport.h"
#include "comm/tuner.h"
#include "grav/grav.h"
#include "repeat.h"

static const double PI = 3.14159265358979323846;

struct bench {
    struct comm c;
    struct mesh m;
    int level, repeats;
    bool wrong;
};

static double exact_at(const struct bench *b, lidx i, int k)
{
    int64_t o[3];
    double s = 1, n = (double)(1 << b->level);
    okey_coords(b->m.lev[b->level].key[i], o);
    for (int d = 0; d < 3; d++) s *= sin(2 * PI * ((double)(2 * o[d] + (k >> d & 1)) + 0.5) / n);
    return s;
}

static double error_of(const struct bench *b)
{
    const struct level *lv = &b->m.lev[b->level];
    double worst = 0;
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++)
            worst = fmax(worst, fabs(lv->fld[FLD_PHI][i][k] - exact_at(b, i, k)));
    comm_max_f64(&b->c, &worst, 1);
    return worst;
}

struct names {
    const char *domains, *transport, *solver;
};

static void measure(struct bench *b, struct names name, struct grav_par *p)
{
    struct repeat r = {.comm = &b->c};
    struct grav_report rep = {0};
    const struct grav_source from = {.fourpi = 1};
    for (int i = 0; i <= b->repeats; i++) { /* the first solve makes FFT plans */
        repeat_begin(&r);
        rep = grav_solve(&b->m, &b->c, b->level, &from, p);
        repeat_end(&r);
        if (i == 0) r.n = 0;
    }
    grav_fini(p);
    struct repeat_times t = repeat_times(&r);
    double error = error_of(b), mesh = pow(PI / (1 << b->level), 2);
    b->wrong |= !(error < 1.1 * mesh + 100 * p->epsilon);
    if (b->c.rank == 0)
        printf("%d\t%d\t%s\t%s\t%s\t%d\t%.3e\t%.3f\t%.3f\t%.3f\n", b->c.size, 1 << b->level,
               name.domains, name.transport, name.solver, rep.cycles, error, 1e3 * t.median,
               1e3 * t.min, 1e3 * t.spread);
    fflush(stdout);
}

static void measure_solvers(struct bench *b, const char *domains, const char *transport)
{
    enum { NEVER = 99, SHARED = 600 };
    struct grav_par mg = {.epsilon = 1e-4,
                          .cg_levelmin = NEVER,
                          .fft_levelmin = NEVER,
                          .boxlen = 1,
                          .mg_shared_octs = SHARED},
                    cg = mg, fft = mg;
    cg.cg_levelmin = b->level;
    fft.fft_levelmin = b->level;
    b->c.tuner = tuner_new(transport);
    measure(b, (struct names){domains, transport, "multigrid"}, &mg);
    measure(b, (struct names){domains, transport, "cg"}, &cg);
    measure(b, (struct names){domains, transport, "fft"}, &fft);
    tuner_free(&b->c.tuner);
}

static void measure_all(struct bench *b, enum domain_kind kind, const char *domains)
{
    static const bool boundary[6] = {false};
    struct domain *d = domain_new(kind, b->c.size, b->level, boundary);
    mesh_init(&b->m, b->level, b->level, 5, true, true, 1, boundary);
    adapt_build(&b->m, &b->c, d);
    struct level *lv = &b->m.lev[b->level];
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) lv->fld[FLD_RHO][i][k] = -12 * PI * PI * exact_at(b, i, k);
    for (int t = 0; t < TRANSPORTS; t++) measure_solvers(b, domains, comm_transport[t].name);
    mesh_fini(&b->m);
    domain_free(d);
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    comm_init(&argc, &argv, &b.c);
    int n = argc == 3 ? (int)strtol(argv[1], NULL, 10) : 0;
    while (n > 1 && 1 << b.level < n) b.level++;
    b.repeats = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;
    if (n < 2 || 1 << b.level != n || b.repeats < 1) {
        if (b.c.rank == 0) fprintf(stderr, "usage: poisson CELLS-PER-SIDE REPEATS\n");
        comm_fini();
        return 2;
    }
    if (b.c.rank == 0)
        printf("ranks\tN\tdomains\ttransport\tsolver\tcycles\terror\tsolve_ms\tleast_ms\t"
               "spread_ms\n");
    measure_all(&b, DOMAIN_KSECTION, "ksection");
    measure_all(&b, DOMAIN_HILBERT, "hilbert");
    comm_fini();
    return b.wrong;
}
