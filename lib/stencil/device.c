#include "stencil/device.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "brick/brick_dev.h"
#include "fd/fd_dev.h"
#include "stencil/force.h"

struct stencil_dev {
    struct dev *dev;
    struct dev_stream *stream;
    struct brick_dev *fill;
    struct fd_arrays a;   /* in device memory */
    double *max, *speeds; /* [blocks] signal speeds, there and here */
    bool newer;           /* the fields are newer on the device */
};

static size_t bytes_of(const struct stencil *t)
{
    return sizeof(double) * t->brick.size;
}

/* ---- opening ---- */

static enum err allocate(const struct stencil *t, struct stencil_dev *d)
{
    for (int f = 0; f < FD_FIELDS; f++) {
        if (t->a.now[f]) TRY(dev_new(d->dev, &d->a.now[f], bytes_of(t), "fields"));
        if (t->a.next[f]) TRY(dev_new(d->dev, &d->a.next[f], bytes_of(t), "fields"));
        if (t->a.change[f]) TRY(dev_new(d->dev, &d->a.change[f], bytes_of(t), "changes of fields"));
    }
    const size_t n = (size_t)fd_dev_speeds(&t->brick) + 1;
    d->speeds = mem_new(sizeof(double) * n, "device");
    return dev_new(d->dev, &d->max, sizeof(double) * n, "signal speeds");
}

static void put(struct stencil *t)
{
    struct stencil_dev *d = t->device;
    for (int f = 0; f < FD_FIELDS; f++)
        if (t->a.now[f]) dev_put(d->stream, d->a.now[f], t->a.now[f], bytes_of(t));
}

/* Opens the device and its memory. Returns whether there are both; otherwise why not. */
static bool open_device(const struct stencil *t, const struct dev_how *how, char why[DEV_WHY])
{
    struct stencil_dev *d = t->device;
    d->dev = dev_open(how, why);
    if (!d->dev) return false;
    d->stream = dev_stream_new(d->dev);
    if (allocate(t, d) == OK) return true;
    snprintf(why, DEV_WHY, "%.180s", err_message());
    return false;
}

enum err stencil_dev_open(struct sim *s, struct stencil *t)
{
    char why[DEV_WHY] = "a rank has no device";
    if (!t->par->stencil.gpu) return OK;
    struct dev_how how;
    TRY(err_agree(t->comm, sim_device_how(s, &how)));
    struct stencil_dev *d = t->device = mem_zero(sizeof *d, "device");
    int64_t lacks = !open_device(t, &how, why);
    comm_max_i64(t->comm, &lacks, 1);
    if (!lacks && brick_dev_new(&d->fill, &t->brick, d->dev, FD_FIELDS) != OK) {
        lacks = 1;
        snprintf(why, sizeof why, "%.180s", err_message());
    }
    if (lacks) {
        log_info(" gpu: no device: %s: everything runs on the CPU", why);
        stencil_dev_close(t);
        return OK;
    }
    put(t);
    log_info(" gpu: the fields are on %s", dev_name(d->dev));
    if (t->force) log_info(" gpu: the force runs on the CPU: velocities are copied in each step");
    return err_agree(t->comm, dev_wait(d->stream));
}

void stencil_dev_close(struct stencil *t)
{
    struct stencil_dev *d = t->device;
    if (!d) return;
    dev_settle(d->dev);
    brick_dev_free(&d->fill);
    mem_free(d->speeds);
    if (d->stream) dev_stream_free(&d->stream);
    if (d->dev) dev_close(&d->dev);
    FREE(t->device);
}

/* ---- fields between device and host ---- */

static void get(struct stencil *t, int first, int end)
{
    struct stencil_dev *d = t->device;
    for (int f = first; f < end; f++)
        if (t->a.now[f]) dev_get(d->stream, t->a.now[f], d->a.now[f], bytes_of(t));
}

enum err stencil_dev_home(struct stencil *t)
{
    struct stencil_dev *d = t->device;
    if (!d || !d->newer) return OK;
    get(t, 0, FD_FIELDS);
    d->newer = false;
    return dev_wait(d->stream);
}

/* ---- a step ---- */

static int fields(const struct stencil_dev *d, double *field[FD_FIELDS])
{
    int n = 0;
    for (int f = 0; f < FD_FIELDS; f++)
        if (d->a.now[f]) field[n++] = d->a.now[f];
    return n;
}

static void fill_begin(struct stencil_dev *d)
{
    double *field[FD_FIELDS];
    const int n = fields(d, field);
    brick_dev_fill_begin(d->fill, d->stream, n, field);
}

enum err stencil_dev_speed(struct stencil *t, double *speed)
{
    struct stencil_dev *d = t->device;
    const int64_t n = fd_dev_speeds(&t->brick);
    timer_start("halos");
    fill_begin(d);
    brick_dev_fill_end(d->fill, d->stream);
    timer_start("time step");
    fd_dev_speed(d->stream, &t->eq, &t->brick, &d->a, d->max);
    dev_get(d->stream, d->speeds, d->max, sizeof(double) * (size_t)n);
    enum err err = dev_wait(d->stream);
    *speed = 0;
    for (int64_t i = 0; i < n && err == OK; i++) *speed = fd_faster(*speed, d->speeds[i]);
    return err_agree(t->comm, err);
}

static void substep(struct stencil *t, int i, double dt, bool filled)
{
    static const int zero[3];
    struct stencil_dev *d = t->device;
    const struct brick *b = &t->brick;
    int lo[7][3], hi[7][3];
    const bool whole = filled || !t->par->stencil.overlap;
    const int n = whole ? 0 : brick_boxes(b, lo, hi);
    if (!filled) fill_begin(d);
    if (n > 0) fd_dev_substep(d->stream, &t->eq, b, lo[0], hi[0], &d->a, i, dt);
    if (!filled) brick_dev_fill_end(d->fill, d->stream);
    if (whole) fd_dev_substep(d->stream, &t->eq, b, zero, b->own, &d->a, i, dt);
    for (int k = 1; k < n; k++) fd_dev_substep(d->stream, &t->eq, b, lo[k], hi[k], &d->a, i, dt);
    fd_arrays_swap(&d->a);
}

/* The force on velocities that are brought home for it. */
static enum err kick(struct stencil *t, int64_t it, double dt)
{
    struct stencil_dev *d = t->device;
    timer_start("force");
    get(t, FD_LNRHO, FD_UZ + 1);
    TRY(dev_wait(d->stream));
    force_kick(t->force, t, it, dt, &t->a.now[FD_UX]);
    for (int f = FD_UX; f <= FD_UZ; f++) dev_put(d->stream, d->a.now[f], t->a.now[f], bytes_of(t));
    return dev_wait(d->stream);
}

enum err stencil_dev_step(struct stencil *t, int64_t it, double dt, bool filled)
{
    struct stencil_dev *d = t->device;
    timer_start("stencil");
    d->newer = true;
    for (int i = 0; i < FD_SUBSTEPS; i++) substep(t, i, dt, filled && i == 0);
    enum err err = t->force ? kick(t, it, dt) : dev_wait(d->stream);
    return err_agree(t->comm, err);
}
