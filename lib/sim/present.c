/* sim/present: the checkpoints that exist before the run begins. Those that the run might have to
 * replace are reported at the start, not days later when the output is due. */
#include <dirent.h>
#include <stdio.h>

#include "base/mem.h"
#include "sim/sim.h"

void sim_present(const struct sim *s, unsigned char there[SIM_NUMBERS])
{
    DIR *d = s->comm.rank == 0 ? opendir(s->out.dir) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        int number, end = 0;
        if (sscanf(e->d_name, "output_%5d%n", &number, &end) == 1 && end == 12 && !e->d_name[end] &&
            number > 0)
            there[number] = 1;
    }
    if (d) closedir(d);
    comm_bcast(&s->comm, there, SIM_NUMBERS, 0);
}

/* Multiples of period among the steps to come. */
static int64_t count_multiples(const struct sim *s, const char *name, int period)
{
    int64_t last = s->par->run.nstepmax;
    if (period <= 0 || !param_given(s->par, "output", name) || last < s->time.nstep_coarse)
        return 0;
    return last / period - s->time.nstep_coarse / period;
}

/* The max number of outputs that the run may write; it may end before. */
static int64_t most_outputs(const struct sim *s)
{
    const struct param_output *o = &s->par->output;
    if (param_given(s->par, "output", "delta_tout") || param_given(s->par, "output", "delta_aout"))
        return SIM_NUMBERS;
    return s->out.noutput - (s->out.iout - 1) + count_multiples(s, "foutput", o->foutput) +
           count_multiples(s, "fbackup", o->fbackup) + (s->time.nstep_coarse == 0);
}

enum err sim_check_room(const struct sim *s)
{
    enum err e = OK;
    if (s->out.force || s->end.done) return OK;
    unsigned char *there = mem_zero(SIM_NUMBERS, "start");
    sim_present(s, there);
    int64_t end = s->out.ifout + most_outputs(s);
    for (int i = s->out.ifout; i < end && i < SIM_NUMBERS && e == OK; i++)
        if (there[i])
            e = err_set(ERR_FILE,
                        "%s/output_%05d exists already, and this run may have to write it: choose "
                        "another directory (-o), or let it be replaced (--force)",
                        s->out.dir, i);
    mem_free(there);
    return e;
}
