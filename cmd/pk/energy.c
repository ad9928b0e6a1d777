/* pk/energy: see energy.h. Meshes hold mass, which is positive: each component is raised by twice
 * the largest value, which changes only the mode k = 0. */
#include "energy.h"

#include <math.h>

#include "base/mem.h"
#include "oct/fields.h"
#include "pk/batch.h"

const char *const ENERGY_NAME[ENERGY_COUNT] = {"", "B", "kinetic"};

struct walk {
    struct energy_spectrum *e;
    const struct source *s;
    int face;               /* number of the first value of the magnetic field of a batch */
    double largest, raised; /* the largest component; by how much each is raised, 0: first pass */
    struct pk_batch batch;
    struct sum mass[3]; /* of the components, raised */
};

static double component(const struct walk *w, const struct source_octs *o, int d, int c, int i)
{
    if (w->e->kind == ENERGY_KINETIC) return o->val[8 * (1 + d) + c][i] / sqrt(o->val[c][i]);
    const int f = w->face + 2 * d;
    return 0.5 * (o->val[8 * f + c][i] + o->val[8 * (f + 1) + c][i]);
}

static enum err take_cell(struct walk *w, const struct source_octs *o, int c, int i)
{
    const double size = ldexp(1, -o->level);
    struct pk_item item = {.size = size};
    double x[3];
    okey_cell_centre(o->key[i], c, size, x);
    for (int d = 0; d < 3; d++) {
        const double v = component(w, o, d, c, i);
        if (!(fabs(v) < 1e150))
            FAIL(ERR_FORMAT, "%s: level %d, cell at %.9g %.9g %.9g of the box: %s along %c is %g",
                 o->file, o->level, x[0], x[1], x[2],
                 w->e->kind == ENERGY_KINETIC ? "momentum by the root of density"
                                              : "magnetic field",
                 "xyz"[d], v);
        w->largest = fmax(w->largest, fabs(v));
        if (!(w->raised > 0)) continue;
        item.m = (v + w->raised) * size * size * size;
        item.mesh = d;
        for (int k = 0; k < 3; k++) item.x[k] = x[k];
        sum_add(&w->mass[d], item.m);
        pk_batch_put(&w->batch, &item);
    }
    w->e->cells += !(w->raised > 0);
    return OK;
}

static enum err take_octs(const struct source_octs *o, void *ctx)
{
    for (int i = 0; i < o->n; i++)
        for (int c = 0; c < 8; c++)
            if (!(o->split[i] >> c & 1)) TRY(take_cell(ctx, o, c, i));
    return OK;
}

static enum err read_pieces(struct walk *w, struct source *s)
{
    for (int i = w->e->c->rank; i < s->npiece; i += w->e->c->size)
        TRY(source_octs(s, i, SOURCE_STATE, take_octs, w));
    return OK;
}

static enum err find_values(struct walk *w)
{
    const struct source *s = w->s;
    if (!s->head.hydro) FAIL(ERR_PARAM, "%s: has no gas", s->path);
    if (w->e->kind != ENERGY_MAGNETIC) return OK;
    if (!s->head.magnetic) FAIL(ERR_PARAM, "%s: has no magnetic field", s->path);
    w->face = fields_faces(s->values, s->head.nvar);
    return OK;
}

/* Spectra of the three meshes, added up. */
static void add_up(struct walk *w, struct pk *pk, struct pk_bin *out)
{
    static const struct pk_pair PAIR[3] = {{1, 1}, {2, 2}, {4, 4}};
    const int nbin = w->e->nbin;
    struct pk_bin *bin = mem_zero(sizeof *bin * 3 * (size_t)nbin + 1, "pk bins");
    pk_spectra(pk, 3, PAIR, nbin, w->e->edge, -1, bin);
    for (int b = 0; b < nbin; b++) {
        double p = 0, sigma2 = 0;
        for (int d = 0; d < 3; d++) {
            const struct pk_bin *from = &bin[d * (int64_t)nbin + b];
            const double m = sum_get(&w->mass[d]), unit = 0.5 * m * m;
            p += unit * from->p[0];
            sigma2 += unit * from->sigma * unit * from->sigma;
        }
        out[b] = bin[b];
        out[b].p[0] = p;
        out[b].sigma = sqrt(sigma2);
    }
    FREE(bin);
}

enum err energy_spectra(struct energy_spectrum *e, struct source *s, struct pk_bin *out)
{
    struct walk w = {.e = e, .s = s};
    e->cells = 0;
    TRY(err_agree(e->c, find_values(&w)));
    TRY(err_agree(e->c, read_pieces(&w, s)));
    comm_add_i64(e->c, &e->cells, 1);
    comm_max_f64(e->c, &w.largest, 1);
    w.raised = w.largest > 0 ? 2 * w.largest : 1;
    for (int d = 0; d < 3; d++) sum_init(&w.mass[d]);
    struct pk *pk = pk_new(e->c, e->par, 3, 9.1 * w.raised);
    pk_batch_begin(&w.batch, e->c, pk);
    enum err err = read_pieces(&w, s);
    pk_batch_end(&w.batch);
    for (int d = 0; d < 3; d++) comm_sum(e->c, &w.mass[d]);
    err = err_agree(e->c, err);
    if (err == OK) add_up(&w, pk, out);
    pk_free(&pk);
    return err;
}
