#include "oct/fields.h"

#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

const struct field_row field_rows[FIELD_ROWS] = {
#define ROW(symbol, n, centre, when, prolong, restricts, file, words, name, dataset)               \
    {FLD_##symbol, n,    FIELD_##centre, PROLONG_##prolong, RESTRICT_##restricts, FILE_##file,     \
     words,        name, dataset},
#include "oct/fields.def"
};

const struct field_row *field_row_of(int f)
{
    const struct field_row *r = field_rows;
    while (f >= r->first + r->n) r++;
    return r;
}

const char *field_array(const struct level *lv, int f, size_t *row)
{
    *row = f == FLD_FLAG ? sizeof lv->flag[0] : sizeof lv->fld[f][0];
    return f == FLD_FLAG ? (const char *)lv->flag : (const char *)lv->fld[f];
}

bool field_exists(int f, struct mesh_kind run)
{
    static const int first[] = {
#define ROW(symbol, ...) FLD_##symbol,
#include "oct/fields.def"
    };
    const int nvar = run.nvar, gravity = run.gravity, nphoton = run.nphoton;
    const bool magnetic = run.magnetic, exists[] = {
#define ROW(symbol, n, centre, when, ...) when,
#include "oct/fields.def"
                                        };
    int k = FIELD_ROWS - 1;
    while (f < first[k]) k--;
    return exists[k] && (k != ROW_GAS || f < FLD_GAS + nvar) &&
           (k != ROW_PHOTONS || f < FLD_PHOTONS + nphoton);
}

const char *field_memory(int f)
{
    if (field_exists(f, (struct mesh_kind){NVAR_MAX, 0, true, 0})) return "mesh gas";
    return f >= FLD_PHOTONS ? "mesh radiation" : "mesh gravity";
}

int field_row_count(const struct mesh *m, const struct field_row *r)
{
    if (!mesh_has_field(m, r->first)) return 0;
    return r->first == FLD_GAS ? m->nvar : r->first == FLD_PHOTONS ? m->nphoton : r->n;
}

int field_axis(int f)
{
    const struct field_row *r = field_row_of(f);
    const int k = f - r->first;
    if (r->first == FLD_PHOTONS) return k % PHOTON_VALUES - 1;
    return r->centre == FIELD_FACE ? k / 2 : r->centre == FIELD_EDGE ? k / 4 : r->n == 3 ? k : -1;
}

struct field_place field_place(int f)
{
    const struct field_row *r = field_row_of(f);
    const int k = f - r->first, axis = field_axis(f), a = (axis + 1) % 3, b = (axis + 2) % 3;
    if (r->centre == FIELD_FACE) return (struct field_place){1 << axis, (k & 1) << axis};
    if (r->centre == FIELD_EDGE)
        return (struct field_place){1 << a | 1 << b, (k & 1) << a | (k >> 1 & 1) << b};
    return (struct field_place){0, 0};
}

void field_name(int f, char name[FIELD_NAME])
{
    static const char *const part[] = {"_x", "_y", "_z"}, *const side[] = {"_left", "_right"},
                             *const corner[] = {"ll", "rl", "lr", "rr"};
    const struct field_row *r = field_row_of(f);
    const int k = f - r->first, axis = field_axis(f);
    if (r->first == FLD_PHOTONS)
        snprintf(name, FIELD_NAME, "%s_%s_%02d%s", r->name, axis < 0 ? "density" : "flux",
                 k / PHOTON_VALUES + 1, axis < 0 ? "" : part[axis]);
    else
        snprintf(name, FIELD_NAME, "%s%s%s", r->name, axis >= 0 ? part[axis] : "",
                 r->centre == FIELD_FACE   ? side[k & 1]
                 : r->centre == FIELD_EDGE ? corner[k & 3]
                                           : "");
}

void field_dataset(int f, char form[FIELD_NAME])
{
    const struct field_row *r = field_row_of(f);
    const int k = f - r->first;
    if (r->first == FLD_PHOTONS)
        snprintf(form, FIELD_NAME, "%s_%d_%d", r->dataset, k / PHOTON_VALUES + 1,
                 k % PHOTON_VALUES);
    else
        snprintf(form, FIELD_NAME, r->n > 1 ? "%s_%d" : "%s", r->dataset, f - r->first + 1);
}

/* ---- between levels ---- */

