/* sim/balance: one rank is made four times as slow as the others: it sleeps longer for each of its
 * octs. With time_balance_alpha=0.5 the run recovers at least 60 % of the lost time, for both
 * orderings, with an identical state; with 0 it recovers nothing. Time is the sleep of the slowest
 * rank in a step, which does not depend on the load of the machine. Catches: a factor of time that
 * is not applied, or upside down; a clock that touches results.
 * test: mpi=8 tier=check timeout=240 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "check.h"
#include "sim/sim.h"

static struct comm comm;

enum { SLOW = 5, TIMES = 4 }; /* number of the slow rank, factor of its slowness */
static const double DELAY = 2e-3;
static const double MIN = 0.6;

static const char *const BOX =
    "&RUN_PARAMS\nhydro=.true.\nnremap=2\nnstepmax=5\n/\n"
    "&AMR_PARAMS\nlevelmin=5\nlevelmax=5\n/\n"
    "&INIT_PARAMS\nnregion=2\nregion_type='square','square'\n"
    "x_center=0.5,0.4\ny_center=0.5,0.45\nz_center=0.5,0.55\n"
    "length_x=10,0.2\nlength_y=10,0.2\nlength_z=10,0.2\nexp_region=10,2\n"
    "d_region=1,2\np_region=0.1,10\n/\n"
    "&OUTPUT_PARAMS\nnoutput=1\ntout=100\n/\n";

/* Sleep of the slowest rank in a step at the end, seconds; *sum: sum over densities. */
static double slept(double alpha, const char *ordering, int64_t *sum)
{
    struct sim *s = mem_zero(sizeof *s, "test");
    struct params *p = mem_zero(sizeof *p, "test");
    enum err e = param_read_text(p, BOX, strlen(BOX), "box");
    p->output.foutput = p->output.fbackup = 0;
    p->run.time_balance_alpha = alpha;
    snprintf(p->run.ordering, sizeof p->run.ordering, "%s", ordering);
    s->run.out.dir = ".";
    s->check.delay = comm.rank == SLOW ? TIMES * DELAY : DELAY;
    if (e == OK) e = sim_start(s, p, &comm);
    if (e == OK) e = sim_run(s);
    CHECK(e == OK, "%s", e == OK ? "" : err_message());
    const struct level *lv = &s->mesh.lev[5];
    double max = s->check.delay * lv->nown;
    *sum = 0;
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) {
            int64_t bits;
            memcpy(&bits, &lv->fld[FLD_U][i][k], sizeof bits);
            *sum += bits >> 8; /* order-independent; overflow is harmless */
        }
    comm_add_i64(&comm, sum, 1);
    comm_max_f64(&comm, &max, 1);
    sim_fini(s);
    mem_free(p);
    mem_free(s);
    return max;
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    log_init(false, -1);
    if (comm.size > SLOW) {
        int64_t state[3];
        double even = DELAY * 4096 / comm.size, lost = slept(0, "ksection", &state[0]) - even;
        double half[2] = {slept(0.5, "ksection", &state[1]), slept(0.5, "hilbert", &state[2])};
        CHECK(lost > 0.9 * (TIMES - 1) * even, "memory alone: %g lost", lost);
        for (int k = 0; k < 2; k++) {
            double back = 1 - (half[k] - even) / lost;
            if (!comm.rank) printf("ordering %d: %.0f %% recovered\n", k, 100 * back);
            CHECK(back >= MIN, "ordering %d: %.2f recovered", k, back);
        }
        CHECK(state[1] == state[0] && state[2] == state[0], "clocks changed the state");
    }
    double bad = failed;
    comm_add_f64(&comm, &bad, 1);
    if (!comm.rank) printf("%d passed, %d failed\n", passed, (int)bad);
    comm_fini();
    return bad > 0;
}
