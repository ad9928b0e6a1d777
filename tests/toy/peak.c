/* peak: the smallest observer: after each output, writes the max density of the gas to a file in
 * the checkpoint. tests/property/adding.py puts it into a copy of lib/observe. */
#include <float.h>
#include <stdio.h>

#include "io/stream.h"
#include "observe/observe.h"
#include "oct/field_sets.h"

static bool wanted(const struct params *p)
{
    return p->run.hydro;
}

static enum err take_octs(const struct source_octs *o, void *ctx)
{
    double *peak = ctx;
    for (int i = 0; i < o->n; i++)
        for (int c = 0; c < 8; c++)
            if (!(o->split[i] >> c & 1) && o->val[c][i] > *peak) *peak = o->val[c][i];
    return OK;
}

static enum err write_row(const struct observation *o, double peak)
{
    char path[PATH_MAX];
    struct stream f;
    snprintf(path, sizeof path, "%.4000s/peak_%05d.tsv", o->dir, o->number);
    TRY(stream_open(&f, path));
    fprintf(f.f, "%.17g\t%.17g\n", o->head->t, peak);
    return stream_close(&f, 0);
}

static enum err run(struct observation *o)
{
    struct source *s;
    double peak = -DBL_MAX;
    TRY(observe_source(o, &s));
    enum err err = err_agree(o->comm,
                             source_octs(s, o->comm->rank, SOURCE_STORED, take_octs, &peak));
    source_close(&s);
    TRY(err);
    comm_max_f64(o->comm, &peak, 1);
    return err_agree(o->comm, o->comm->rank == 0 ? write_row(o, peak) : OK);
}

const struct observer observer_peak = {.name = "peak",
                                       .wanted = wanted,
                                       .when = OBSERVE_OUTPUT,
                                       .reads = GAS,
                                       .table = FILES_KINDS,
                                       .run = run};