void field_prolong(const struct level *lv, int f, lidx i, int cell, double out[8])
{
    const struct field_row *r = field_row_of(f);
    const struct field_place p = field_place(f);
    const bool linear = r->prolong == PROLONG_LINEAR && r->centre == FIELD_FACE;
    const double own = lv->fld[f][i][cell],
                 other = linear ? lv->fld[FACE_OPPOSITE(f, r->first)][i][cell] : 0;
    for (int c = 0; c < 8; c++) out[c] = field_child(own, other, linear ? p.fixed : 0, p.side, c);
}

static void restrict_cell(const struct level *lv, const struct level *fine, int f, lidx i, int c)
{
    const struct field_place p = field_place(f);
    double sum = 0;
    for (int k = 0; k < 8; k++)
        if ((k & p.fixed) == p.side) sum += fine->fld[f][lv->child[i][c]][k];
    lv->fld[f][i][c] = sum / (8 >> __builtin_popcount((unsigned)p.fixed));
}

static void restrict_rows(struct mesh *m, int l, enum field_restrict how)
{
    const struct level *lv = &m->lev[l];
    for (int f = 0; f < FLD_GAS; f++) {
        if (field_row_of(f)->restrict_by != how || !mesh_has_field(m, f)) continue;
#pragma omp parallel for schedule(static)
        for (lidx i = 0; i < lv->nown; i++)
            for (int c = 0; c < 8; c++)
                if (lv->child[i][c] >= 0) restrict_cell(lv, lv + 1, f, i, c);
    }
}

void fields_restrict(struct mesh *m, int l)
{
    restrict_rows(m, l, RESTRICT_MEAN);
}

void photons_restrict(struct mesh *m, int l)
{
    restrict_rows(m, l, RESTRICT_GROUPS);
}

/* ---- sets ---- */

bool field_in(field_set set, int f)
{
    const int bit = f == FLD_FLAG ? BIT_FLAG : (int)(field_row_of(f) - field_rows);
    return set >> bit & 1;
}

int mesh_fields(const struct mesh *m, field_set set, int f[FIELD_ALL])
{
    int n = 0;
    for (int bit = 0, first = 0; bit < FIELD_ROWS; bit++)
        for (int k = 0, of = set >> bit & 1 ? field_bit(m, bit, &first) : 0; k < of; k++)
            f[n++] = first + k;
    return n;
}

const char *field_set_name(field_set one)
{
    static const char *const name[] = {
#define ROW(symbol, n, centre, when, prolong, restricts, file, words, ...) words,
#define SET(symbol, words) words,
#include "oct/fields.def"
    };
    for (unsigned i = 0; i < sizeof name / sizeof *name; i++)
        if (one >> i & 1) return name[i];
    return "nothing";
}

int field_bit(const struct mesh *m, int bit, int *first)
{
    *first = bit < FIELD_ROWS ? field_rows[bit].first : (int)FLD_FLAG;
    return bit < FIELD_ROWS ? field_row_count(m, &field_rows[bit]) : bit == BIT_FLAG;
}

/* ---- in checkpoints ---- */

/* The places of a checkpoint in their order. */
static const enum field_file ORDER[] = {FILE_HYDRO, FILE_DERIVED, FILE_GRAVITY, FILE_RADIATION};
enum { PLACES = sizeof ORDER / sizeof *ORDER };

field_set fields_written(struct mesh_kind k)
{
    field_set set = 0;
    for (int i = 0; i < FIELD_ROWS; i++) {
        const struct field_row *r = &field_rows[i];
        const bool has = (r->file == FILE_HYDRO && k.nvar > 0) ||
                         (r->file == FILE_GRAVITY && k.gravity) || r->file == FILE_RADIATION;
        if (has && field_exists(r->first, k)) set |= (field_set)1 << i;
    }
    return set;
}

field_set fields_of_gravity(int n, int ndim, field_set own)
{
    field_set set = 0;
    for (int i = 0; i < FIELD_ROWS; i++)
        if (field_rows[i].file == FILE_GRAVITY) set |= own & (field_set)1 << i;
    if (set && n == fields_count(set, FILE_GRAVITY, ndim)) return set;
    if (n < ndim || n > ndim + 2) return 0;
    return SET_FORCE | (n > ndim ? SET_PHI : 0) | (n > ndim + 1 ? SET_RHO : 0);
}

