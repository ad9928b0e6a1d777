/* convert: --uniform N: the gas of an octree on a mesh of N^3 cells, as a checkpoint of the stencil
 * solver.
 *
 * Each rank has a block of the mesh and reads all leaf cells. Densities of mass, momentum, energy
 * and the magnetic field at centres of cells are means over the volume: mass, momentum and energy
 * are kept. Entropy follows from the pressure that is left, relative to the mean density and
 * pressure: ρ0 = ⟨ρ⟩, c_s0² = γ⟨P⟩/⟨ρ⟩. The vector potential is A = i κ×B/κ² in Fourier space
 * (Coulomb gauge), where κ are the wave numbers of the solver's first differences: its curl is the
 * part of B without divergence, to round-off. The mean of B becomes the external field. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sum.h"
#include "base/text.h"
#include "ckpt/magnetic.h"
#include "convert.h"
#include "fft/fft.h"
#include "grid/equations.h"
#include "io/dir.h"
#include "oct/gas_kern.h"

enum { ORDER = 6, RHO = 0, MOMENTUM = 1, ENERGY = 4, FIELD = 5, VALUES = 8 };

struct mesh_of {
    const struct comm *c;
    struct source *s;
    int n, nvalue; /* cells of a side; 5, or 8 with a magnetic field */
    struct fft *fft[3];
    struct brick b;        /* its own cells are the block of fft[0] */
    double *value[VALUES]; /* of the own cells; later the fields of the solver */
    struct fd_par eq;
};

static size_t own(const struct mesh_of *m)
{
    return (size_t)m->b.own[0] * (size_t)m->b.own[1] * (size_t)m->b.own[2];
}

/* ---- cells of the octree ---- */

/* The cells of the mesh that a leaf cell overlaps along an axis, within the own ones; the share of
 * each such cell that it fills. */
static int overlap(const struct mesh_of *m, int axis, double lo, double hi, int i)
{
    const double first = (double)m->b.first[axis], end = first + m->b.own[axis];
    const double x = i ? fmin(ceil(hi), end) : fmax(floor(lo), first);
    return (int)(x - first);
}

static double share(double lo, double hi, double cell)
{
    return fmin(hi, cell + 1) - fmax(lo, cell);
}

static void lay(struct mesh_of *m, const double lo[3], double side, const double *q)
{
    int from[3], to[3];
    for (int d = 0; d < 3; d++) {
        from[d] = overlap(m, d, lo[d], lo[d] + side, 0);
        to[d] = overlap(m, d, lo[d], lo[d] + side, 1);
    }
    for (int z = from[2]; z < to[2]; z++)
        for (int y = from[1]; y < to[1]; y++)
            for (int x = from[0]; x < to[0]; x++) {
                const int at[3] = {x, y, z};
                double w = 1;
                for (int d = 0; d < 3; d++)
                    w *= share(lo[d], lo[d] + side, (double)(m->b.first[d] + at[d]));
                const size_t i = (size_t)(x + y * m->b.stride[1] + z * m->b.stride[2]);
                for (int v = 0; v < m->nvalue; v++) m->value[v][i] += w * q[v];
            }
}

static enum err fold(const struct source_octs *o, void *ctx)
{
    struct mesh_of *m = ctx;
    const int rows = m->s->head.nvar;
    const double side = ldexp(m->n, -o->level);
    for (int i = 0; i < o->n; i++) {
        int64_t x[3];
        okey_coords(o->key[i], x);
        for (int c = 0; c < 8; c++) {
            double lo[3], q[VALUES];
            if (o->split[i] >> c & 1) continue;
            for (int d = 0; d < 3; d++) lo[d] = (double)(2 * x[d] + (c >> d & 1)) * side;
            for (int v = 0; v < FIELD; v++) q[v] = o->val[8 * v + c][i];
            for (int d = 0; FIELD + d < m->nvalue; d++)
                q[FIELD + d] = 0.5 * (o->val[8 * (rows + 2 * d) + c][i] +
                                      o->val[8 * (rows + 2 * d + 1) + c][i]);
            for (int v = 0; v < m->nvalue; v++)
                if (!isfinite(q[v]))
                    FAIL(ERR_FORMAT,
                         "%s: level %d: a value of the gas is not finite: see "
                         "inspect -cc",
                         m->s->path, o->level);
            lay(m, lo, side, q);
        }
    }
    return OK;
}

