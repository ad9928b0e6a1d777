/* api/measure: maps, profiles, spectra and halos: what inspect and pk print, as arrays.
 *
 * Lengths of requests are in code units; the modules that measure have the box as unit. */
#include <math.h>
#include <string.h>

#include "api/priv.h"
#include "audit/halos.h"
#include "base/mem.h"
#include "fft/fft.h"
#include "formats/formats.h"
#include "part/family.h"
#include "view/feed.h"
#include "view/map.h"
#include "view/profile.h"

enum { PIXELS_MAX = 16384, BINS_MAX = 2048, SPHERE = 3 };
static const double WIDEST = 1; /* of a map, in boxes */

static struct comm alone(void)
{
    return (struct comm){.size = 1, .node_size = 1, .threads = 1};
}

static enum err check_real(const struct ptah *p, const char *what, double x, double lo, double hi)
{
    if (x >= lo && x <= hi) return OK;
    FAIL(ERR_PARAM, "%s: the %s is %g, which must be from %g to %g", p->s->path, what, x, lo, hi);
}

/* A point of the box in units of the box. */
static enum err place_in_box(const struct ptah *p, const double x[3], double to[3])
{
    const double box = p->s->head.boxlen;
    for (int d = 0; d < 3; d++) {
        TRY(check_real(p, "centre", x[d], 0, box));
        to[d] = x[d] / box;
    }
    return OK;
}

static enum err check_size(const struct ptah *p, const char *what, double size, double boxes)
{
    const double box = p->s->head.boxlen;
    return check_real(p, what, size, 1e-12 * box, boxes * box);
}

/* ---- maps ---- */

static enum err map_options_of(const struct ptah *p, const struct ptah_map_ask *a,
                               struct map_options *o)
{
    const double box = p->s->head.boxlen;
    *o = (struct map_options){.field = a->field,
                              .axis = a->axis,
                              .pixels = a->pixels,
                              .physical = a->physical,
                              .weight = (enum map_weight)a->weight,
                              .width = a->width / box,
                              .depth = a->depth / box,
                              .recent = 100};
    TRY(check_real(p, "axis", a->axis, 0, 2));
    TRY(check_real(p, "number of pixels", a->pixels, 1, PIXELS_MAX));
    TRY(check_real(p, "weight", a->weight, BY_DEFAULT, GREATEST));
    TRY(check_size(p, "width", a->width, WIDEST));
    TRY(check_size(p, "depth", a->depth, WIDEST));
    return place_in_box(p, a->centre, o->centre);
}

/* The picture takes the pixels of the map over. */
static void give_map(struct map *m, double box, struct ptah_picture *out)
{
    const int axis[3] = {m->u, m->v, m->w};
    out->columns = m->n, out->rows = m->rows;
    for (int k = 0; k < 3; k++) {
        if (k < 2) out->axis[k] = axis[k];
        out->lo[k] = m->lo[k] * box, out->hi[k] = m->hi[k] * box;
    }
    snprintf(out->pixel.name, sizeof out->pixel.name, "%.60s", m->o->field);
    snprintf(out->pixel.unit, sizeof out->pixel.unit, "%.30s", m->unit);
    out->pixel.type = 'd';
    out->pixel.data = m->sum;
    m->sum = NULL;
}

int ptah_map(struct ptah *p, const struct ptah_map_ask *ask, struct ptah_picture *out)
{
    const int threads = call_begin();
    struct map_options o;
    struct map m = {0};
    *out = (struct ptah_picture){0};
    enum err e = map_options_of(p, ask, &o);
    if (e == OK) e = map_make(&m, p->s, &o);
    if (e == OK) give_map(&m, p->s->head.boxlen, out);
    map_free(&m);
    ptah_free(NULL);
    return call_end(threads, e);
}

/* ---- profiles ---- */

