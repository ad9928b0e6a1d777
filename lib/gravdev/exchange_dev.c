/* gravdev/exchange_dev: exchange of ghosts of gravity arrays on a device, packed on the device
 * (dom/ghost_dev), or on the host if the device has no memory for the messages. */
#include "base/mem.h"
#include "gravdev/dev_priv.h"

static const int BLACK[4] = {1, 2, 4, 7};

static void fill_here(const struct grav_dev *d, const struct grav_payload *k, const struct xplan *p,
                      void *const here[])
{
    struct ghost_rows rows = {0};
    if (k->what == PAYLOAD_SUMS)
        ghost_add_i64(d->comm, p, k->n, (int64_t(*const *)[8])here);
    else if (k->what == PAYLOAD_BLACK) {
        ghost_cells_begin(&rows, d->comm, k->use, p, BLACK, (const double(*)[8])here[0]);
        ghost_cells_end(&rows, BLACK, here[0]);
    } else
        ghost_fill_rows(d->comm, k->use, p, k->n, here, k->stride);
}

/* Starts copying to the host the lists of a plan that are on the device only (owner: caller). */
static lidx *lists_get(const struct grav_dev *d, const struct ghost_dev_plan *q, struct xplan *p)
{
    const size_t nsend = (size_t)p->sfirst[p->npeer], n = nsend + (size_t)p->rfirst[p->npeer];
    lidx *lists = mem_new(sizeof *lists * n + 1, "exchange plans");
    p->send = lists;
    p->recv = lists + nsend;
    dev_get(d->stream, lists, q->list, sizeof *lists * n);
    return lists;
}

static void exchange_here(const struct grav_dev *d, const struct grav_payload *k)
{
    void *here[PAYLOAD_ARRAYS];
    struct xplan p = *k->plan->plan;
    lidx *lists = NULL;
    if (!p.send && p.npeer > 0) lists = lists_get(d, k->plan, &p);
    for (int i = 0; i < k->n; i++) {
        here[i] = mem_new(k->stride[i] * (size_t)k->noct + 1, "ghost buffers");
        dev_get(d->stream, here[i], k->arr[i], k->stride[i] * (size_t)k->noct);
    }
    BUG_ON(dev_wait(d->stream) != OK); /* unrecoverable: device data are lost */
    fill_here(d, k, &p, here);
    for (int i = 0; i < k->n; i++)
        dev_put(d->stream, k->arr[i], here[i], k->stride[i] * (size_t)k->noct);
    BUG_ON(dev_wait(d->stream) != OK);
    for (int i = 0; i < k->n; i++) mem_free(here[i]);
    mem_free(lists);
}

static enum err exchange_dev(struct grav_dev *d, const struct grav_payload *k)
{
    struct ghost_dev_rows rows;
    if (k->what == PAYLOAD_SUMS)
        return ghost_dev_add_i64(d->ghost, d->comm, k->plan, k->n, (int64_t(*const *)[8])k->arr);
    if (k->what == PAYLOAD_BLACK) {
        TRY(ghost_dev_cells_begin(&rows, d->ghost, d->comm, k->use, k->plan, BLACK, k->arr[0]));
        ghost_dev_cells_end(&rows, BLACK, k->arr[0]);
        return OK;
    }
    TRY(ghost_dev_rows_begin(&rows, d->ghost, d->comm, k->use, k->plan, k->n, k->arr, k->stride));
    ghost_dev_rows_end(&rows, k->n, k->arr, k->stride);
    return OK;
}

void grav_exchange(struct grav_dev *d, const struct grav_payload *k)
{
    if (d->comm->size > 1 && exchange_dev(d, k) != OK) exchange_here(d, k);
}

void grav_exchange_level(struct grav_dev *d, const struct mesh *m, int l, struct grav_payload k)
{
    if (d->comm->size == 1) return;
    /* A failure is unrecoverable: device data are lost. */
    BUG_ON(ghost_dev_level(d->ghost, m, l, &k.plan) != OK);
    k.noct = m->lev[l].noct;
    grav_exchange(d, &k);
}