static enum err read_cells(struct mesh_of *m)
{
    enum err err = OK;
    for (int v = 0; v < m->nvalue; v++)
        m->value[v] = mem_zero(sizeof(double) * own(m) + 8, "uniform mesh");
    for (int piece = 0; piece < m->s->npiece && err == OK; piece++)
        err = source_octs(m->s, piece, SOURCE_STATE, fold, m);
    if (err == OK) err = source_check_tree(m->s);
    return err_agree(m->c, err);
}

/* ---- fields of the solver ---- */

/* Makes velocities and the pressure; its sum and that of the density in sum. */
static enum err make_primitive(struct mesh_of *m, struct sum sum[2])
{
    double **q = m->value;
    for (size_t i = 0; i < own(m); i++) {
        double e = q[ENERGY][i];
        if (!(q[RHO][i] > 0))
            FAIL(ERR_FORMAT, "%s: the density of a cell of the mesh is %g, which has no logarithm",
                 m->s->path, q[RHO][i]);
        for (int d = 0; d < 3; d++) {
            q[MOMENTUM + d][i] /= q[RHO][i];
            e -= gas_kinetic_flux_part(q[RHO][i], q[MOMENTUM + d][i]);
            if (m->nvalue > FIELD) e -= 0.5 * q[FIELD + d][i] * q[FIELD + d][i];
        }
        q[ENERGY][i] = gas_pressure(e, m->eq.gamma);
        if (!(q[ENERGY][i] > 0))
            FAIL(ERR_FORMAT,
                 "%s: the pressure of a cell of the mesh is %g, which has no entropy: nearly all "
                 "its energy is that of motions or of the magnetic field",
                 m->s->path, q[ENERGY][i]);
        sum_add(&sum[0], q[RHO][i]);
        sum_add(&sum[1], q[ENERGY][i]);
    }
    return OK;
}

/* Density and pressure become ln ρ and s. */
static void make_logarithms(struct mesh_of *m)
{
    const struct fd_par *p = &m->eq;
    for (size_t i = 0; i < own(m); i++) {
        const double rho = m->value[RHO][i], lnrho = log(rho);
        m->value[ENERGY][i] = p->cp / p->gamma *
                              (log(p->gamma * m->value[ENERGY][i] / (rho * p->cs0 * p->cs0)) -
                               gas_gm1(p->gamma) * (lnrho - log(p->rho0)));
        m->value[RHO][i] = lnrho;
    }
}

static enum err make_gas(struct mesh_of *m)
{
    struct sum sum[2];
    const double cells = pow(m->n, 3);
    sum_init(&sum[0]);
    sum_init(&sum[1]);
    TRY(err_agree(m->c, make_primitive(m, sum)));
    comm_sums(m->c, sum, 2);
    m->eq.rho0 = sum_get(&sum[0]) / cells;
    m->eq.cs0 = sqrt(m->eq.gamma * sum_get(&sum[1]) / cells / m->eq.rho0);
    make_logarithms(m);
    return OK;
}

/* Symbols of the first differences, per length, for the wave numbers of all indices. */
static double *symbols(int n, double h)
{
    const struct fd_par unit = {.order = ORDER, .cp = 1, .rho0 = 1, .mu0 = 1, .dx = {1, 1, 1}};
    double *k = mem_new(sizeof *k * (size_t)n, "uniform mesh");
    for (int i = 0; i < n; i++) k[i] = fd_symbol(&unit, 0, 2 * M_PI * fft_wave(n, i) / n) / h;
    if (n % 2 == 0) k[n / 2] = 0; /* the highest wave has no first difference */
    return k;
}

