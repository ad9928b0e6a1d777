#include "sph/device.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "smooth/smooth_dev.h"

/* Opens the device and memory for the particles that are there. Returns whether there are both;
 * otherwise why not. */
static bool open_device(struct sph *t, const struct dev_how *how, char why[DEV_WHY])
{
    struct sph_dev *d = t->device;
    d->dev = dev_open(how, why);
    if (!d->dev) return false;
    d->stream = dev_stream_new(d->dev);
    d->smooth = smooth_dev_new(d->dev, d->stream);
    if (smooth_dev_reserve(d->smooth, &t->p, t->p.n) == OK) return true;
    snprintf(why, DEV_WHY, "%.180s", err_message());
    return false;
}

static void log_device(const struct sph *t)
{
    const bool pulled = t->nsink > 0 || strcmp(t->par->sph.external, "none") != 0;
    log_info(" gpu: the gas is on %s", dev_name(t->device->dev));
    if (t->eq.gravity) log_info(" gpu: gravity runs on the CPU");
    if (pulled) log_info(" gpu: external forces and point masses run on the CPU");
}

enum err sph_dev_open(const struct sim *s, struct sph *t)
{
    char why[DEV_WHY] = "a rank has no device";
    struct dev_how how;
    if (!t->par->sph.gpu) return OK;
    TRY(err_agree(t->comm, sim_device_how(s, &how)));
    t->device = mem_zero(sizeof *t->device, "device");
    int64_t lacks = !open_device(t, &how, why);
    comm_max_i64(t->comm, &lacks, 1);
    if (lacks) {
        log_info(" gpu: no device: %s: everything runs on the CPU", why);
        sph_dev_close(t);
        return OK;
    }
    log_device(t);
    return OK;
}

void sph_dev_report(const struct sph *t)
{
    struct dev_count c = {0};
    if (!t->device) return;
    c = dev_counts(t->device->dev);
    double moved[] = {(double)c.put, (double)c.got, (double)c.launches};
    comm_add_f64(t->comm, moved, 3);
    log_info(" Device: %.3f MB to it and %.3f MB back; %.0f launches", 1e-6 * moved[0],
             1e-6 * moved[1], moved[2]);
}

void sph_dev_close(struct sph *t)
{
    struct sph_dev *d = t->device;
    if (!d) return;
    smooth_dev_free(&d->smooth);
    if (d->stream) dev_drop(d->stream, d->found.p);
    dev_settle(d->dev);
    if (d->stream) dev_stream_free(&d->stream);
    if (d->dev) dev_close(&d->dev);
    FREE(t->device);
}

enum err sph_tree(struct sph *s)
{
    struct smooth *p = &s->p;
    if (s->device) return smooth_dev_tree(s->device->smooth, p, &s->swarm.frame);
    near_free(&s->near);
    const struct near_points all = {p->n + p->ghosts, {p->x[0], p->x[1], p->x[2]}, p->id};
    return near_new(&all, &s->swarm.frame, SMOOTH_LEAF, &s->near);
}

enum err sph_density(struct sph *s, double factor, int64_t *beyond)
{
    if (s->device) return smooth_dev_density(s->device->smooth, &s->eq, &s->p, factor, beyond);
    return smooth_density(&s->eq, &s->p, s->near, s->reach, beyond);
}

enum err sph_forces(struct sph *s)
{
    if (s->device) return smooth_dev_forces(s->device->smooth, &s->eq, &s->p);
    return smooth_forces(&s->eq, &s->p, s->near);
}

enum err sph_home(struct sph *s, smooth_set which)
{
    return s->device ? err_agree(s->comm, smooth_dev_home(s->device->smooth, &s->p, which)) : OK;
}

void sph_changed(struct sph *s, smooth_set which)
{
    if (s->device) smooth_dev_changed(s->device->smooth, which, false);
}
