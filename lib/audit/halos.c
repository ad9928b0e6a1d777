#include "audit/halos.h"

#include <math.h>

#include "base/log.h"
#include "ckpt/boundary.h"

/* Peak memory per particle, bytes; the surroundings of a region are read too. */
enum { BODY_BYTES = 100 };
static const double AROUND = 1.5;

struct halos {
    struct source *r;
    const struct comm *c;
    const struct halos_request *o;
    struct halo_box box;
    struct halo_par par;
    struct halo_points points;
    struct sum dark; /* dark matter mass of the whole box */
};

/* ---- reading ---- */

/* The squared distance from the centre of the region. */
static double far2_of(const struct halos *h, const double x[3])
{
    double far2 = 0;
    for (int k = 0; k < 3; k++) {
        double d = x[k] - h->o->sphere[k];
        if (h->box.periodic[k]) d -= nearbyint(d);
        far2 += d * d;
    }
    return far2;
}

/* Whether x is near the sphere. A NaN position counts as near and is reported later. */
static bool is_near(const struct halos *h, const double x[3])
{
    double radius = AROUND * h->o->sphere[3];
    return !h->o->has_sphere || !(far2_of(h, x) > radius * radius);
}

static enum err check_memory(const struct halos *h)
{
    int64_t n = h->points.dark.n + h->points.others.n + h->points.cells.leaves;
    if (h->o->memory && (size_t)n * BODY_BYTES > h->o->memory)
        FAIL(ERR_LIMIT,
             "%s: this rank has read %ld particles and cells, which need more than the given "
             "memory: raise --memory, use more ranks (mpirun), or give a region (--sphere)",
             h->r->path, (long)n);
    return OK;
}

/* The place is wrapped where the box is periodic. */
static struct halo_point particle_body(const struct halos *h, const struct source_parts *p,
                                       int64_t i)
{
    struct halo_point b = {.m = p->m[i], .id = p->id[i], .kind = family_species((int)p->family[i])};
    for (int k = 0; k < 3; k++) {
        const double x = p->x[k][i] / h->box.boxlen;
        const bool wrapped = h->box.periodic[k];
        b.x[k] = wrapped ? x - floor(x) : x;
        if (wrapped && b.x[k] >= 1) b.x[k] = 0; /* one below 0 by less than rounding */
        b.v[k] = p->v[k][i];
    }
    return b;
}

static enum err take_parts(const struct source_parts *p, void *ctx)
{
    struct halos *h = ctx;
    for (int64_t i = 0; i < p->n; i++) {
        if (!family_has_mass(p->family[i])) continue;
        struct halo_point b = particle_body(h, p, i);
        if (!is_near(h, b.x)) continue;
        TRY(check_memory(h));
        halo_points_add(&h->points, &b);
    }
    return OK;
}

/* Adds up the dark matter mass of the whole box when only a region is kept. */
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
    double width = ldexp(1, -o->level), volume = pow(width * h->box.boxlen, 3);
    for (int i = 0; i < o->n; i++) {
        unsigned leaf = ~(unsigned)o->split[i] & 255;
        double m[8];
        for (int c = 0; c < 8; c++) m[c] = o->val[c][i] * volume;
        for (int c = 0; c < 8 && h->o->has_sphere; c++) {
            double x[3];
            int64_t at[3];
            okey_coords(o->key[i] << 3 | (okey)c, at);
            for (int k = 0; k < 3; k++) x[k] = ((double)at[k] + 0.5) * width;
            if (!is_near(h, x)) leaf &= ~(1u << c);
        }
        TRY(check_memory(h));
        halo_points_add_oct(&h->points, o->level, o->key[i], leaf, m);
    }
    return OK;
}

static enum err read_pieces(struct halos *h)
{
    const struct ckpt_head *head = &h->r->head;
    for (int i = h->c->rank; i < h->r->npiece; i += h->c->size) {
        if (h->r->npiece > 1 && h->r->kind->is) /* files, not a run */
            log_live("reading file %d of %d", i + 1, h->r->npiece);
        if (h->o->has_sphere && head->particles)
            TRY(source_parts(h->r, i, SOURCE_STATE, take_masses, h));
        if (head->particles) TRY(source_parts(h->r, i, SOURCE_STATE, take_parts, h));
        if (head->hydro) TRY(source_octs(h->r, i, SOURCE_STATE, take_octs, h));
    }
    return OK;
}

struct halo_box source_box(const struct source *s)
{
    const struct ckpt_head *q = &s->head;
    bool bounded[6];
    boundary_faces(&q->boundary, bounded);
    struct halo_box b = {.cosmo = q->cosmo,
                         .aexp = q->aexp,
                         .omega_m = q->omega_m,
                         .omega_l = q->omega_l,
                         .omega_k = q->omega_k,
                         .h0 = q->h0,
                         .dark = q->dark,
                         .boxlen_ini = q->boxlen_ini,
                         .t = q->t,
                         .boxlen = q->boxlen,
                         .unit_l = q->unit_l,
                         .unit_d = q->unit_d,
                         .unit_t = q->unit_t};
    for (int k = 0; k < 3; k++) b.periodic[k] = !bounded[2 * k] && !bounded[2 * k + 1];
    return b;
}

static enum err prepare(struct halos *h)
{
    h->box = source_box(h->r);
    if (!(isnormal(halo_solar(&h->box)) && h->box.boxlen > 0 && h->box.unit_t > 0))
        FAIL(ERR_FORMAT, "%s: its units (unit_l=%g, unit_d=%g, unit_t=%g) give no masses",
             h->r->path, h->box.unit_l, h->box.unit_d, h->box.unit_t);
    h->par = halo_par_of(&h->box, h->o->link, h->o->min);
    h->par.members = h->o->members;
    h->par.tracers = h->o->tracers;
    h->par.centre = h->o->bound ? HALO_BOUND : HALO_DENSEST;
    h->par.lightest = INFINITY;
    sum_init(&h->dark);
    return OK;
}

/* Keeps only the halos whose centre is in the region. */
static void keep_region(const struct halos *h, struct halos_found *out)
{
    struct halo_list *l = &out->list;
    int64_t n = 0;
    double radius = h->o->sphere[3];
    for (int64_t i = 0; i < l->n; i++) {
        double far = sqrt(far2_of(h, l->at[i].x));
        if (far > radius) continue;
        out->cut += !(far + l->at[i].r[HALO_200M] <= AROUND * radius);
        l->at[n++] = l->at[i];
    }
    l->n = n;
}

enum err source_halos(struct source *s, const struct comm *c, const struct halos_request *q,
                      struct halos_found *out)
{
    struct halos h = {.r = s, .c = c, .o = q};
    *out = (struct halos_found){.cut = 0};
    TRY(prepare(&h));
    enum err err = read_pieces(&h);
    log_live(NULL);
    err = err_agree(c, err);
    comm_sum(c, &h.dark);
    comm_min_f64(c, &h.par.lightest, 1);
    h.par.dark = sum_get(&h.dark);
    if (!isfinite(h.par.lightest)) h.par.lightest = 0;
    out->box = h.box;
    if (err == OK) err = halo_find(c, &h.par, &h.points, &out->list);
    halo_points_free(&h.points);
    if (err == OK && q->has_sphere) keep_region(&h, out);
    return err;
}
