/* pk/energy: see energy.h. Meshes hold mass, which is positive: each component is raised by twice
 * the largest value, which changes only the mode k = 0. */
#include "energy.h"

#include <math.h>

#include "base/log.h"
#include "base/mem.h"
#include "oct/fields.h"
#include "pk/batch.h"

const char *const ENERGY_NAME[ENERGY_COUNT] = {
    "", "B", "kinetic", "helicity", "current_helicity", "kinetic_helicity"};

/* The vector w. */
enum vector { MAGNETIC_FIELD, ROOT_MOMENTUM, VELOCITY };
static const char *const VECTOR_NAME[] = {"magnetic field", "momentum by the root of density",
                                          "velocity"};

static const enum vector VECTOR[ENERGY_COUNT] = {
    [ENERGY_KINETIC] = ROOT_MOMENTUM, [ENERGY_KINETIC_HELICITY] = VELOCITY};

static bool is_helicity(enum energy kind)
{
    return kind >= ENERGY_HELICITY;
}

struct walk {
    struct energy_spectrum *e;
    const struct source *s;
    enum vector vector;
    int face;               /* number of the first value of the magnetic field of a batch */
    double largest, raised; /* the largest component; by how much each is raised, 0: first pass */
    struct pk_batch batch;
    struct sum mass[3]; /* of the components, raised */
};

static double component(const struct walk *w, const struct source_octs *o, int d, int c, int i)
{
    const double momentum = o->val[8 * (1 + d) + c][i], density = o->val[c][i];
    if (w->vector == ROOT_MOMENTUM) return momentum / sqrt(density);
    if (w->vector == VELOCITY) return momentum / density;
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
                 o->file, o->level, x[0], x[1], x[2], VECTOR_NAME[w->vector], "xyz"[d], v);
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
    if (is_helicity(w->e->kind) && s->nboundary > 0)
        FAIL(ERR_PARAM, "%s: has boundaries; the helicity of waves is that of a periodic box",
             s->path);
    if (w->vector != MAGNETIC_FIELD) return OK;
    if (!s->head.magnetic) FAIL(ERR_PARAM, "%s: has no magnetic field", s->path);
    w->face = fields_faces(s->values, s->head.nvar);
    return OK;
}

/* Pairs of the three meshes for the energies; for a helicity those of the components along the next
 * two axes, turned. */
static const struct pk_pair ENERGIES[3] = {{.a = 1, .b = 1}, {.a = 2, .b = 2}, {.a = 4, .b = 4}};
static const struct pk_pair TURNED[2][3] = {
    {{2, 4, 1, false}, {4, 1, 2, false}, {1, 2, 3, false}},
    {{2, 4, 1, true}, {4, 1, 2, true}, {1, 2, 3, true}},
};

static void add_energies(const struct walk *w, const struct pk_bin *bin, struct pk_bin *out)
{
    const int nbin = w->e->nbin;
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
}

/* out: the energies. The error is that of waves of both signs of helicity, which are independent
 * and Gaussian, with the powers P± = E ± k H/2 of the mean energy and helicity. */
static void add_helicities(const struct walk *w, const struct pk_bin *bin, struct pk_bin *out)
{
    const int nbin = w->e->nbin;
    const bool current = w->e->kind != ENERGY_HELICITY;
    /* a wave number of the folded mesh, in code units; energies have k of the box */
    const double box = w->s->head.cosmo ? w->s->head.boxlen_ini : w->s->head.boxlen,
                 unit_k = 2 * M_PI / box, unit = unit_k * w->e->par->fold;
    for (int b = 0; b < nbin; b++) {
        const double energy = out[b].p[0], k = out[b].k * unit_k,
                     modes = (double)(out[b].modes ? out[b].modes : 1);
        double h = 0;
        for (int d = 0; d < 3; d++)
            h += bin[d * (int64_t)nbin + b].p[0] * sum_get(&w->mass[(d + 1) % 3]) *
                 sum_get(&w->mass[(d + 2) % 3]);
        h = current ? h * unit : h / unit;
        const double share = current ? h / fmax(k, 1e-300) : h * k; /* P+ - P- */
        out[b].p[0] = h;
        out[b].sigma = sqrt((2 * energy * energy + 0.5 * share * share) * 2 / modes);
        out[b].sigma = current ? out[b].sigma * k : out[b].sigma / fmax(k, 1e-300);
    }
}

static void add_up(struct walk *w, struct pk *pk, struct pk_bin *out)
{
    const int nbin = w->e->nbin, n = is_helicity(w->e->kind) ? 6 : 3;
    struct pk_bin *bin = mem_zero(sizeof *bin * (size_t)(n * nbin) + 1, "pk bins");
    struct pk_pair pair[6];
    for (int i = 0; i < n; i++)
        pair[i] = i < 3 ? ENERGIES[i] : TURNED[w->e->kind == ENERGY_HELICITY][i - 3];
    pk_spectra(pk, n, pair, nbin, w->e->edge, -1, bin);
    add_energies(w, bin, out);
    if (n > 3) add_helicities(w, bin + (int64_t)3 * nbin, out);
    FREE(bin);
}

/* Tells that a mean field has no part in the helicity. */
static void tell_mean(const struct walk *w)
{
    double mean[3], size = 0;
    for (int d = 0; d < 3; d++) {
        mean[d] = sum_get(&w->mass[d]) - w->raised;
        size = fmax(size, fabs(mean[d]));
    }
    if (w->e->kind != ENERGY_HELICITY || !(size > 1e-9 * w->largest)) return;
    log_info("%s: the helicity is that of the field without its mean, %.3g %.3g %.3g, which has no "
             "periodic vector potential",
             w->s->path, mean[0], mean[1], mean[2]);
}

enum err energy_spectra(struct energy_spectrum *e, struct source *s, struct pk_bin *out)
{
    struct walk w = {.e = e, .s = s, .vector = VECTOR[e->kind]};
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
    if (err == OK) tell_mean(&w);
    if (err == OK) add_up(&w, pk, out);
    pk_free(&pk);
    return err;
}