static enum err give_profile(const struct profile *f, const char *path, struct ptah_table *out)
{
    int64_t room = 0;
    for (int k = 0; k < f->columns; k++)
        table_add(out, profile_name(f->list[k]), f->unit[f->list[k]], 'd');
    TRY(table_room(out, &room, f->n, path));
    out->n = f->n;
    for (int k = 0; k < f->columns; k++)
        for (int i = 0; i < f->n; i++) ((double *)out->column[k].data)[i] = f->row[i][f->list[k]];
    return OK;
}

int ptah_profile(struct ptah *p, const struct ptah_profile_ask *ask, struct ptah_table *out)
{
    const int threads = call_begin();
    struct profile_options o = {.radius = ask->radius / p->s->head.boxlen,
                                .bins = ask->bins,
                                .linear = ask->linear,
                                .physical = ask->physical};
    struct profile f = {0};
    *out = (struct ptah_table){0};
    enum err e = place_in_box(p, ask->centre, o.centre);
    if (e == OK) e = check_size(p, "radius", ask->radius, 0.5);
    if (e == OK) e = check_real(p, "number of bins", ask->bins, 2, BINS_MAX);
    if (e == OK) e = profile_make(&f, p->s, &o);
    if (e == OK) e = give_profile(&f, p->s->path, out);
    if (e != OK) ptah_table_free(out);
    profile_free(&f);
    ptah_free(NULL);
    return call_end(threads, e);
}

/* ---- spectra ---- */

enum { PAIRS_MAX = 16 };

struct spectra {
    const struct ptah_spectra_ask *ask;
    struct source *s; /* the state, opened for this request */
    struct comm c;
    struct pk_par par;
    struct feed feed;
    struct pk_pair pair[PAIRS_MAX];
    int nmesh, nbin;
    double *edge;
    struct pk_bin *bin; /* [pair][nbin] */
};

/* The species of a name of n characters as a set of bits; 0: unknown. */
static unsigned species_set(const char *name, size_t n)
{
    for (unsigned i = 0; i <= SPECIES_COUNT; i++)
        if (strlen(SPECIES_NAME[i]) == n && strncmp(SPECIES_NAME[i], name, n) == 0)
            return i < SPECIES_COUNT ? 1u << i : (1u << SPECIES_COUNT) - 1;
    return 0;
}

/* Reads names such as dm and dmxgas; then each species that is asked for gets a mesh. */
static enum err read_pairs(struct spectra *q)
{
    unsigned wanted = 0;
    for (int i = 0; i < q->ask->n; i++) {
        const char *name = q->ask->name[i];
        const size_t n = strlen(name), left = strcspn(name, "x");
        struct pk_pair *to = &q->pair[i];
        to->a = to->b = species_set(name, left);
        if (left < n) to->b = species_set(name + left + 1, n - left - 1);
        if (!to->a || !to->b)
            FAIL(ERR_PARAM,
                 "%s: %.60s: a spectrum is that of dm, gas, star, other or all, or of a pair such "
                 "as dmxgas",
                 q->s->path, name);
        wanted |= to->a | to->b;
    }
    for (int k = 0; k < SPECIES_COUNT; k++) q->feed.mesh[k] = wanted >> k & 1 ? q->nmesh++ : -1;
    return OK;
}

/* Sets of species become sets of meshes. */
static unsigned meshes_of(const struct feed *f, unsigned species)
{
    unsigned set = 0;
    for (int k = 0; k < SPECIES_COUNT; k++)
        if (species >> k & 1) set |= 1u << f->mesh[k];
    return set;
}

static bool has_any(const struct feed *f, unsigned species)
{
    bool any = species >> SPECIES_GAS & 1 && f->cells;
    for (int k = 0; k < SPECIES_COUNT; k++) any |= species >> k & 1 && f->points[k];
    return any;
}

static enum err check_pairs(const struct spectra *q)
{
    for (int i = 0; i < q->ask->n; i++)
        if (!has_any(&q->feed, q->pair[i].a) || !has_any(&q->feed, q->pair[i].b))
            FAIL(ERR_PARAM, "%s: has no matter of the species %.60s", q->s->path, q->ask->name[i]);
    return OK;
}

