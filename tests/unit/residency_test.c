/* A run on the emulated device has the bits of the CPU, and its fields stay on the device: on one
 * rank, a step of a uniform mesh copies only a few numbers between host and device, on several
 * ranks also ghosts. check_ghosts fills stale copies with NaN. Catches: a phase that reads or
 * writes an undeclared field (sim/step.c), a gas phase that copies fields to the host.
 *
 * test: mpi=1,2 tier=quick
 * test: three tier=check mpi=3 timeout=240 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "check.h"
#include "sim/sim.h"

static struct comm comm;

static const char *const BLAST =
    "&RUN_PARAMS\nhydro=.true.\nnsubcycle=1,2,2\ngpu_device='host'\n/\n"
    "&AMR_PARAMS\nlevelmin=3\nlevelmax=5\n/\n"
    "&INIT_PARAMS\nnregion=2\nregion_type='square','square'\n"
    "x_center=0.5,0.4\ny_center=0.5,0.45\nz_center=0.5,0.55\n"
    "length_x=10,0.2\nlength_y=10,0.2\nlength_z=10,0.2\nexp_region=10,2\n"
    "d_region=1,2\np_region=0.1,10\n/\n"
    "&OUTPUT_PARAMS\nnoutput=1\ntout=100\n/\n"
    "&REFINE_PARAMS\nerr_grad_p=0.1\n/\n";

struct trial {
    bool refined, gravity, checks;
    int seed, steps, level; /* seed −1: run on the CPU */
};

struct outcome {
    uint64_t digest;
    /* bytes copied; launches; gas: bytes of own octs of levelmin; ghosts: bytes of ghosts, and of
     * copies for other ranks */
    int64_t put, got, launches, gas, ghosts;
};

static uint64_t digest(const struct mesh *m)
{
    uint64_t h = 1469598103934665603u;
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (int f = 0; f < FLD_MAX; f++)
            for (lidx i = 0; m->lev[l].fld[f] && i < 8 * m->lev[l].nown; i++) {
                uint64_t b;
                memcpy(&b, &m->lev[l].fld[f][i / 8][i % 8], sizeof b);
                h = (h ^ b) * 1099511628211u;
                h ^= h >> 31;
            }
    return h;
}

static struct outcome run(const struct trial *t)
{
    struct sim *s = mem_zero(sizeof *s, "test");
    struct params *p = mem_zero(sizeof *p, "test");
    struct outcome o = {0};
    enum err e = param_read_text(p, BLAST, strlen(BLAST), "blast");
    p->run.poisson = t->gravity;
    p->run.gpu_hydro = t->seed >= 0;
    p->run.gpu_poisson = t->seed >= 0;
    p->run.gpu_seed = t->seed;
    p->run.check_ghosts = t->checks;
    p->run.nstepmax = t->steps;
    p->run.nremap = 0;
    if (!t->refined) p->amr.levelmin = p->amr.levelmax = t->level;
    p->output.foutput = p->output.fbackup = 0;
    s->run.out.dir = ".";
    if (e == OK) e = sim_start(s, p, &comm);
    if (e == OK) e = sim_run(s);
    CHECK(e == OK && s->time.nstep_coarse == t->steps, "%s", e == OK ? "" : err_message());
    if (s->device.dev) {
        struct dev_count c = dev_counts(s->device.dev);
        o.put = c.put, o.got = c.got, o.launches = c.launches;
    }
    CHECK(sim_device_home(s, true) == OK);
    o.digest = digest(&s->mesh);
    const struct level *lv = &s->mesh.lev[s->mesh.levelmin];
    o.gas = (int64_t)sizeof(double[8]) * s->mesh.nvar * lv->nown;
    lidx copies = lv->plan.npeer ? lv->plan.sfirst[lv->plan.npeer] : 0;
    o.ghosts = (int64_t)sizeof(double[8]) * s->mesh.nvar * (lv->noct - lv->nown + copies);
    sim_fini(s);
    mem_free(p);
    mem_free(s);
    return o;
}

/* Results are identical for all execution orders of the device. */
static void test_bits(bool refined, bool gravity, int seeds)
{
    struct outcome cpu = run(&(struct trial){refined, gravity, false, -1, 4, 4});
    CHECK(cpu.launches == 0);
    for (int seed = 0; seed <= seeds; seed++) {
        struct outcome o = run(&(struct trial){refined, gravity, seed % 2, seed, 4, 4});
        CHECK(o.digest == cpu.digest, "refined %d, gravity %d, seed %d", refined, gravity, seed);
        CHECK(o.launches > 10);
    }
}

/* Six steps copy as many bytes between host and device as two, except for numbers and ghosts. */
static void test_bytes(bool gravity)
{
    struct outcome two = run(&(struct trial){false, gravity, false, 1, 2, 5}),
                   six = run(&(struct trial){false, gravity, false, 1, 6, 5});
    double step = (double)(six.put + six.got - two.put - two.got) / 4;
    printf("a step moves %.3f %% of the gas\n", 100 * step / (double)six.gas);
    CHECK(step < 0.02 * (double)six.gas + 1.05 * (double)six.ghosts, "%g of %g bytes, ghosts %g",
          step, (double)six.gas, (double)six.ghosts);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    log_init(false, -1);
    for (int k = 0; k < 4; k++) test_bits(k & 1, k & 2, k == 1 ? 5 : 1);
    test_bytes(false);
    if (comm.size == 1)
        test_bytes(true); /* multigrid on several ranks exchanges ghosts in each cycle */
    if (comm.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed > 0;
}
