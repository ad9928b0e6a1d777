/* export/cube: see cube.h. A part of the mesh, whole planes or whole rows of one, is filled at a
 * time; only batches of octs that meet it are read. */
#include "export/cube.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

__extension__ typedef __int128 wide;

enum { BITS = 125, MAX_SIDE = 65536 };
static const int64_t MEMORY = (int64_t)512 << 20, LEAST = (int64_t)1 << 20;

/* A part of the mesh: its first cell and number of cells along the axes, and its sums. */
struct part {
    struct cube *q;
    int first_field, fields;
    int64_t first[3], n[3], cells;
    wide *sum, *mass; /* [fields][cells], [cells] */
    double scale[EXPORT_FIELDS];
    cube_take *take;
    void *ctx;
};

/* ---- geometry ---- */

static enum err find_region(struct cube *q, const struct source *s, const struct cube_ask *ask)
{
    const double box = s->head.boxlen;
    for (int d = 0; d < 3; d++) {
        const bool there = d < q->ndim;
        q->lo[d] = ask->part && there ? ask->lo[d] / box : 0;
        q->hi[d] = ask->part && there ? ask->hi[d] / box : 1;
        const double lo = q->lo[d], hi = q->hi[d];
        if (!(hi > lo && hi - lo <= 1))
            FAIL(ERR_PARAM, "%s: the region is %g wide along %c, the box %g", s->path,
                 (hi - lo) * box, 'x' + d, box);
        const bool inside = s->nboundary ? lo >= 0 && hi <= 1 : lo >= -1 && hi <= 2;
        if (!inside)
            FAIL(ERR_PARAM,
                 "%s: the region, from %g to %g along %c, is outside of the box, which goes from 0 "
                 "to %g",
                 s->path, lo * box, hi * box, 'x' + d, box);
    }
    return OK;
}

/* Ends the region at faces of cells: of the level, or a whole number of cells behind its corner. */
static enum err find_cells(struct cube *q, const struct source *s, const struct cube_ask *ask)
{
    static const double ROUND = 1e-9; /* of a cell */
    double longest = 0;
    for (int d = 0; d < q->ndim; d++) longest = fmax(longest, q->hi[d] - q->lo[d]);
    q->per_cell = ask->n ? ask->n / longest : ldexp(1, ask->level);
    q->side = 1 / q->per_cell;
    for (int d = 0; d < 3; d++) {
        double lo = q->lo[d] * q->per_cell, hi = q->hi[d] * q->per_cell;
        q->n[d] = 1;
        if (d >= q->ndim) continue;
        if (!ask->n) lo = floor(lo + ROUND), q->lo[d] = lo * q->side;
        const double cells = ceil(hi - lo - ROUND);
        if (!(cells <= MAX_SIDE))
            FAIL(ERR_PARAM,
                 "%s: %g cells along %c are more than %d: ask for fewer, or for a region", s->path,
                 cells, 'x' + d, MAX_SIDE);
        q->n[d] = cells > 1 ? (int64_t)cells : 1;
        q->hi[d] = q->lo[d] + (double)q->n[d] * q->side;
    }
    return OK;
}

/* A face of cells of a level, counted in cells of the cube from its corner: the same number for
 * both cells that share it. `image`: shift by boxes. */
static double face(const struct cube *q, int d, int64_t i, int level, int image)
{
    const double x = ldexp((double)i, -level) + image;
    return (x - q->lo[d]) * q->per_cell;
}

/* First and last image of the box that may meet the region along an axis. */
static void images(const struct cube *q, int d, int image[2])
{
    const bool periodic = q->list.s->nboundary == 0 && d < q->ndim;
    image[0] = periodic && q->lo[d] < 0 ? -1 : 0;
    image[1] = periodic && q->hi[d] > 1 ? (q->hi[d] > 2 ? 2 : 1) : 0;
}

/* Cells of the part that an interval overlaps along an axis; false: none. */
static bool span(const struct part *p, int d, double lo, double hi, int64_t of[2])
{
    const double first = (double)p->first[d], end = first + (double)p->n[d];
    if (!(hi > first && lo < end)) return false;
    of[0] = (int64_t)fmax(floor(lo), first);
    of[1] = (int64_t)fmin(ceil(hi), end);
    return of[1] > of[0];
}

/* ---- cells ---- */

/* A leaf cell of the batch. */
struct leaf {
    const struct source_octs *o;
    int i, c;
    int64_t at[3]; /* its coordinates in cells of its level */
};

static double value_of(const struct part *p, const struct leaf *l, int f)
{
    const struct export_list *list = &p->q->list;
    return gas_value(&list->gas, list->field[f].number, l->o, l->c, l->i);
}

