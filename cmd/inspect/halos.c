/* inspect: --halos: friends of friends and the spheres around them (lib/halo). All ranks read. */
#include <math.h>

#include "base/log.h"
#include "base/mem.h"
#include "ckpt/boundary.h"
#include "formats/formats.h"
#include "halo/mass_function.h"
#include "inspect.h"
#include "io/stream.h"

/* Bytes at the peak, of a body that is read; around a region, its surroundings are read too. */
enum { BODY_BYTES = 250 };
static const double AROUND = 1.5;

struct halos {
    struct source *r;
    const struct options *o;
    struct halo_box box;
    struct halo_par par;
    struct halo_list list;
    int64_t n, cap;
    struct halo_body *body;
    struct sum dark; /* of the whole box */
};

/* ---- reading ---- */

static enum halo_kind kind_of(int family)
{
    return family == FAM_DM ? HALO_DM : family == FAM_STAR ? HALO_STAR : HALO_GAS;
}

static bool is_near(const struct halos *h, const double x[3])
{
    double far2 = 0, radius = AROUND * h->o->sphere[3];
    for (int k = 0; k < 3; k++) {
        double d = x[k] - h->o->sphere[k];
        if (h->box.periodic[k]) d -= nearbyint(d);
        far2 += d * d;
    }
    return !h->o->has_sphere || !(far2 > radius * radius);
}

static enum err add_body(struct halos *h, const struct halo_body *b)
{
    if (h->n == h->cap) {
        int64_t cap = 2 * h->cap + 4096;
        if ((size_t)h->n * BODY_BYTES > h->o->memory && h->o->has_memory)
            FAIL(ERR_LIMIT,
                 "%s: this rank has read %ld particles and cells, which need more than the memory "
                 "given: raise --memory, use more ranks (mpirun), or give a region (--sphere)",
                 h->r->path, (long)h->n);
        h->cap = cap;
        h->body = mem_grow(h->body, sizeof *h->body * (size_t)cap, "halos: bodies");
    }
    h->body[h->n++] = *b;
    return OK;
}

static void put_place(const struct halos *h, double x[3])
{
    for (int k = 0; k < 3; k++) {
        if (!h->box.periodic[k]) continue;
        x[k] -= floor(x[k]);
        if (x[k] >= 1) x[k] = 0;
    }
}

static enum err take_parts(const struct source_parts *p, void *ctx)
{
    struct halos *h = ctx;
    for (int64_t i = 0; i < p->n; i++) {
        struct halo_body b = {.m = p->m[i], .id = p->id[i], .kind = kind_of((int)p->family[i])};
        if (p->family[i] <= 0) continue; /* tracers have no mass */
        for (int k = 0; k < 3; k++) {
            b.x[k] = p->x[k][i] / h->box.boxlen;
            b.v[k] = p->v[k][i];
        }
        put_place(h, b.x);
        if (is_near(h, b.x)) TRY(add_body(h, &b));
    }
    return OK;
}

/* Masses of the whole box, where only a region is kept. */
static enum err take_masses(const struct source_parts *p, void *ctx)
{
    struct halos *h = ctx;
    for (int64_t i = 0; i < p->n; i++) {
        if (p->family[i] != FAM_DM) continue;
        sum_add(&h->dark, p->m[i]);
        if (p->m[i] > 0) h->par.lightest = fmin(h->par.lightest, p->m[i]);
    }
    return OK;
}

static enum err take_octs(const struct source_octs *o, void *ctx)
{
    struct halos *h = ctx;
    double size = ldexp(1, -o->level), volume = pow(size * h->box.boxlen, 3);
    for (int i = 0; i < o->n; i++) {
        int64_t at[3];
        okey_coords(o->key[i], at);
        for (int c = 0; c < 8; c++) {
            struct halo_body b = {.m = o->val[c][i] * volume, .kind = HALO_GAS};
            if (o->split[i] >> c & 1) continue;
            for (int k = 0; k < 3; k++) b.x[k] = ((double)(2 * at[k] + (c >> k & 1)) + 0.5) * size;
            if (is_near(h, b.x)) TRY(add_body(h, &b));
        }
    }
    return OK;
}