static enum err check_spectra(const struct ptah *p, const struct ptah_spectra_ask *a)
{
    const double cells = pow(a->mesh, 3), need = 8 * cells * (2 * SPECIES_COUNT + 2);
    TRY(check_real(p, "number of cells along the mesh", a->mesh, 4, FFT_SIZE_MAX));
    TRY(check_real(p, "number of folds", a->fold, 1, 1024));
    TRY(check_real(p, "axis", a->axis, -1, 2));
    TRY(check_real(p, "number of spectra", a->n, 1, PAIRS_MAX));
    if (need > (double)mem_machine())
        FAIL(ERR_LIMIT, "%s: a mesh of %d³ cells may need %.3g GiB of memory; the machine has %.3g",
             p->s->path, a->mesh, need / 0x1p30, (double)mem_machine() / 0x1p30);
    if (a->axis >= 0 && !p->s->head.cosmo)
        FAIL(ERR_PARAM, "%s: redshift space needs a cosmological run", p->s->path);
    return OK;
}

/* Reads the masses once for their sum, and once into the meshes. */
static enum err measure(struct spectra *q)
{
    TRY(source_in_space(q->s, "power spectra"));
    TRY(read_pairs(q));
    TRY(feed_source(&q->feed, q->s));
    if (!(q->feed.mass > 0))
        FAIL(ERR_PARAM, "%s: has no mass of the species asked for", q->s->path);
    q->feed.max = q->feed.mass;
    memset(q->feed.points, 0, sizeof q->feed.points);
    q->feed.cells = 0;
    q->feed.pk = pk_new(&q->c, &q->par, q->nmesh, q->feed.max);
    TRY(feed_source(&q->feed, q->s));
    TRY(check_pairs(q));
    for (int i = 0; i < q->ask->n; i++) {
        q->pair[i].a = meshes_of(&q->feed, q->pair[i].a);
        q->pair[i].b = meshes_of(&q->feed, q->pair[i].b);
    }
    q->nbin = q->par.n / 2;
    q->edge = mem_new(sizeof *q->edge * ((size_t)q->nbin + 1), "pk bins");
    pk_fundamental_bins(q->par.n, q->edge);
    q->edge[q->nbin] = 0.5 * q->par.n * (1 + 1e-12); /* the last bin has the Nyquist mode */
    q->bin = mem_zero(sizeof *q->bin * (size_t)(q->ask->n * q->nbin), "pk bins");
    pk_spectra(q->feed.pk, q->ask->n, q->pair, q->nbin, q->edge, q->ask->axis, q->bin);
    return OK;
}

/* Columns: k and modes, then of each spectrum the power, its shot noise and error, and with an axis
 * the quadrupole and hexadecapole. Units: h/Mpc, or 2π by code units. */
static enum err give_spectra(const struct spectra *q, struct ptah_table *out)
{
    static const char *const part[] = {"", "_shot", "_sigma", "_2", "_4"};
    const bool cosmo = q->feed.box.cosmo;
    const double length = q->feed.box.length, volume = length * length * length;
    const int parts = q->ask->axis < 0 ? 3 : 5;
    int64_t room = 0;
    table_add(out, "k", cosmo ? "h/Mpc" : "1/code", 'd');
    table_add(out, "modes", "", 'q');
    for (int i = 0; i < q->ask->n * parts; i++) {
        char name[64];
        snprintf(name, sizeof name, "%.40s%s", q->ask->name[i / parts], part[i % parts]);
        table_add(out, name, cosmo ? "(Mpc/h)^3" : "code^3", 'd');
    }
    TRY(table_room(out, &room, q->nbin, q->s->path));
    out->n = q->nbin;
    for (int b = 0; b < q->nbin; b++) {
        ((double *)out->column[0].data)[b] = q->bin[b].k * 2 * M_PI / length;
        ((int64_t *)out->column[1].data)[b] = q->bin[b].modes;
        for (int i = 0; i < q->ask->n * parts; i++) {
            const struct pk_bin *from = &q->bin[(int64_t)(i / parts) * q->nbin + b];
            const double value[] = {from->p[0], from->shot, from->sigma, from->p[1], from->p[2]};
            ((double *)out->column[2 + i].data)[b] = value[i % parts] * volume;
        }
    }
    return OK;
}