static double density(const struct part *p, const struct leaf *l)
{
    const struct gas *g = &p->q->list.gas;
    return g->density < 0 ? 0 : l->o->val[8 * g->density + l->c][l->i];
}

/* A function for the leaf cell, an image of which overlaps the cells span[d][0] … span[d][1] − 1 of
 * the mesh; lo and hi are its faces. */
typedef enum err visit_fn(struct part *p, const struct leaf *l, int64_t span[3][2],
                          const double lo[3], const double hi[3]);

static enum err visit_images(struct part *p, const struct leaf *l, visit_fn *visit)
{
    const struct cube *q = p->q;
    const int level = l->o->level;
    int im[3][2];
    for (int d = 0; d < 3; d++) images(q, d, im[d]);
    for (int z = im[2][0]; z <= im[2][1]; z++)
        for (int y = im[1][0]; y <= im[1][1]; y++)
            for (int x = im[0][0]; x <= im[0][1]; x++) {
                const int at[3] = {x, y, z};
                double lo[3] = {0}, hi[3] = {1, 1, 1};
                int64_t of[3][2] = {{0, 1}, {0, 1}, {0, 1}};
                bool meets = true;
                for (int d = 0; d < q->ndim && meets; d++) {
                    lo[d] = face(q, d, l->at[d], level, at[d]);
                    hi[d] = face(q, d, l->at[d] + 1, level, at[d]);
                    meets = span(p, d, lo[d], hi[d], of[d]);
                }
                if (meets) TRY(visit(p, l, of, lo, hi));
            }
    return OK;
}

static enum err walk_leaves(struct part *p, const struct source_octs *o, visit_fn *visit)
{
    const int cells = 1 << p->q->ndim;
    struct leaf l = {.o = o};
    for (l.i = 0; l.i < o->n; l.i++) {
        int64_t x[3];
        okey_coords(o->key[l.i], x);
        for (l.c = 0; l.c < cells; l.c++) {
            if (o->split[l.i] >> l.c & 1) continue;
            for (int d = 0; d < 3; d++) l.at[d] = 2 * x[d] + (l.c >> d & 1);
            TRY(visit_images(p, &l, visit));
        }
    }
    return OK;
}

/* ---- the first reading: maxima ---- */

static enum err find_max(struct part *p, const struct leaf *l, int64_t of[3][2], const double lo[3],
                         const double hi[3])
{
    struct cube *q = p->q;
    const double rho = density(p, l);
    for (int f = 0; f < q->list.n; f++) {
        if (q->list.field[f].number < 0) continue;
        const double x = value_of(p, l, f);
        if (!isfinite(x) || (q->list.field[f].per_mass && !(rho >= 0 && isfinite(rho))))
            FAIL(ERR_FORMAT,
                 "%s: level %d: a value of %s is not finite, or its density is negative: see "
                 "inspect -cc",
                 q->list.s->path, l->o->level, q->list.field[f].name);
        q->max[f] = fmax(q->max[f], fabs(x));
    }
    q->max_rho = fmax(q->max_rho, rho);
    return OK;
}

static enum err scan_octs(const struct source_octs *o, void *ctx)
{
    return walk_leaves(ctx, o, find_max);
}

/* The sum of the masses of particles is at most their number times the greatest. */
static enum err scan_parts(const struct source_parts *s, void *ctx)
{
    struct part *p = ctx;
    struct cube *q = p->q;
    for (int64_t i = 0; i < s->n; i++) q->max_rho = fmax(q->max_rho, s->m[i]);
    return OK;
}

static bool pick_octs(void *ctx, int level, int n, const okey *key)
{
    const struct part *p = ctx;
    for (int i = 0; i < n; i++) {
        int64_t x[3], of[2];
        bool meets = true;
        okey_coords(key[i], x);
        for (int d = 0; d < p->q->ndim && meets; d++) {
            int im[2];
            images(p->q, d, im);
            meets = false;
            for (int k = im[0]; k <= im[1]; k++)
                meets |= span(p, d, face(p->q, d, x[d], level - 1, k),
                              face(p->q, d, x[d] + 1, level - 1, k), of);
        }
        if (meets) return true;
    }
    return false;
}

static enum err read_octs(struct part *p, source_octs_fn *fn)
{
    struct source *s = p->q->list.s;
    const struct ckpt_pick pick = {.octs = pick_octs, .ctx = p}, *before = s->pick;
    enum err err = OK;
    bool whole = true;
    for (int d = 0; d < 3; d++)
        whole &= p->first[d] == 0 && p->n[d] == p->q->n[d] &&
                 p->q->hi[d] - p->q->lo[d] > 1 - 0.5 * p->q->side;
    s->counts = (struct ckpt_counts){0};
    s->pick = before || whole ? before : &pick;
    for (int k = 0; k < s->npiece && err == OK; k++) err = source_octs(s, k, SOURCE_STORED, fn, p);
    s->pick = before;
    return err == OK && whole ? source_check_tree(s) : err;
}