static enum err read_pieces(struct halos *h)
{
    const struct ckpt_head *head = &h->r->head;
    for (int i = h->o->c.rank; i < h->r->npiece; i += h->o->c.size) {
        if (h->r->npiece > 1) log_live("reading file %d of %d", i + 1, h->r->npiece);
        if (h->o->has_sphere && head->particles)
            TRY(source_parts(h->r, i, SOURCE_STATE, take_masses, h));
        if (head->particles) TRY(source_parts(h->r, i, SOURCE_STATE, take_parts, h));
        if (head->hydro) TRY(source_octs(h->r, i, SOURCE_STATE, take_octs, h));
    }
    return OK;
}

static void fill_box(struct halos *h)
{
    const struct ckpt_head *q = &h->r->head;
    bool bounded[6];
    boundary_faces(&q->boundary, bounded);
    h->box = (struct halo_box){.cosmo = q->cosmo,
                               .aexp = q->aexp,
                               .omega_m = q->omega_m,
                               .omega_l = q->omega_l,
                               .omega_k = q->omega_k,
                               .h0 = q->h0,
                               .boxlen_ini = q->boxlen_ini,
                               .t = q->t,
                               .boxlen = q->boxlen,
                               .unit_l = q->unit_l,
                               .unit_d = q->unit_d,
                               .unit_t = q->unit_t};
    for (int k = 0; k < 3; k++) h->box.periodic[k] = !bounded[2 * k] && !bounded[2 * k + 1];
}

/* (collective) */
static enum err find_halos(struct halos *h)
{
    const struct comm *c = &h->o->c;
    const struct halos_options *o = &h->o->halos;
    fill_box(h);
    if (!(isnormal(halo_solar(&h->box)) && h->box.boxlen > 0 && h->box.unit_t > 0))
        FAIL(ERR_FORMAT, "%s: its units (unit_l=%g, unit_d=%g, unit_t=%g) give no masses",
             h->r->path, h->box.unit_l, h->box.unit_d, h->box.unit_t);
    h->par = halo_par_of(&h->box, o->link, o->least);
    h->par.members = o->members != NULL;
    h->par.lightest = INFINITY;
    sum_init(&h->dark);
    enum err err = read_pieces(h);
    log_live(NULL);
    TRY(err_agree(c, err));
    comm_sum(c, &h->dark);
    comm_min_f64(c, &h->par.lightest, 1);
    h->par.dark = sum_get(&h->dark);
    if (!isfinite(h->par.lightest)) h->par.lightest = 0;
    return halo_find(c, &h->par, h->n, &h->body, &h->list);
}

/* Of a region: only halos whose centre is in it. Counts those that may be cut. Rank 0. */
static void keep_region(struct halos *h)
{
    int64_t n = 0, cut = 0;
    double radius = h->o->sphere[3];
    for (int64_t i = 0; i < h->list.n && h->o->has_sphere; i++) {
        const struct halo *q = &h->list.at[i];
        double far2 = 0;
        for (int k = 0; k < 3; k++) {
            double d = q->x[k] - h->o->sphere[k];
            if (h->box.periodic[k]) d -= nearbyint(d);
            far2 += d * d;
        }
        if (far2 > radius * radius) continue;
        cut += !(sqrt(far2) + q->r[HALO_200M] <= AROUND * radius);
        h->list.at[n++] = *q;
    }
    if (h->o->has_sphere) h->list.n = n;
    if (cut)
        log_info("%s: %ld halos reach beyond what was read around the region: give a larger one",
                 h->r->path, (long)cut);
}

/* ---- output ---- */