int ptah_spectra(struct ptah *p, const struct ptah_spectra_ask *ask, struct ptah_table *out)
{
    const int threads = call_begin();
    struct spectra q = {.ask = ask, .c = alone()};
    q.par = (struct pk_par){ask->mesh, PK_PCS, true, ask->fold};
    q.feed = (struct feed){.c = &q.c, .axis = ask->axis, .max = INFINITY};
    *out = (struct ptah_table){0};
    enum err e = check_spectra(p, ask);
    if (e == OK) e = source_open_state(p->s->path, 0, 0, &q.s);
    if (e == OK) e = measure(&q);
    if (e == OK) e = give_spectra(&q, out);
    if (e != OK) ptah_table_free(out);
    pk_free(&q.feed.pk);
    source_close(&q.s);
    FREE(q.edge);
    ptah_free(q.bin);
    return call_end(threads, e);
}

/* ---- halos ---- */

static enum err give_halos(const struct halos_found *found, const struct ptah_halos_ask *ask,
                           const char *path, struct ptah_table *out)
{
    const struct halo_table t = {&found->box, &found->list, path, ask->link, ask->min};
    int64_t room = 0;
    for (int c = 0; c < halo_columns(); c++) {
        const char *unit, *name = halo_column(c, &unit);
        table_add(out, name, strcmp(unit, "box") == 0 ? "" : unit,
                  halo_column_whole(c) ? 'q' : 'd');
    }
    TRY(table_room(out, &room, found->list.n > 0 ? found->list.n : 1, path));
    out->n = found->list.n;
    for (int c = 0; c < halo_columns(); c++) {
        const char *unit;
        (void)halo_column(c, &unit);
        const double worth = strcmp(unit, "box") == 0 ? found->box.boxlen : 1;
        for (int64_t i = 0; i < out->n; i++) {
            if (c == 0)
                ((int64_t *)out->column[c].data)[i] = found->list.at[i].id;
            else if (halo_column_whole(c))
                ((int64_t *)out->column[c].data)[i] = (int64_t)halo_value(&t, i, c);
            else
                ((double *)out->column[c].data)[i] = halo_value(&t, i, c) * worth;
        }
    }
    return OK;
}

static enum err find_halos(const struct ptah *p, const struct ptah_halos_ask *ask,
                           struct halos_found *found)
{
    const struct comm c = alone();
    struct halos_request q = {.link = ask->link, .min = ask->min, .has_sphere = ask->radius != 0};
    struct source *s = NULL;
    TRY(check_real(p, "linking length", ask->link, 1e-3, 10));
    TRY(check_real(p, "smallest number of members", (double)ask->min, 1, 1e15));
    if (q.has_sphere) {
        TRY(place_in_box(p, ask->centre, q.sphere));
        TRY(check_size(p, "radius", ask->radius, 0.5));
        q.sphere[SPHERE] = ask->radius / p->s->head.boxlen;
    }
    TRY(source_open_state(p->s->path, 0, 0, &s));
    enum err e = source_in_space(s, "halos");
    if (e == OK) e = source_halos(s, &c, &q, found);
    source_close(&s);
    return e;
}

int ptah_halos(struct ptah *p, const struct ptah_halos_ask *ask, struct ptah_table *out)
{
    const int threads = call_begin();
    struct halos_found found = {0};
    *out = (struct ptah_table){0};
    enum err e = find_halos(p, ask, &found);
    if (e == OK) {
        e = give_halos(&found, ask, p->s->path, out);
        halo_list_free(&found.list);
    }
    if (e != OK) ptah_table_free(out);
    ptah_free(NULL);
    return call_end(threads, e);
}