static enum err read_parts(struct part *p, source_parts_fn *fn)
{
    struct source *s = p->q->list.s;
    for (int k = 0; k < s->npiece; k++) TRY(source_parts(s, k, SOURCE_STATE, fn, p));
    return OK;
}

enum err cube_open(struct cube *q, struct source *s, const struct cube_ask *ask)
{
    TRY(export_find(&q->list, s, ask->fields));
    q->ndim = s->head.ndim;
    q->physical = ask->physical;
    q->memory = ask->memory ? ask->memory : MEMORY;
    TRY(find_region(q, s, ask));
    TRY(find_cells(q, s, ask));
    TRY(export_prepare(&q->list, q->lo, q->hi));
    struct part all = {.q = q, .n = {q->n[0], q->n[1], q->n[2]}};
    if (q->list.cells) TRY(read_octs(&all, scan_octs));
    if (!q->list.parts) return OK;
    double max_rho = q->max_rho, volume = pow(q->side * s->head.boxlen, q->ndim);
    q->max_rho = 0;
    s->counts = (struct ckpt_counts){0};
    TRY(read_parts(&all, scan_parts));
    for (int f = 0; f < q->list.n; f++)
        if (q->list.field[f].number < 0)
            q->max[f] = q->max_rho * (double)s->counts.particles / volume;
    q->max_rho = max_rho;
    return OK;
}

void cube_free(struct cube *q)
{
    export_free(&q->list);
}

/* ---- sums ---- */

/* The power of two that makes integers of at most BITS bits of numbers up to max. */
static double scale_of(double max)
{
    int e = 0;
    frexp(max, &e);
    e = BITS - e;
    return ldexp(1, e > 1000 ? 1000 : e < -1000 ? -1000 : e);
}

static double overlap(double lo, double hi, int64_t cell)
{
    return fmin(hi, (double)(cell + 1)) - fmax(lo, (double)cell);
}

static enum err lay(struct part *p, const struct leaf *l, int64_t of[3][2], const double lo[3],
                    const double hi[3])
{
    const struct cube *q = p->q;
    const double heavy = p->mass ? density(p, l) / q->max_rho : 0;
    double value[EXPORT_FIELDS];
    for (int f = 0; f < p->fields; f++)
        if (q->list.field[p->first_field + f].number >= 0)
            value[f] = value_of(p, l, p->first_field + f) * p->scale[f];
    for (int64_t z = of[2][0]; z < of[2][1]; z++)
        for (int64_t y = of[1][0]; y < of[1][1]; y++)
            for (int64_t x = of[0][0]; x < of[0][1]; x++) {
                const int64_t at[3] = {x, y, z};
                const int64_t cell = x - p->first[0] +
                                     p->n[0] * (y - p->first[1] + p->n[1] * (z - p->first[2]));
                double w = 1;
                for (int d = 0; d < q->ndim; d++) w *= overlap(lo[d], hi[d], at[d]);
                /* A cell within one leaf cell has its value to the last bit. */
                const double m = w == 1 ? 1 : w * heavy;
                if (p->mass) p->mass[cell] += (wide)ldexp(m, BITS - 1);
                for (int f = 0; f < p->fields; f++) {
                    const struct export_field *e = &q->list.field[p->first_field + f];
                    if (e->number >= 0)
                        p->sum[f * p->cells + cell] += (wide)((e->per_mass ? m : w) * value[f]);
                }
            }
    return OK;
}

static enum err lay_octs(const struct source_octs *o, void *ctx)
{
    return walk_leaves(ctx, o, lay);
}

/* The cell of the part that an image of the particle is in; −1: none. */
static int64_t cell_of(const struct part *p, const struct source_parts *s, int64_t i)
{
    const struct cube *q = p->q;
    int64_t cell = 0, stride = 1;
    for (int d = 0; d < 3; d++) {
        int im[2];
        bool found = d >= q->ndim;
        images(q, d, im);
        double x = found ? 0 : s->x[d][i] / q->list.s->head.boxlen;
        if (!found && q->list.s->nboundary == 0) x -= floor(x);
        for (int k = im[0]; k <= im[1] && !found; k++) {
            const double at = floor((x + k - q->lo[d]) * q->per_cell) - (double)p->first[d];
            found = at >= 0 && at < (double)p->n[d];
            if (found) cell += stride * (int64_t)at;
        }
        if (!found) return -1;
        stride *= p->n[d];
    }
    return cell;
}