static void print_json(const struct halo_table *t, const struct mass_function *f)
{
    const char *unit;
    json_begin("halos", t->path);
    if (t->box->cosmo) json_number("redshift", 1 / t->box->aexp - 1);
    json_number("link", t->list->link);
    json_count("min", t->least);
    json_number("particle", t->list->lightest * halo_solar(t->box));
    printf(",\"units\":{");
    for (int c = 0, n = 0; c < halo_columns(); c++) {
        const char *name = halo_column(c, &unit);
        if (*unit) printf("%s\"%s\":\"%s\"", n++ ? "," : "", name, unit);
    }
    printf("},\"halos\":[");
    for (int64_t i = 0; i < t->list->n; i++) {
        printf("%s{\"halo\":%ld", i ? "," : "", (long)(i + 1));
        for (int c = 0; c < halo_columns(); c++) {
            double x = halo_value(t, i, c);
            const char *name = halo_column(c, &unit);
            if (halo_column_whole(c))
                json_count(name, c == 0 ? t->list->at[i].id : (int64_t)x);
            else
                json_number(name, x);
        }
        printf("}");
    }
    printf("],\"mass_function\":[");
    for (int i = 0; i < f->n; i++) {
        const struct mass_bin *b = &f->bin[i];
        printf("%s{\"from\":%.9g", i ? "," : "", b->lo);
        json_number("to", b->hi);
        json_count("halos", b->n);
        json_number("dn_dlnm", b->dn);
        json_number("low", b->low);
        json_number("high", b->high);
        json_number("fit", b->fit);
        printf("}");
    }
    printf("]");
    json_end();
}

static enum err save_plot(const struct mass_function *f, const struct options *o, const char *path)
{
    struct stream out;
    TRY(stream_open(&out, o->halos.plot));
    if (o->halos.plot_format == HALOS_TSV) {
        mass_function_tsv(out.f, f, path);
        return stream_close(&out, 0);
    }
    return stream_close(&out, (o->halos.plot_format == HALOS_SVG ? canvas_svg : canvas_png)(
                                  out.f, mass_function_draw, f));
}

static enum err write_member(int64_t halo, int64_t n, const int64_t *id, void *ctx)
{
    FILE *out = ctx;
    for (int64_t i = 0; i < n && out; i++)
        fprintf(out, "%ld\t%ld\n", (long)(halo + 1), (long)id[i]);
    return OK;
}

/* (collective) */
static enum err save_members(const struct halos *h)
{
    const struct comm *c = &h->o->c;
    struct stream out = {.f = NULL};
    TRY(err_agree(c, c->rank ? OK : stream_open(&out, h->o->halos.members)));
    if (out.f) fprintf(out.f, "# ptah members 1\n# source\t%s\n#halo\tid\n", h->r->path);
    enum err err = halo_each_member(c, &h->list, write_member, out.f);
    if (out.f && err == OK) err = stream_close(&out, 0);
    return err_agree(c, err);
}

static enum err print_halos(const struct halos *h, const char *path)
{
    const struct options *o = h->o;
    struct halo_table t = {&h->box, &h->list, path, o->halos.link, o->halos.least};
    struct mass_function f = mass_function_of(&t, h->r->head.omega_b, o->halos.sigma8, o->halos.ns);
    enum err err = o->halos.plot ? save_plot(&f, o, path) : OK;
    if (err == OK && o->json) print_json(&t, &f);
    if (err == OK && !o->json) halo_table_tsv(stdout, &t);
    FREE(f.bin);
    return err;
}

enum err halos_print(const char *path, const struct options *o)
{
    struct halos h = {.o = o};
    enum err err = err_agree(&o->c, source_open_state(path, 0, 0, &h.r));
    if (err == OK) err = find_halos(&h);
    if (err == OK) keep_region(&h);
    if (err == OK && o->halos.members) err = save_members(&h);
    if (err == OK) err = err_agree(&o->c, o->c.rank == 0 ? print_halos(&h, path) : OK);
    FREE(h.body);
    halo_list_free(&h.list);
    source_close(&h.r);
    return err;
}