static void copy_block(struct mesh_of *m, int d, bool to_fft)
{
    const struct fft *f = m->fft[d];
    const size_t row = sizeof(double) * (size_t)m->n;
    for (int64_t i = 0; i < (int64_t)f->count[1] * f->count[2]; i++) {
        double *a = f->r + (size_t)i * f->pitch, *b = m->value[FIELD + d] + i * m->n;
        memcpy(to_fft ? a : b, to_fft ? b : a, row);
    }
}

/* B in Fourier space becomes A; the mean becomes the external field. */
static void solve_potential(struct mesh_of *m)
{
    const struct fft *f = m->fft[0];
    const double cells = pow(m->n, 3);
    double *symbol = symbols(m->n, m->s->head.boxlen / m->n);
    for (int x = 0; x < f->kcount[0]; x++)
        for (int y = 0; y < f->kcount[1]; y++)
            for (int z = 0; z < m->n; z++) {
                const size_t at = (size_t)(x * f->kcount[1] + y) * f->kpitch + (size_t)z;
                const int i[3] = {f->kfirst[0] + x, f->kfirst[1] + y, z};
                double k[3], k2 = 0;
                double complex b[3];
                for (int d = 0; d < 3; d++) {
                    k[d] = symbol[i[d]], k2 += k[d] * k[d];
                    b[d] = m->fft[d]->k[at];
                    if (i[0] + i[1] + i[2] == 0) m->eq.bext[d] = creal(b[d]) / cells;
                }
                for (int d = 0; d < 3; d++) {
                    const int p = (d + 1) % 3, q = (d + 2) % 3;
                    m->fft[d]->k[at] = k2 > 0 ? I * (k[p] * b[q] - k[q] * b[p]) / (k2 * cells) : 0;
                }
            }
    FREE(symbol);
}

static void make_potential(struct mesh_of *m)
{
    for (int d = 0; d < 3; d++) {
        fft_begin(m->fft[d]);
        copy_block(m, d, true);
        fft_forward(m->fft[d]);
    }
    solve_potential(m);
    comm_add_f64(m->c, m->eq.bext, 3); /* not zero on one rank */
    for (int d = 0; d < 3; d++) {
        fft_backward(m->fft[d]);
        copy_block(m, d, false);
        fft_end(m->fft[d]);
    }
}

/* ---- the checkpoint ---- */

static void log_losses(const struct mesh_of *m, const char *in)
{
    const struct ckpt_head *h = &m->s->head;
    char text[300];
    size_t n = (size_t)snprintf(text, sizeof text, "motions within the cells of the mesh");
    if (h->particles) n += (size_t)snprintf(text + n, sizeof text - n, ", particles");
    if (h->gravity) n += (size_t)snprintf(text + n, sizeof text - n, ", gravity");
    if (h->nvar > FIELD) n += (size_t)snprintf(text + n, sizeof text - n, ", scalars of the gas");
    if (h->cosmo) n += (size_t)snprintf(text + n, sizeof text - n, ", the expansion of the box");
    if (h->magnetic)
        snprintf(text + n, sizeof text - n,
                 ", the magnetic field that the differences of the mesh do not resolve");
    log_info("convert: %s: left out: %s", in, text);
}

static enum err write_mesh(struct mesh_of *m, const struct request *r, const char *dir,
                           const char *history)
{
    struct grid_head h = {.t = m->s->head.t,
                          .it = m->s->head.nstep_coarse > 0 ? m->s->head.nstep_coarse : 0,
                          .order = ORDER,
                          .nfield = m->nvalue,
                          .provenance = history,
                          .overwrite = r->force};
    struct out_pending out = {.lock = -1};
    for (int d = 0; d < 3; d++) h.n[d] = m->n, h.length[d] = m->s->head.boxlen;
    for (int f = 0; f < m->nvalue; f++) snprintf(h.field[f], GRID_NAME, "%s", fd_name[f]);
    grid_set_equations(&h, &m->eq);
    TRY(grid_write(dir, m->s->number, &h, &m->b, m->value, &out));
    return out_publish(&out, m->c);
}

