/* sim/halos: the halos of the state, written beside outputs (dump_halos): the same catalogue as
 * that of inspect --halos. */
#include <stdio.h>

#include "base/timer.h"
#include "ckpt/files.h"
#include "halo/state.h"
#include "halo/table.h"
#include "io/stream.h"
#include "sim/sim.h"

static struct halo_box box_of(const struct sim *s)
{
    struct units u = sim_units(s);
    const struct cosmo_par *p = &s->phys.cosmo_par;
    struct halo_box b = {.cosmo = s->phys.cosmo != NULL,
                         .aexp = s->time.aexp,
                         .omega_m = p->omega_m,
                         .omega_l = p->omega_l,
                         .omega_k = p->omega_k,
                         .h0 = p->h0,
                         .boxlen_ini = p->boxlen_ini,
                         .t = s->time.t,
                         .boxlen = s->mesh.boxlen,
                         .unit_l = u.length,
                         .unit_d = u.density,
                         .unit_t = u.time};
    for (int k = 0; k < 3; k++)
        b.periodic[k] = !s->mesh.bounded[2 * k] && !s->mesh.bounded[2 * k + 1];
    return b;
}

static enum err write_halos(const struct halo_table *t, const char *dir, int number)
{
    char path[PATH_MAX];
    struct stream f;
    TRY(files_path(dir, FILES_HALO_TABLE, number, 0, path));
    TRY(stream_open(&f, path));
    halo_table_tsv(f.f, t);
    return stream_close(&f, 0);
}

enum err sim_halos(struct sim *s)
{
    char from[64];
    struct halo_list list;
    timer_start("halos");
    const struct halo_box box = box_of(s);
    struct halo_par par = halo_par_of(&box, s->par->run.halo_link, s->par->run.halo_min);
    par.centre = s->par->run.halo_bound ? HALO_BOUND : HALO_DENSEST;
    struct halo_bodies bodies = halo_state(&s->mesh, &s->parts, box.periodic);
    TRY(halo_find(&s->comm, &par, &bodies, &list));
    snprintf(from, sizeof from, "output_%05d", s->run.late.number);
    struct halo_table t = {&box, &list, from, par.part, par.least};
    enum err err = s->comm.rank == 0 ? write_halos(&t, s->run.out.dir, s->run.late.number) : OK;
    halo_list_free(&list);
    return err_agree(&s->comm, err);
}
