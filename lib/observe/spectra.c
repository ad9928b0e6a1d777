/* observe/spectra: power spectra of the state, written next to outputs (dump_pk): the same numbers
 * as the program pk finds in the checkpoint with -n 2^levelmin. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "io/stream.h"
#include "observe/live.h"
#include "observe/observe.h"
#include "oct/field_sets.h"
#include "view/feed.h"

/* Meshes for the species that exist on any rank; returns how many. */
static int give_meshes(const struct observation *o, int mesh[SPECIES_COUNT])
{
    const struct parts *q = o->parts;
    int64_t has[SPECIES_COUNT] = {[SPECIES_GAS] = o->mesh->hydro};
    int n = 0;
    for (int64_t i = 0; i < q->n; i++)
        if (family_has_mass(q->family[i])) has[family_species(q->family[i])] = 1;
    comm_max_i64(o->comm, has, SPECIES_COUNT);
    for (int k = 0; k < SPECIES_COUNT; k++) mesh[k] = has[k] ? n++ : -1;
    return n;
}

static enum err write_table(const struct observation *o, const struct pk_table *t)
{
    char path[PATH_MAX];
    struct stream f;
    TRY(observe_path(o, FILES_PK_TABLE, FILES_PK_STEP, path));
    TRY(stream_open(&f, path));
    pk_table_tsv(f.f, t);
    return stream_close(&f, 0);
}

static int every(const struct params *p)
{
    return p->run.dump_pk_every;
}

static bool wanted(const struct params *p)
{
    return p->run.dump_pk;
}

/* All species that exist, and their sum. */
static enum err measure(const struct observation *o, const struct feed *f, const struct pk_par *par,
                        const char *from)
{
    struct pk_pair pair[SPECIES_COUNT + 1];
    char name[SPECIES_COUNT + 1][40];
    int npair = 0, nbin = par->n / 2, nmesh = 0;
    for (int k = 0; k < SPECIES_COUNT; k++) nmesh += f->mesh[k] >= 0;
    for (int k = 0; k <= SPECIES_COUNT; k++) {
        if (k < SPECIES_COUNT ? f->mesh[k] < 0 : nmesh == 1) continue;
        unsigned set = k < SPECIES_COUNT ? 1u << f->mesh[k] : (1u << nmesh) - 1;
        snprintf(name[npair], sizeof name[0], "%s", SPECIES_NAME[k]);
        pair[npair++] = (struct pk_pair){.a = set, .b = set};
    }
    double *edge = mem_new(sizeof *edge * ((size_t)nbin + 1), "pk bins");
    struct pk_bin *bin = mem_zero(sizeof *bin * (size_t)(npair * nbin), "pk bins");
    pk_fundamental_bins(par->n, edge);
    pk_spectra(f->pk, npair, pair, nbin, edge, -1, bin);
    struct pk_table t = {.from = f->box,
                         .path = from,
                         .par = par,
                         .axis = -1,
                         .npair = npair,
                         .nbin = nbin,
                         .name = (const char(*)[40])name,
                         .bin = bin,
                         .cells = f->cells};
    for (int k = 0; k < SPECIES_COUNT; k++) t.points += f->points[k];
    enum err err = o->comm->rank == 0 ? write_table(o, &t) : OK;
    FREE(bin);
    FREE(edge);
    return err_agree(o->comm, err);
}

static enum err run_on(const struct observation *o, struct source *s)
{
    struct pk_par par = {.n = 1 << s->head.levelmin, .order = PK_PCS, .interlace = true, .fold = 1};
    struct feed f = {.c = o->comm, .axis = -1, .max = INFINITY};
    int nmesh = give_meshes(o, f.mesh);
    if (s->head.cosmo)
        f.mass = 2; /* more than there is in the box */
    else
        TRY(feed_source(&f, s));
    if (nmesh == 0 || !(f.mass > 0)) return OK;
    f.max = f.mass;
    f.pk = pk_new(o->comm, &par, nmesh, f.mass);
    live_some(s, 1);
    enum err err = feed_source(&f, s);
    if (err == OK) err = measure(o, &f, &par, s->path);
    pk_free(&f.pk);
    return err;
}

static enum err run(struct observation *o)
{
    struct source *s;
    TRY(observe_source(o, &s));
    enum err err = run_on(o, s);
    source_close(&s);
    return err;
}

const struct observer observer_spectra = {.name = "spectra",
                                          .wanted = wanted,
                                          .when = OBSERVE_OUTPUT,
                                          .reads = GAS | PARTS,
                                          .every = every,
                                          .table = FILES_PK_TABLE,
                                          .step_table = FILES_PK_STEP,
                                          .run = run};