static enum err check_source(const struct request *r, const struct source *s)
{
    if (s->head.ndim != 3 || !s->head.hydro)
        FAIL(ERR_LIMIT, "%s: --uniform needs gas in three dimensions", s->path);
    if (s->head.energy.n > 0)
        FAIL(ERR_LIMIT, "%s: has non-thermal energies, which the gas of --uniform does not have",
             s->path);
    if (s->nboundary || s->coarse[0] * s->coarse[1] * s->coarse[2] != 1)
        FAIL(ERR_LIMIT, "%s: --uniform needs a periodic box with one coarse cell", s->path);
    return OK;
}

static int values(const struct source *s)
{
    return s->head.magnetic ? VALUES : FIELD;
}

static enum err check_room(const struct request *r, const struct source *s, const char *dir)
{
    return dir_has_room(dir, (double)sizeof(double) * values(s) * pow(r->uniform, 3));
}

static void prepare(struct mesh_of *m)
{
    m->nvalue = values(m->s);
    m->eq = (struct fd_par){.order = ORDER,
                            .flow = true,
                            .entropy = true,
                            .magnetic = m->s->head.magnetic,
                            .lorentz = true,
                            .gamma = m->s->head.gamma,
                            .cp = 1,
                            .mu0 = 1};
    for (int d = 0; d < (m->s->head.magnetic ? 3 : 1); d++) m->fft[d] = fft_new(m->c, m->n);
    m->b.comm = m->c;
    for (int d = 0; d < 3; d++) {
        m->b.n[d] = m->n;
        m->b.first[d] = m->fft[0]->first[d], m->b.own[d] = m->fft[0]->count[d];
    }
    m->b.stride[0] = 1, m->b.stride[1] = m->n;
    m->b.stride[2] = (int64_t)m->n * m->b.own[1];
}

static enum err make_history(const struct request *r, struct source *s, const char *in, char **text)
{
    char *before = NULL;
    size_t n;
    TRY(source_text(s, FILES_HISTORY, &before, &n));
    const size_t room = strlen(r->provenance) + strlen(in) + (before ? strlen(before) : 0) + 256;
    *text = mem_new(room, "provenance");
    char from[PATH_MAX];
    snprintf(from, sizeof from, "%s", in);
    plain_line(from);
    snprintf(*text, room, "%sfrom: %s (%s, output %d)\n%s", r->provenance, from, s->format,
             s->number, before ? before : "");
    mem_free(before);
    return OK;
}

enum err convert_uniform(const struct request *r, const char *in, const struct comm *c, char *path,
                         size_t n)
{
    struct mesh_of m = {.c = c, .n = r->uniform};
    const char *dir = r->out ? r->out : "stencil";
    char *history = NULL;
    enum err err = source_open_state(in, 0, 0, &m.s);
    if (err == OK) err = check_source(r, m.s);
    if (err == OK) err = make_history(r, m.s, in, &history);
    if (err == OK && c->rank == 0) err = check_room(r, m.s, dir);
    if (err == OK && c->rank == 0) err = dir_make(dir);
    err = err_agree(c, err);
    if (err == OK) {
        prepare(&m);
        err = read_cells(&m);
        if (err == OK) err = make_gas(&m);
        if (err == OK && m.nvalue > FIELD) make_potential(&m);
        if (err == OK) err = write_mesh(&m, r, dir, history);
        if (err == OK) log_losses(&m, in);
        if (err == OK) snprintf(path, n, "%s/output_%05d", dir, m.s->number);
    }
    for (int v = 0; v < VALUES; v++) FREE(m.value[v]);
    for (int d = 0; d < 3; d++) fft_free(&m.fft[d]);
    FREE(history);
    source_close(&m.s);
    return err;
}
