/* sim/device: what of a run is done on a device (lib/dev; docs/gpu.md). Results do not depend on
 * it: ranks without a device, or with one that is full, use the CPU. */
#include "base/log.h"
#include "base/mem.h"
#include "sim/sim.h"
#include "sink/run.h"

static enum err gas_begin(struct sim *s)
{
    struct sim_device *d = &s->device;
    char why[DEV_WHY];
    const char *lacks = hydro_dev_lacks(&s->hydro);
    struct dev_how how = {.kind = s->par->run.gpu_device,
                          .rank = s->comm.rank,
                          .seed = s->par->run.gpu_seed ? (uint64_t)s->par->run.gpu_seed +
                                                             ((uint64_t)s->comm.rank << 32)
                                                       : 0};
    if (lacks) {
        log_info(" gpu_hydro: %s has no kernel: the gas runs on the CPU", lacks);
        return OK;
    }
    d->dev = dev_open(&how, why);
    if (!d->dev) {
        log_info(" gpu_hydro: no device: %s: the gas runs on the CPU", why);
        return OK;
    }
    d->stream = dev_stream_new(d->dev);
    d->mirror = mem_zero(sizeof *d->mirror, "device");
    TRY(mirror_init(d->mirror, d->dev, d->stream));
    TRY(hydro_dev_new(&d->gas, d->mirror));
    log_info(" gpu_hydro: the Godunov step runs on %s", dev_name(d->dev));
    return OK;
}

enum err sim_device_open(struct sim *s)
{
    if (!s->par->run.gpu_hydro || !s->mesh.hydro) return OK;
    return err_agree(&s->comm, gas_begin(s));
}

void sim_device_close(struct sim *s)
{
    struct sim_device *d = &s->device;
    dev_stream_free(&d->stream); /* waits */
    hydro_dev_free(&d->gas);
    if (d->mirror) mirror_fini(d->mirror);
    FREE(d->mirror);
    dev_close(&d->dev);
}

bool sim_device_godunov(struct sim *s, int l, double hexp)
{
    struct sim_device *d = &s->device;
    if (!d->gas || (sinks_any(s->sinks) && s->sinks->round[l].change.n > 0)) return false;
    ghost_fill_end(&s->gas_fill);
    enum err e = hydro_dev_update(d->gas, &s->mesh, l, s->time.dtnew[l], hexp, &s->hydro);
    BUG_ON(mirror_home(d->mirror, &s->mesh, true) != OK); /* the state is lost */
    d->bytes += sizeof(double[8]) * (double)s->mesh.nvar * (double)s->mesh.lev[l].nown;
    if (e == OK) return true;
    log_info(" gpu_hydro: %s: from now on the gas runs on the CPU", err_message());
    hydro_dev_free(&d->gas);
    return false;
}

void sim_device_report(struct sim *s)
{
    const struct sim_device *d = &s->device;
    if (!s->par->run.gpu_hydro || !s->mesh.hydro) return;
    struct dev_count c = d->dev ? dev_counts(d->dev) : (struct dev_count){0};
    int64_t n[4] = {c.put, c.got, c.launches, (int64_t)d->bytes};
    comm_add_i64(&s->comm, n, 4);
    if (n[2] == 0) return;
    double steps = d->steps > 0 ? d->steps : 1;
    log_info(" Device: %.1f MB to it and %.1f MB back a coarse step, %.2f times the gas advanced; "
             "%.0f launches",
             1e-6 * (double)n[0] / steps, 1e-6 * (double)n[1] / steps,
             (double)(n[0] + n[1]) / (double)n[3], (double)n[2] / steps);
}
