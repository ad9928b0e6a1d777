/* stencil/turb: see turb.h. */
#include "stencil/turb.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "turb/process.h"

struct driven {
    struct waves waves;
    struct turb_process *process;
    double norm; /* acceleration over amplitude */
};

static enum err check(const struct param_turb *p)
{
    if (p->turb_type != 1 && p->turb_type != -1)
        FAIL(ERR_PARAM,
             "turb_params/turb_type=%d must be 1 with solver='stencil', which drives evolving "
             "turbulence only",
             p->turb_type);
    return turb_process_check(p);
}

/* RAMSES's normalisation: the rms of an amplitude over all modes, times a fit of the rms that the
 * projection leaves. */
static double norm_of(const struct driven *o, const struct param_turb *p)
{
    double s = o->process->across, left = 0.797 * s * s - 0.529 * s + 0.568;
    return p->turb_rms / (turb_process_power(o->process) * left * sqrt(p->turb_t / 2));
}

static struct turb_modes modes_of(const struct driven *o, const struct stencil *t,
                                  const struct turb_spectrum *s)
{
    const size_t n = (size_t)o->waves.n;
    struct turb_modes q = {.n = o->waves.n,
                           .k = mem_new(sizeof *q.k * n, "turbulence"),
                           .unit = mem_new(sizeof *q.unit * n, "turbulence"),
                           .weight = mem_new(sizeof *q.weight * n, "turbulence")};
    for (int i = 0; i < q.n; i++) {
        double k[3];
        memcpy(q.k[i], o->waves.k[i], sizeof q.k[i]);
        waves_vector(t, q.k[i], k);
        double length = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
        for (int d = 0; d < 3; d++) q.unit[i][d] = k[d] / length;
        q.weight[i] = turb_weight(s, o->waves.kappa[i], o->waves.k[i]);
    }
    return q;
}

enum err driven_new(const struct stencil *t, struct driven **out)
{
    enum { FORGOTTEN = 42 }; /* exp(-42) is below the precision of numbers */
    const struct param_turb *p = &t->par->turb;
    const struct turb_spectrum *s = NULL;
    TRY(check(p));
    TRY(turb_spectrum_find("forcing_power_spectrum", p->forcing_power_spectrum, &s));
    struct driven *o = *out = mem_zero(sizeof *o, "turbulence");
    TRY(waves_list(&o->waves, t, s->weight, 0, s->highest, true,
                   "turb_params/forcing_power_spectrum"));
    const uint64_t seed = (uint64_t)(p->turb_seed >= 0 ? p->turb_seed : t->par->stencil.seed);
    struct turb_modes modes = modes_of(o, t, s);
    o->process = turb_process_new(p, seed, FORGOTTEN, &modes);
    o->norm = norm_of(o, p);
    return OK;
}

void driven_free(struct driven **out)
{
    struct driven *o = *out;
    if (!o) return;
    waves_free(&o->waves);
    turb_process_free(&o->process);
    FREE(*out);
}

const struct waves *driven_at(struct driven *o, double time)
{
    struct turb_process *p = o->process;
    double steps = floor(time / p->delta), f = time / p->delta - steps;
    turb_process_move(p, p->first + (int64_t)steps);
    for (int i = 0; i < o->waves.n; i++)
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 2; c++)
                o->waves.amp[i][d][c] = 2 * o->norm *
                                        ((1 - f) * p->last[i][d][c] + f * p->next[i][d][c]);
    return &o->waves;
}
