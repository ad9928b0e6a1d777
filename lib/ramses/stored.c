/* ramses/stored: files of gas, gravity and radiation with the values of another code: every bit of
 * every field, whatever its meaning. Cells beyond the boundary have the values of the boundary
 * conditions, which RAMSES recomputes: components along the normal change sign, other values are
 * copied. */
#include "ramses/out.h"

#include <string.h>

#include "ckpt/gas.h"
#include "ckpt/magnetic.h"

/* The properties of a field that the boundary conditions depend on. */
struct role {
    int axis;  /* axis of a vector component, -1: scalar */
    int state; /* index in boundary_region.state, -1: not in it */
    bool phi;
    int face; /* of the magnetic field, −x,+x,−y,+y,−z,+z; -1: none */
};

struct job {
    const struct ramses_block *b;
    const struct role *role;
    int nvar, first; /* number and first index of the fields in the batches */
    int face[6];     /* indices of the fields of a magnetic field, -1: absent */
    enum ramses_lines_of of;
    enum err *err;
};

/* Whether a name of n letters and an axis is that of a flux of photons. */
static bool is_flux(const char *name, size_t n)
{
    static const char word[] = "photon_flux_";
    return strncmp(name, word, sizeof word - 1) == 0 && n == sizeof word + 2;
}

static struct role role_of(const char *name)
{
    static const char *const state[] = {"density", "velocity_x", "velocity_y", "velocity_z"};
    static const char *const vector[] = {"velocity_", "acc_", "photon_flux_01_"};
    struct role r = {.axis = -1, .state = -1, .phi = strcmp(name, "phi") == 0, .face = -1};
    for (int f = 0; f < 6; f++) {
        char face[16];
        magnetic_name(f, face);
        if (strcmp(name, face) == 0) r.face = f;
    }
    for (int k = 0; k < 4; k++)
        if (strcmp(name, state[k]) == 0) r.state = k;
    if (strcmp(name, "pressure") == 0 || strcmp(name, "thermal_pressure") == 0) r.state = 4;
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++) {
        size_t n = strlen(vector[k]);
        const char *axis = strchr("xyz", name[n < strlen(name) ? n : 0]);
        if ((strncmp(name, vector[k], n) == 0 || is_flux(name, n)) && axis && *axis && !name[n + 1])
            r.axis = (int)(axis - "xyz");
    }
    return r;
}

/* Number of fields of a source that are written to the files of a kind, HYDRO, GRAV or RT; *first:
 * index in o.stored. */
static int written_fields(const struct ramses_out *w, enum files_kind kind, int *first)
{
    const bool grav = kind == FILES_GRAV;
    if (kind == FILES_RT) {
        *first = w->o.nhydro + w->o.ngrav;
        return w->o.nphoton;
    }
    *first = grav ? w->o.nhydro : 0;
    if (!grav) return w->o.nhydro;
    /* files from before 2015 have no potential */
    bool drop = w->o.h->legacy & CKPT_BEFORE_2015 && w->o.ngrav > w->o.h->ndim;
    *first += drop ? w->o.ngrav - w->o.h->ndim : 0;
    return drop ? w->o.h->ndim : w->o.ngrav;
}

static void put_octs(const struct job *j, const struct ramses_lines *in, int n, char *rows,
                     size_t stride)
{
    int cells = ramses_out_cells(j->b->w);
#pragma omp parallel for schedule(static)
    for (int t = 0; t < n; t += GAS_TILE)
        for (int k = 0; k < cells * j->nvar; k++) {
            double *row = (double *)(rows + (size_t)k * stride);
            double(*fld)[8] = in->fld[j->first + k % j->nvar];
            for (int i = t; i < n && i < t + GAS_TILE; i++) row[i] = fld[in->line[i]][k / j->nvar];
        }
}

/* Whether all faces have a magnetic field, and if so that of an oct beyond the boundary. */
static bool field_beyond(const struct job *j, const struct ramses_lines *in, int i,
                         const struct boundary_rule *r, double field[6][8])
{
    const double *is[6];
    for (int f = 0; f < 6; f++) {
        if (j->face[f] < 0) return false;
        is[f] = in->fld[j->first + j->face[f]][in->line[i]];
    }
    boundary_field(&j->b->w->o.h->boundary, r, is, field);
    return true;
}

