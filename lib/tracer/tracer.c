/* tracer/tracer: what all tracers share. */
#include "tracer/tracer.h"

enum tracer_way tracer_way(const struct params *p)
{
    if (!p->run.tracer || !p->run.hydro) return TRACER_NONE;
    return p->tracer.mc_tracer ? TRACER_JUMPS : TRACER_DRIFTS;
}

uint64_t tracer_seed(const struct tracer_run *r, int l, enum tracer_use use)
{
    const uint64_t purpose = 0x7472616365727300u; /* "tracers" in ASCII */
    const uint64_t seed = rng_mix(purpose + (uint64_t)r->par->tracer.tracer_seed);
    return rng_mix(seed + (uint64_t)use * 64 + (uint64_t)l);
}

struct rng tracer_rng(const struct tracer_run *r, uint64_t key, int l, enum tracer_use use)
{
    return rng_make(tracer_seed(r, l, use), key, (uint32_t)r->nstep);
}
