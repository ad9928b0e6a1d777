/* observe/halos: the halos of the state, written beside outputs (dump_halos): the same catalogue as
 * that of inspect --halos. */
#include <stdio.h>

#include "halo/state.h"
#include "halo/table.h"
#include "io/stream.h"
#include "observe/observe.h"
#include "oct/field_sets.h"

static struct halo_box box_of(const struct observation *o)
{
    const struct ckpt_head *h = o->head;
    struct halo_box b = {.cosmo = h->cosmo,
                         .aexp = h->aexp,
                         .omega_m = h->omega_m,
                         .omega_l = h->omega_l,
                         .omega_k = h->omega_k,
                         .h0 = h->h0,
                         .boxlen_ini = h->boxlen_ini,
                         .t = h->t,
                         .boxlen = h->boxlen,
                         .unit_l = h->unit_l,
                         .unit_d = h->unit_d,
                         .unit_t = h->unit_t};
    for (int k = 0; k < 3; k++)
        b.periodic[k] = !o->mesh->bounded[2 * k] && !o->mesh->bounded[2 * k + 1];
    return b;
}

static enum err write_halos(const struct observation *o, const struct halo_table *t)
{
    char path[PATH_MAX];
    struct stream f;
    TRY(observe_path(o, FILES_HALO_TABLE, path));
    TRY(stream_open(&f, path));
    halo_table_tsv(f.f, t);
    return stream_close(&f, 0);
}

static bool wanted(const struct params *p)
{
    return p->run.dump_halos;
}

static enum err run(struct observation *o)
{
    char from[64];
    struct halo_list list;
    const struct halo_box box = box_of(o);
    struct halo_par par = halo_par_of(&box, o->par->run.halo_link, o->par->run.halo_min);
    par.centre = o->par->run.halo_bound ? HALO_BOUND : HALO_DENSEST;
    struct halo_points bodies = halo_state(o->mesh, o->parts, box.periodic);
    TRY(halo_find(o->comm, &par, &bodies, &list));
    snprintf(from, sizeof from, "output_%05d", o->number);
    struct halo_table t = {&box, &list, from, par.part, par.min};
    enum err err = o->comm->rank == 0 ? write_halos(o, &t) : OK;
    halo_list_free(&list);
    return err_agree(o->comm, err);
}

const struct observer observer_halos = {.name = "halos",
                                        .wanted = wanted,
                                        .when = OBSERVE_OUTPUT,
                                        .reads = GAS | PARTS,
                                        .table = FILES_HALO_TABLE,
                                        .run = run};
