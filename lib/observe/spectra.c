/* observe/spectra: power spectra of the state, written beside outputs (dump_pk): the same numbers
 * as the program pk finds in the checkpoint with -n 2^levelmin. */
#include <stdio.h>

#include "base/mem.h"
#include "io/stream.h"
#include "observe/observe.h"
#include "oct/field_sets.h"
#include "pk/batch.h"
#include "pk/table.h"

struct spectrum {
    const struct observation *o;
    int mesh[SPECIES_COUNT]; /* -1: the run has none */
    struct pk_batch batch;
    int64_t points, cells; /* of all ranks */
};

/* Finds the species that exist on any rank; returns their number. */
static int find_species(struct spectrum *p)
{
    const struct parts *q = p->o->parts;
    int64_t has[SPECIES_COUNT] = {[SPECIES_GAS] = p->o->mesh->hydro};
    int n = 0;
    for (int64_t i = 0; i < q->n; i++)
        if (family_has_mass(q->family[i])) has[family_species(q->family[i])] = 1;
    comm_max_i64(p->o->comm, has, SPECIES_COUNT);
    for (int k = 0; k < SPECIES_COUNT; k++) p->mesh[k] = has[k] ? n++ : -1;
    return n;
}

static void put(struct spectrum *p, int kind, const double x[3], double size, double m)
{
    pk_batch_put(
        &p->batch,
        &(struct pk_item){.x = {x[0], x[1], x[2]}, .size = size, .m = m, .mesh = p->mesh[kind]});
}

static void put_particles(struct spectrum *p)
{
    const struct parts *q = p->o->parts;
    double box = p->o->mesh->boxlen;
    for (int64_t i = 0; i < q->n; i++) {
        if (!family_has_mass(q->family[i])) continue;
        p->points++;
        put(p, family_species(q->family[i]),
            (double[3]){q->x[0][i] / box, q->x[1][i] / box, q->x[2][i] / box}, 0, q->m[i]);
    }
}

static void put_gas(struct spectrum *p, int l)
{
    const struct level *lv = &p->o->mesh->lev[l];
    double size = 1.0 / (double)((int64_t)1 << l), dx = size * p->o->mesh->boxlen,
           volume = dx * dx * dx;
    for (lidx i = 0; i < lv->nown; i++) {
        int64_t at[3];
        okey_coords(lv->key[i], at);
        for (int c = 0; c < 8; c++) {
            double x[3];
            if (lv->child[i][c] >= 0) continue;
            for (int d = 0; d < 3; d++) x[d] = ((double)(2 * at[d] + (c >> d & 1)) + 0.5) * size;
            p->cells++;
            put(p, SPECIES_GAS, x, size, level_gas(lv, GAS_DENSITY)[i][c] * volume);
        }
    }
}

/* pk NULL: only adds up the mass, which is returned. */
static double fill(struct spectrum *p, struct pk *pk)
{
    const struct mesh *m = p->o->mesh;
    p->points = p->cells = 0;
    pk_batch_begin(&p->batch, p->o->comm, pk);
    put_particles(p);
    for (int l = m->levelmin; l <= m->levelmax && m->hydro; l++) put_gas(p, l);
    /* first: other ranks may be waiting in the middle of a batch */
    double mass = pk_batch_end(&p->batch);
    comm_add_i64(p->o->comm, &p->points, 1);
    comm_add_i64(p->o->comm, &p->cells, 1);
    return mass;
}

static enum err write_table(const struct observation *o, const struct pk_table *t)
{
    char path[PATH_MAX];
    struct stream f;
    TRY(observe_path(o, FILES_PK_TABLE, path));
    TRY(stream_open(&f, path));
    pk_table_tsv(f.f, t);
    return stream_close(&f, 0);
}

static bool wanted(const struct params *p)
{
    return p->run.dump_pk;
}

static enum err run(struct observation *o)
{
    const struct ckpt_head *h = o->head;
    struct spectrum p = {.o = o};
    struct pk_par par = {.n = 1 << h->levelmin, .order = PK_PCS, .interlace = true, .fold = 1};
    struct pk_pair pair[SPECIES_COUNT + 1];
    char name[SPECIES_COUNT + 1][40], from[64];
    int nmesh = find_species(&p), npair = 0, nbin = par.n / 2;
    double total = 2; /* more than there is in a cosmological box */
    if (!h->cosmo) total = fill(&p, NULL);
    if (nmesh == 0 || !(total > 0)) return OK;
    struct pk *pk = pk_new(o->comm, &par, nmesh, total);
    fill(&p, pk);
    for (int k = 0; k <= SPECIES_COUNT; k++) {
        if (k < SPECIES_COUNT ? p.mesh[k] < 0 : nmesh == 1) continue;
        unsigned set = k < SPECIES_COUNT ? 1u << p.mesh[k] : (1u << nmesh) - 1;
        snprintf(name[npair], sizeof name[0], "%s", SPECIES_NAME[k]);
        pair[npair++] = (struct pk_pair){set, set};
    }
    double *edge = mem_new(sizeof *edge * ((size_t)nbin + 1), "pk bins");
    struct pk_bin *bin = mem_zero(sizeof *bin * (size_t)(npair * nbin), "pk bins");
    pk_fundamental_bins(par.n, edge);
    pk_spectra(pk, npair, pair, nbin, edge, -1, bin);
    pk_free(&pk);
    snprintf(from, sizeof from, "output_%05d", o->number);
    struct pk_table t = {.from = {h->cosmo, h->aexp, h->t, h->cosmo ? h->boxlen_ini : h->boxlen},
                         .path = from,
                         .par = &par,
                         .axis = -1,
                         .npair = npair,
                         .nbin = nbin,
                         .name = (const char(*)[40])name,
                         .bin = bin,
                         .points = p.points,
                         .cells = p.cells};
    enum err err = o->comm->rank == 0 ? write_table(o, &t) : OK;
    FREE(bin);
    FREE(edge);
    return err_agree(o->comm, err);
}

const struct observer observer_spectra = {.name = "spectra",
                                          .wanted = wanted,
                                          .when = OBSERVE_OUTPUT,
                                          .reads = GAS | PARTS,
                                          .table = FILES_PK_TABLE,
                                          .run = run};
