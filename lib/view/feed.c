/* view/feed: see feed.h. Reading is local, adding to the meshes collective (pk/batch.h). */
#include "view/feed.h"

#include <math.h>

/* maximum distance of a position from the box, in boxes; light travels 3e5 boxes in a box of 10
 * kpc/h */
static const double FAR = 1e6;

struct reading {
    struct feed *f;
    struct source *s;
};

void feed_put(struct feed *f, enum part_species kind, const double x[3], double size, double m)
{
    pk_batch_put(
        &f->batch,
        &(struct pk_item){.x = {x[0], x[1], x[2]}, .size = size, .m = m, .mesh = f->mesh[kind]});
}

bool feed_far(const double x[3])
{
    return !(fabs(x[0]) < FAR && fabs(x[1]) < FAR && fabs(x[2]) < FAR);
}

static enum err take_parts(const struct source_parts *p, void *ctx)
{
    struct reading *r = ctx;
    struct feed *f = r->f;
    double box = r->s->head.boxlen;
    for (int64_t i = 0; i < p->n; i++) {
        enum part_species kind = family_species(p->family[i]);
        if (kind == SPECIES_NONE || f->mesh[kind] < 0) continue;
        double x[3] = {p->x[0][i] / box, p->x[1][i] / box, p->x[2][i] / box};
        if (f->axis >= 0) x[f->axis] += p->v[f->axis][i] * f->rate;
        if (feed_far(x))
            FAIL(ERR_FORMAT,
                 "%s: particle %ld: velocity_%c is %g, which would move it by over a million "
                 "boxes: see inspect -cc",
                 p->file, (long)p->id[i], 'x' + f->axis, p->v[f->axis][i]);
        if (!(p->m[i] >= 0 && p->m[i] <= f->max))
            FAIL(ERR_FORMAT,
                 "%s: particle %ld has the mass %g, which is not between 0 and the mass of a box: "
                 "see inspect -cc",
                 p->file, (long)p->id[i], p->m[i]);
        f->points[kind]++;
        feed_put(f, kind, x, 0, p->m[i]);
    }
    return OK;
}

static enum err bad_cell(const struct source_octs *o, const double x[3], const char *what, double v)
{
    FAIL(ERR_FORMAT, "%s: level %d, cell at %.9g %.9g %.9g of the box: %s is %g", o->file, o->level,
         x[0], x[1], x[2], what, v);
}

static enum err take_octs(const struct source_octs *o, void *ctx)
{
    struct reading *r = ctx;
    struct feed *f = r->f;
    double size = 1.0 / (double)((int64_t)1 << o->level), box = r->s->head.boxlen,
           volume = size * box * size * box * size * box;
    for (int i = 0; i < o->n; i++) {
        int64_t at[3];
        okey_coords(o->key[i], at);
        for (int c = 0; c < 8; c++) {
            if (o->split[i] >> c & 1) continue;
            double rho = o->val[c][i], x[3];
            for (int d = 0; d < 3; d++) x[d] = ((double)(2 * at[d] + (c >> d & 1)) + 0.5) * size;
            if (!(rho >= 0 && rho * volume <= f->max)) return bad_cell(o, x, "density", rho);
            if (f->axis >= 0) {
                double v = o->val[8 * (1 + f->axis) + c][i] / rho;
                const char *const name[] = {"velocity_x", "velocity_y", "velocity_z"};
                x[f->axis] += v * f->rate;
                if (feed_far(x)) return bad_cell(o, x, name[f->axis], v);
            }
            f->cells++;
            feed_put(f, SPECIES_GAS, x, size, rho * volume);
        }
    }
    return OK;
}

static enum err read_pieces(struct reading *r)
{
    const struct feed *f = r->f;
    const struct ckpt_head *h = &r->s->head;
    bool gas = h->hydro && f->mesh[SPECIES_GAS] >= 0;
    bool points = h->particles && (f->mesh[SPECIES_DM] >= 0 || f->mesh[SPECIES_STAR] >= 0 ||
                                   f->mesh[SPECIES_OTHER] >= 0);
    for (int i = f->c->rank; i < r->s->npiece; i += f->c->size) {
        if (gas) TRY(source_octs(r->s, i, SOURCE_STATE, take_octs, r));
        if (points) TRY(source_parts(r->s, i, SOURCE_STATE, take_parts, r));
    }
    return OK;
}

void feed_begin(struct feed *f)
{
    f->cells = 0;
    for (int k = 0; k < SPECIES_COUNT; k++) f->points[k] = 0;
    pk_batch_begin(&f->batch, f->c, f->pk);
}

enum err feed_end(struct feed *f, enum err err)
{
    f->mass = pk_batch_end(&f->batch);
    comm_add_i64(f->c, f->points, SPECIES_COUNT);
    comm_add_i64(f->c, &f->cells, 1);
    return err_agree(f->c, err);
}

enum err feed_check_mass(const struct feed *f, const char *path)
{
    /* tolerance: in initial conditions, dark matter and gas both have a total mass of 1 */
    const double ROUND = 1.5;
    if (!(f->mass <= ROUND * f->max))
        FAIL(ERR_FORMAT,
             "%s: the masses add up to %g, more than the mass of a box: see inspect -cc", path,
             f->mass);
    return OK;
}

enum err feed_source(struct feed *f, struct source *s)
{
    const struct ckpt_head *h = &s->head;
    f->box = (struct pk_origin){h->cosmo, h->aexp, h->t, h->cosmo ? h->boxlen_ini : h->boxlen};
    /* factor from super-comoving velocity to v_pec/(a H) in boxes */
    f->rate = h->cosmo ? 1 / (h->hexp * h->boxlen) : 0;
    feed_begin(f);
    TRY(feed_end(f, read_pieces(&(struct reading){f, s})));
    return feed_check_mass(f, s->path);
}
