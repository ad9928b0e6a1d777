/* solver_test: a solver with an array of its own (tests/toy/heat.c), the heat equation on a uniform
 * grid, under the time loop of every run. Its state is that of a plain array, to the last bit, on
 * any number of ranks; its checkpoints are read by every program, and a run that resumes from one
 * ends with the bits of a run without a stop; observers of coarse steps see its state; a signal
 * ends it with a checkpoint and status 75. Catches: a time loop that needs the octree, a clock or a
 * report that a solver without levels lacks, a checkpoint of the mesh as it was at the start.
 *
 * test: tier=quick mpi=1,3 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "check.h"
#include "ckpt/source.h"
#include "formats/formats.h"
#include "sim/solver.h"

enum { L = 3, N = 1 << L, CELLS = N * N * N };
static const double KAPPA = 0.1;
static struct comm comm;
static int raise_at = -1; /* coarse step within which this process gets a signal */

static const char *const GRID =
    "&RUN_PARAMS\nhydro=.true.\n/\n&AMR_PARAMS\nlevelmin=3\nlevelmax=3\n/\n"
    "&INIT_PARAMS\nnregion=2\nregion_type='square','square'\n"
    "x_center=0.5,0.4\ny_center=0.5,0.45\nz_center=0.5,0.55\n"
    "length_x=10,0.5\nlength_y=10,0.5\nlength_z=10,0.5\nexp_region=10,10\n"
    "d_region=1,1\np_region=0.1,10\n/\n&OUTPUT_PARAMS\nnoutput=1\ntout=100\n/\n";

static int index_of(const struct sim *s, lidx i, int cell)
{
    double x[3], dx = mesh_dx(&s->mesh, L);
    okey_cell_centre(s->mesh.lev[L].key[i], cell, dx, x);
    return ((int)(x[0] / dx) * N + (int)(x[1] / dx)) * N + (int)(x[2] / dx);
}

/* New value of cell c of a periodic grid. */
static double heated(const double *a, int c, double share)
{
    int x = c / (N * N), y = c / N % N, z = c % N;
    int up[3] = {(x + 1) % N * N * N + y * N + z, x * N * N + (y + 1) % N * N + z,
                 x * N * N + y * N + (z + 1) % N};
    int low[3] = {(x + N - 1) % N * N * N + y * N + z, x * N * N + (y + N - 1) % N * N + z,
                  x * N * N + y * N + (z + N - 1) % N};
    double sum = 0;
    for (int d = 0; d < 3; d++) sum += (a[up[d]] - a[c]) + (a[low[d]] - a[c]);
    return a[c] + share * sum;
}

extern const struct solver heat_solver;

/* The step of the solver of heat, within which this process may get a signal. */
static enum err step(struct sim *s, double dt)
{
    if (s->time.nstep_coarse == raise_at && s->comm.rank == 0) raise(SIGUSR1);
    return heat_solver.step(s, dt);
}

/* ---- its runs ---- */

struct outcome {
    double cell[CELLS]; /* own cells; others are 0 */
    double t;
    int steps, status;
    char last[4096]; /* path of the last checkpoint */
};

static void announce(const char *path)
{
}

static enum err run(const char *dir, const char *from, int steps, struct outcome *o)
{
    struct sim *s = mem_zero(sizeof *s, "test");
    struct params *p = mem_zero(sizeof *p, "test");
    memset(o, 0, sizeof *o);
    enum err e = param_read_text(p, GRID, strlen(GRID), "grid");
    p->run.nstepmax = steps;
    p->output.foutput = 2;
    if (comm.rank == 0) mkdir(dir, 0777);
    comm_barrier(&comm);
    s->run.out.dir = dir;
    s->run.out.force = true;
    s->run.out.announce = announce;
    s->run.out.provenance = "";
    s->run.out.namelist_text = GRID;
    s->run.restart.path = from;
    struct solver heat = heat_solver;
    heat.step = step;
    s->run.solver = &heat;
    if (e == OK) e = sim_start(s, p, &comm);
    if (e == OK) e = sim_run(s);
    CHECK(e == OK, "%s", e == OK ? "" : err_message());
    const struct level *lv = &s->mesh.lev[L];
    for (lidx i = 0; e == OK && i < lv->nown; i++)
        for (int k = 0; k < 8; k++) o->cell[index_of(s, i, k)] = level_gas(lv, GAS_ENERGY)[i][k];
    o->t = s->time.t;
    o->steps = s->time.nstep_coarse;
    o->status = s->run.end.status;
    snprintf(o->last, sizeof o->last, "%s", s->run.out.last_good);
    comm_bcast(&comm, o->last, sizeof o->last, 0);
    sim_fini(s);
    mem_free(p);
    mem_free(s);
    return e;
}

/* Compares the cells of a run with those computed in a plain array. */
static void check_array(const struct outcome *o, int steps)
{
    double a[CELLS], b[CELLS];
    for (int c = 0; c < CELLS; c++) {
        int x[3] = {c / (N * N), c / N % N, c % N}, in = 1;
        const double centre[3] = {0.4, 0.45, 0.55};
        for (int d = 0; d < 3; d++) in &= 2 * fabs((x[d] + 0.5) / N - centre[d]) / 0.5 < 1;
        a[c] = (in ? 10 : 0.1) / (1.4 - 1);
    }
    for (int n = 0; n < steps; n++) {
        for (int c = 0; c < CELLS; c++) b[c] = heated(a, c, 0.125);
        memcpy(a, b, sizeof a);
    }
    int wrong = 0;
    for (int c = 0; c < CELLS; c++)
        if (o->cell[c] != 0 && !(fabs(o->cell[c] - a[c]) <= 1e-13 * a[c])) wrong++;
    CHECK(wrong == 0, "%d cells are not those of a plain array", wrong);
}

/* Reads the checkpoint as other programs do: it contains all cells of the grid. */
static void check_readable(const char *path)
{
    struct source *from = NULL;
    enum err e = source_open(path, &from);
    CHECK(e == OK, "%s", e == OK ? "" : err_message());
    if (e == OK) CHECK(from->numbtot[L] == CELLS / 8, "%ld", (long)from->numbtot[L]);
    source_close(&from);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    log_init(false, -1);
    static struct outcome whole, half, rest, ended;
    run("whole", NULL, 4, &whole);
    check_array(&whole, 4);
    CHECK(whole.steps == 4 && whole.t == 4 * (1.0 / (N * N)) / (8 * KAPPA), "%g", whole.t);
    run("half", NULL, 2, &half);
    check_readable(half.last);
    run("rest", half.last, 4, &rest);
    check_array(&rest, 4);
    CHECK(rest.steps == 4 && rest.t == whole.t, "%d", rest.steps);
    double a[CELLS], b[CELLS];
    memcpy(a, whole.cell, sizeof a), memcpy(b, rest.cell, sizeof b);
    for (int c = 0; c < CELLS; c++) comm_max_f64(&comm, &a[c], 1), comm_max_f64(&comm, &b[c], 1);
    CHECK(memcmp(a, b, sizeof a) == 0, "a run that resumes has other bits");
    sim_catch_signals();
    raise_at = 0;
    run("ended", NULL, 9, &ended);
    CHECK(ended.status == 75 && ended.steps == 1, "status %d, step %d", ended.status, ended.steps);
    if (comm.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed > 0;
}