static enum err lay_parts(const struct source_parts *s, void *ctx)
{
    struct part *p = ctx;
    const struct cube *q = p->q;
    const double volume = pow(q->side * q->list.s->head.boxlen, q->ndim);
    for (int64_t i = 0; i < s->n; i++) {
        const enum part_species kind = family_species(s->family[i]);
        const int64_t cell = cell_of(p, s, i);
        for (int f = 0; f < p->fields && cell >= 0; f++) {
            const struct export_field *e = &q->list.field[p->first_field + f];
            if (e->number < 0 && e->species == kind && kind != SPECIES_NONE)
                p->sum[f * p->cells + cell] += (wide)(s->m[i] / volume * p->scale[f]);
        }
    }
    return OK;
}

/* ---- parts of the mesh ---- */

struct unit cube_unit(const struct cube *q, int field)
{
    struct unit u = q->list.field[field].unit;
    if (q->physical) u.worth = 1;
    return u;
}

static enum err hand_on(struct part *p)
{
    const struct cube *q = p->q;
    const int64_t at = p->first[0] + q->n[0] * (p->first[1] + q->n[1] * p->first[2]);
    double *row = mem_new(sizeof *row * (size_t)p->cells + 1, "cube");
    enum err err = OK;
    for (int f = 0; f < p->fields && err == OK; f++) {
        const struct export_field *e = &q->list.field[p->first_field + f];
        const double worth = q->physical ? e->unit.worth : 1;
        for (int64_t i = 0; i < p->cells; i++) {
            const double sum = (double)p->sum[f * p->cells + i] / p->scale[f],
                         mass = e->per_mass ? ldexp((double)p->mass[i], 1 - BITS) : 1;
            row[i] = (mass > 0 ? sum / mass : 0) * worth;
        }
        err = p->take(p->ctx, p->first_field + f, at, p->cells, row);
    }
    FREE(row);
    return err;
}

static enum err read_part(struct part *p)
{
    const struct cube *q = p->q;
    bool mass = false;
    bool cells = false, parts = false;
    p->cells = p->n[0] * p->n[1] * p->n[2];
    for (int f = 0; f < p->fields; f++) {
        const struct export_field *e = &q->list.field[p->first_field + f];
        mass |= e->per_mass, cells |= e->number >= 0, parts |= e->number < 0;
        p->scale[f] = scale_of(q->max[p->first_field + f]);
    }
    p->sum = mem_zero(sizeof *p->sum * (size_t)(p->cells * p->fields), "cube");
    p->mass = mass ? mem_zero(sizeof *p->mass * (size_t)p->cells, "cube") : NULL;
    enum err err = cells ? read_octs(p, lay_octs) : OK;
    if (err == OK && parts) err = read_parts(p, lay_parts);
    if (err == OK) err = hand_on(p);
    FREE(p->sum);
    FREE(p->mass);
    return err;
}

/* Bytes of a cell with these fields: sums, masses, the row that is handed on. */
static int64_t bytes_of(int fields)
{
    return (int64_t)sizeof(wide) * (fields + 1) + 8;
}

/* Reads some fields, as many rows or planes at a time as fit into the memory. */
static enum err read_fields(struct part *p)
{
    const struct cube *q = p->q;
    const int64_t room = (q->memory > LEAST ? q->memory : LEAST) / bytes_of(p->fields),
                  row = q->n[0], plane = row * q->n[1];
    const int64_t planes = room / plane,
                  rows = planes           ? q->n[1]
                         : room / row > 1 ? room / row
                                          : 1,
                  deep = planes ? planes : 1;
    for (int64_t z = 0; z < q->n[2]; z += deep)
        for (int64_t y = 0; y < q->n[1]; y += rows) {
            p->first[0] = 0, p->first[1] = y, p->first[2] = z;
            p->n[0] = row;
            p->n[1] = rows < q->n[1] - y ? rows : q->n[1] - y;
            p->n[2] = deep < q->n[2] - z ? deep : q->n[2] - z;
            TRY(read_part(p));
        }
    return OK;
}

enum err cube_read(struct cube *q, bool in_order, cube_take *take, void *ctx)
{
    const bool whole = cube_cells(q) <= q->memory / bytes_of(q->list.n);
    struct part p = {.q = q, .take = take, .ctx = ctx};
    p.fields = whole || !in_order ? q->list.n : 1;
    for (; p.first_field < q->list.n; p.first_field += p.fields) TRY(read_fields(&p));
    return OK;
}