field_set fields_state(field_set rows, int gravity)
{
    return (rows & ~(field_set)SET_RHO) | (gravity ? SET_PHI | SET_FORCE : 0);
}

static int velocities(field_set set, int ndim)
{
    return gas_velocities(ndim, set & SET_MAGNETIC);
}

bool field_in_file(field_set set, int f, int ndim)
{
    if (f >= FLD_GAS) return gas_in_file(velocities(set, ndim), f - FLD_GAS) >= 0;
    const struct field_row *r = field_row_of(f);
    if (r->first == FLD_PHOTONS) return field_axis(f) < ndim;
    return r->centre != FIELD_CELL || r->n != 3 || f - r->first < ndim;
}

static int row_in_file(const struct field_row *r, int ndim)
{
    int n = 0;
    for (int k = 0; k < r->n; k++) n += field_in_file(0, r->first + k, ndim);
    return n;
}

int fields_count(field_set set, enum field_file file, int ndim)
{
    int n = 0;
    for (int i = 0; i < FIELD_ROWS; i++) {
        const struct field_row *r = &field_rows[i];
        const enum field_file in = r->file == FILE_DERIVED ? FILE_GRAVITY : r->file;
        if (set >> i & 1 && in == file) n += row_in_file(r, ndim);
    }
    return n;
}

int photons_count(int nphoton, int ndim)
{
    return nphoton / PHOTON_VALUES * (1 + ndim);
}

int photons_group(int f)
{
    if (f < FLD_PHOTONS || f > FLD_PHOTONS_END) return -1;
    return (f - FLD_PHOTONS) / PHOTON_VALUES;
}

static int row_stored(const struct field_row *r, int v, int ndim)
{
    if (r->first != FLD_PHOTONS) return r->first + v;
    return r->first + v / (1 + ndim) * PHOTON_VALUES + v % (1 + ndim);
}

int field_stored(field_set set, int nvar, int v, int ndim)
{
    const int w = velocities(set, ndim);
    if (v < nvar) return FLD_GAS + (v <= w ? v : v + 3 - w);
    v -= nvar;
    for (int k = 0; k < PLACES; k++)
        for (int i = 0; i < FIELD_ROWS; i++) {
            const struct field_row *r = &field_rows[i];
            if (!(set >> i & 1) || r->file != ORDER[k]) continue;
            const int n = row_in_file(r, ndim);
            if (v < n) return row_stored(r, v, ndim);
            v -= n;
        }
    return -1;
}

int fields_faces(field_set set, int nvar)
{
    return set & SET_MAGNETIC ? nvar : -1; /* the first row in the files of the gas */
}

int fields_column(field_set set, struct gas_order g, int v)
{
    const int faces = set & SET_MAGNETIC ? 6 : 0, face = v - g.nvar, first = g.pressure;
    if (v < first || face >= faces) return v;
    if (face >= 0) return first + (face & 1) * (faces / 2) + face / 2;
    if (v == first) return v + faces + g.nener;
    return v <= first + g.nener ? v - 1 + faces : v + faces;
}

field_set field_beside_gas(const char *name)
{
    char is[FIELD_NAME];
    for (int f = 0; f < FLD_GAS; f++) {
        const struct field_row *r = field_row_of(f);
        field_name(f, is);
        if (r->file == FILE_HYDRO && strcmp(is, name) == 0) return (field_set)1 << (r - field_rows);
    }
    return 0;
}

/* ---- ghosts ---- */

void ghosts_set(struct mesh *m, int l, field_set set, bool valid)
{
    for (int bit = 0, first = 0; bit <= BIT_FLAG; bit++)
        for (int k = set >> bit & 1 ? field_bit(m, bit, &first) : 0; k-- > 0;)
            m->lev[l].valid[first + k] = valid;
}

bool ghosts_valid(const struct mesh *m, int l, field_set set)
{
    for (int bit = 0, first = 0; bit <= BIT_FLAG; bit++)
        for (int k = set >> bit & 1 ? field_bit(m, bit, &first) : 0; k-- > 0;)
            if (!m->lev[l].valid[first + k]) return false;
    return true;
}

field_set ghosts_all_valid(const struct mesh *m, int l)
{
    field_set set = 0;
    for (int bit = 0; bit <= BIT_FLAG; bit++)
        if (ghosts_valid(m, l, (field_set)1 << bit)) set |= (field_set)1 << bit;
    return set;
}