static void put_beyond(const struct job *j, const struct ramses_lines *in, int64_t first, int n,
                       char *rows, size_t stride)
{
    const struct ckpt_head *h = j->b->w->o.h;
    int cells = ramses_out_cells(j->b->w);
    for (int i = 0; i < n; i++) {
        const struct boundary_rule *r = ramses_block_rule(j->b, (int32_t)first + i, NULL);
        double field[6][8];
        const bool magnetic = field_beyond(j, in, i, r, field);
        for (int v = 0; v < j->nvar; v++) {
            const struct role *role = &j->role[v];
            const double *is = in->fld[j->first + v][in->line[i]];
            bool imposed = r->imposed >= 0 && role->state >= 0 && j->of == LINES_GAS;
            double out[8];
            if (role->phi) boundary_phi(r, is, out);
            for (int c = 0; !role->phi && c < cells; c++) {
                out[c] = imposed ? h->boundary.region[r->imposed].state[role->state]
                                 : is[r->from[c]];
                if (role->axis >= 0 && r->flip[role->axis]) out[c] = -out[c];
            }
            if (magnetic && role->face >= 0) memcpy(out, field[role->face], sizeof out);
            for (int c = 0; c < cells; c++)
                ((double *)(rows + (size_t)(c * j->nvar + v) * stride))[i] = out[c];
        }
    }
}

static void fill(const void *ctx, int64_t first, int64_t n, char *rows, size_t stride)
{
    const struct job *j = ctx;
    for (int64_t at = 0, k; at < n && *j->err == OK; at += k) {
        struct ramses_lines in;
        k = CKPT_BATCH - (first + at) % CKPT_BATCH;
        if (k > n - at) k = n - at;
        *j->err = ramses_lines_of(j->b, j->of, first + at, (int)k, &in);
        if (*j->err != OK) return;
        if (j->b->rank >= j->b->w->o.c->size)
            put_beyond(j, &in, first + at, (int)k, rows + 8 * at, stride);
        else
            put_octs(j, &in, (int)k, rows + 8 * at, stride);
    }
}

static void find_faces(struct job *j)
{
    for (int f = 0; f < 6; f++) j->face[f] = -1;
    for (int v = 0; v < j->nvar; v++)
        if (j->role[v].face >= 0) j->face[j->role[v].face] = v;
}

enum err ramses_write_stored(const struct ramses_out *w, const char *path, enum files_kind kind)
{
    const bool grav = kind == FILES_GRAV;
    const enum ramses_lines_of of = grav               ? LINES_GRAVITY
                                    : kind == FILES_RT ? LINES_RADIATION
                                                       : LINES_GAS;
    struct fort_out f;
    struct role role[CKPT_FIELDS];
    int first, nvar = written_fields(w, kind, &first);
    for (int v = 0; v < nvar; v++) role[v] = role_of(w->o.stored[first + v].name);
    if (of != LINES_GAS) first -= w->o.nhydro;
    ramses_out_create(&f, w, path);
    fort_i4(&f, w->o.c->size);
    fort_i4(&f, nvar);
    if (!grav) fort_i4(&f, w->o.h->ndim);
    fort_i4(&f, w->o.nlevel);
    fort_i4(&f, w->o.h->boundary.n);
    if (!grav) fort_r8(&f, w->o.h->gamma);
    for (int l = 1; l <= w->o.nlevel; l++)
        for (int r = 0; r < w->o.c->size + w->o.h->boundary.n && f.err == OK; r++) {
            struct ramses_block b = ramses_block_of(w, l, r);
            enum err err = OK;
            struct job j = {
                .b = &b, .role = role, .nvar = nvar, .first = first, .of = of, .err = &err};
            find_faces(&j);
            ramses_block_header(&f, l, b.n);
            if (b.n) fort_table(&f, ramses_out_cells(w) * nvar, sizeof(double), b.n, fill, &j);
            if (f.err == OK) f.err = err;
        }
    return fort_close(&f);
}
