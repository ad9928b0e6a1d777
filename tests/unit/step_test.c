/* step_test: the table of the step, and its check of ghosts. If a phase is skipped together with
 * its exchange, the next phase that reads its ghosts must stop the run with a message that names
 * phase, field and level; a ghost with a changed value must do so, too. Without a skipped phase the
 * run passes. Catches: an exchange removed from sim/step.c or from a phase, an undeclared read
 * of ghosts (stale ghosts are NaN), an ineffective check. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "check.h"
#include "sim/sim.h"

static struct comm comm;

static const char *const BLAST =
    "&RUN_PARAMS\nhydro=.true.\nnsubcycle=1,2,2\nnstepmax=3\ncheck_ghosts=.true.\n/\n"
    "&AMR_PARAMS\nlevelmin=3\nlevelmax=5\n/\n"
    "&INIT_PARAMS\nnregion=2\nregion_type='square','square'\n"
    "x_center=0.5,0.4\ny_center=0.5,0.45\nz_center=0.5,0.55\n"
    "length_x=10,0.2\nlength_y=10,0.2\nlength_z=10,0.2\nexp_region=10,2\n"
    "d_region=1,2\np_region=0.1,10\n/\n"
    "&OUTPUT_PARAMS\nnoutput=1\ntout=100\n/\n"
    "&REFINE_PARAMS\nerr_grad_p=0.1\n/\n";

/* A run of a blast, with or without gravity, with one skipped phase, or one altered ghost. */
struct trial {
    const char *skip;
    bool gravity, spoil;
};

static enum err run(const struct trial *t)
{
    struct sim *s = mem_zero(sizeof *s, "test");
    struct params *p = mem_zero(sizeof *p, "test");
    enum err e = param_read_text(p, BLAST, strlen(BLAST), "blast");
    p->run.poisson = t->gravity;
    p->output.foutput = p->output.fbackup = 0; /* no outputs, not even the first one */
    s->run.out.dir = ".";
    if (e == OK) e = sim_start(s, p, &comm);
    s->check.skip = t->skip;
    struct level *lv = &s->mesh.lev[4];
    if (t->spoil && lv->noct > lv->nown) lv->fld[FLD_U][lv->nown][3] *= 1 + 0x1p-50;
    if (e == OK) e = sim_run(s);
    CHECK(e != OK || s->time.nstep_coarse == 3);
    sim_fini(s);
    mem_free(p);
    mem_free(s);
    return e;
}

static void stops(const struct trial *t, const char *phase, const char *field, const char *what)
{
    enum err e = run(t);
    const char *text = e == OK ? "" : err_message();
    char name[64];
    snprintf(name, sizeof name, "phase %s ", phase);
    CHECK(e != OK, "without %s", t->skip ? t->skip : "a whole ghost");
    CHECK(strstr(text, name) && strstr(text, field) && strstr(text, "level ") && strstr(text, what),
          "without %s: %s", t->skip ? t->skip : "a whole ghost", text);
}

/* All particles of a uniform mesh in one corner: fraction of them on the fullest rank. */
static double crowding(int nremap)
{
    static const char *const text =
        "&RUN_PARAMS\npic=.true.\npoisson=.true.\nnstepmax=2\nmem_weight_part=1000\n/\n"
        "&AMR_PARAMS\nlevelmin=4\nlevelmax=4\n/\n"
        "&INIT_PARAMS\nfiletype='ascii'\ninitfile(1)='.'\n/\n"
        "&OUTPUT_PARAMS\nnoutput=1\ntout=100\n/\n";
    struct sim *s = mem_zero(sizeof *s, "test");
    struct params *p = mem_zero(sizeof *p, "test");
    enum err e = param_read_text(p, text, strlen(text), "corner");
    p->output.foutput = p->output.fbackup = 0;
    p->run.nremap = nremap;
    s->run.out.dir = ".";
    if (e == OK) e = sim_start(s, p, &comm);
    if (e == OK) e = sim_run(s);
    CHECK(e == OK, "%s", e == OK ? "" : err_message());
    int64_t max = s->parts.n, all = s->parts.n;
    comm_max_i64(&comm, &max, 1);
    comm_add_i64(&comm, &all, 1);
    CHECK(all == 8000, "%ld", (long)all);
    sim_fini(s);
    mem_free(p);
    mem_free(s);
    return (double)max / 8000;
}

/* A uniform mesh is balanced like any other. */
static void uniform_is_balanced(void)
{
    FILE *f = comm.rank == 0 ? fopen("ic_part", "w") : NULL;
    for (int i = 0; f && i < 8000; i++)
        fprintf(f, "%g %g %g 0 0 0 1.25e-4\n", 0.05 + 0.01 * (i % 20) - 0.5,
                0.05 + 0.01 * (i / 20 % 20) - 0.5, 0.05 + 0.01 * (i / 400) - 0.5);
    if (f) fclose(f);
    comm_barrier(&comm);
    if (comm.size == 1) return;
    CHECK(crowding(0) > 0.95);
    CHECK(crowding(1) < 0.8);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    log_init(false, -1);
    uniform_is_balanced();
    for (int gravity = 0; gravity < 2; gravity++) {
        enum err e = run(&(struct trial){.gravity = gravity});
        CHECK(e == OK, "nothing left out: %s", e == OK ? "" : err_message());
    }
    stops(&(struct trial){.skip = "send_gas"}, "godunov", "gas", "stale");
    stops(&(struct trial){.skip = "send_flags"}, "send_flags", "refinement flags", "stale");
    stops(&(struct trial){"send_gas", true, false}, "deposit", "gas", "stale");
    stops(&(struct trial){"poisson", true, false}, "first_phi", "the potential", "stale");
    stops(&(struct trial){"force", true, false}, "godunov", "the force", "stale");
    if (comm.size > 1)
        stops(&(struct trial){.spoil = true}, "refine", "gas", "differ from their owners");
    if (comm.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed > 0;
}
