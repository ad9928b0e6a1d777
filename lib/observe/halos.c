/* observe/halos: the halo catalogue written next to outputs (dump_halos), identical to the output
 * of inspect --halos. */
#include <stdio.h>

#include "audit/halos.h"
#include "io/stream.h"
#include "observe/live.h"
#include "observe/observe.h"
#include "oct/field_sets.h"

static enum err write_table(const struct observation *o, const struct halo_table *t)
{
    char path[PATH_MAX];
    struct stream f;
    TRY(observe_path(o, FILES_HALO_TABLE, FILES_HALO_STEP, path));
    TRY(stream_open(&f, path));
    halo_table_tsv(f.f, t);
    return stream_close(&f, 0);
}

static int every(const struct params *p)
{
    return p->run.dump_halos_every;
}

static bool wanted(const struct params *p)
{
    return p->run.dump_halos;
}

static enum err run(struct observation *o)
{
    const struct param_run *p = &o->par->run;
    const struct halos_request q = {
        .link = p->halo_link, .min = p->halo_min, .bound = p->halo_bound};
    struct halos_found found;
    struct source *s;
    TRY(observe_source(o, &s));
    live_some(s, 1);
    enum err err = source_halos(s, o->comm, &q, &found);
    struct halo_table t = {&found.box, &found.list, s->path, q.link, q.min};
    if (err == OK) err = err_agree(o->comm, o->comm->rank == 0 ? write_table(o, &t) : OK);
    halo_list_free(&found.list);
    source_close(&s);
    return err;
}

const struct observer observer_halos = {.name = "halos",
                                        .wanted = wanted,
                                        .when = OBSERVE_OUTPUT,
                                        .reads = GAS | PARTS,
                                        .every = every,
                                        .table = FILES_HALO_TABLE,
                                        .step_table = FILES_HALO_STEP,
                                        .run = run};
