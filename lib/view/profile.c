/* view/profile: see profile.h.
 *
 * A cell counts in each bin in proportion to its volume there: cells that overlap several bins are
 * bisected up to DEPTH times. Particles are points. Sums are exact (base/sum), so that they do not
 * depend on the number of files or their order. Distances are from the centre to the nearest image
 * in a periodic box. */
#include "view/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sum.h"
#include "formats/formats.h"
#include "view/gas.h"
#include "view/unit.h"

enum { DEPTH = 4 };

/* Sums over one species in a bin. */
struct bin {
    struct sum mass, volume;     /* volume: gas only */
    struct sum mv[3], mvv;       /* momentum; mass × velocity² */
    struct sum mvr, mr[3];       /* mass × velocity along the radius; mass × direction */
    struct sum mt;               /* mass × T/μ */
    struct sum mx[PROFILE_IONS]; /* mass × fraction of an ion */
    int64_t count;
};

struct reading {
    struct source *r;
    const struct profile_options *o;
    struct gas gas;
    int velocity[3]; /* indices of the velocity fields */
    int ion[PROFILE_IONS];
    int n;
    double *edge; /* [n+1] edges of bins in units of the box */
    struct bin *bin[SPECIES_COUNT];
    double (*part)[4]; /* [n] share of a cell's volume in each bin, and share × direction (3) */
};

/* ---- bins ---- */

static void set_edges(struct reading *q)
{
    double r = q->o->radius;
    for (int i = 0; i <= q->n; i++)
        q->edge[i] = q->o->linear ? r * i / q->n
                     : i          ? r * pow(100, (double)(i - 1) / (q->n - 1) - 1)
                                  : 0;
    q->edge[q->n] = r;
}

/* Index of the bin of radius r; -1: beyond the last bin. */
static int bin_of(const struct reading *q, double r)
{
    int lo = 0, hi = q->n;
    if (!(r < q->edge[q->n])) return -1;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (r < q->edge[mid])
            hi = mid;
        else
            lo = mid;
    }
    return lo;
}

static void bin_add(struct bin *b, double mass, const double v[3], double vr, const double mr[3])
{
    sum_add(&b->mass, mass);
    sum_add(&b->mvr, vr);
    sum_add(&b->mvv, mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    for (int d = 0; d < 3; d++) {
        sum_add(&b->mv[d], mass * v[d]);
        sum_add(&b->mr[d], mr[d]);
    }
    b->count++;
}

/* Component d of the vector from the centre to x, in units of the box. */
static double towards(const struct reading *q, int d, double x)
{
    double dx = x - q->o->centre[d];
    return q->r->nboundary ? dx : dx - rint(dx);
}

/* ---- cells ---- */

/* Distributes the volume of a cube around x over bins. */
static void divide(struct reading *q, const double x[3], double half, double share, int depth)
{
    double near2 = 0, far2 = 0, r2 = 0;
    for (int d = 0; d < 3; d++) {
        double near = fmax(fabs(x[d]) - half, 0), far = fabs(x[d]) + half;
        near2 += near * near, far2 += far * far, r2 += x[d] * x[d];
    }
    int first = bin_of(q, sqrt(near2)), last = bin_of(q, sqrt(far2));
    if (first < 0) return;
    if (depth == 0 || (first == last && 25 * half * half < r2)) {
        double r = sqrt(r2);
        int b = first == last ? first : bin_of(q, r);
        if (b < 0) return;
        q->part[b][0] += share;
        for (int d = 0; d < 3 && r > 0; d++) q->part[b][d + 1] += share * x[d] / r;
        return;
    }
    for (int c = 0; c < 8; c++) {
        double y[3];
        for (int d = 0; d < 3; d++) y[d] = x[d] + (c >> d & 1 ? 0.5 : -0.5) * half;
        divide(q, y, 0.5 * half, share / 8, depth - 1);
    }
}

static void add_cell(struct reading *q, const struct source_octs *o, int i, int c,
                     const double x[3], double half)
{
    double v[3] = {0}, volume = pow(2 * half * q->r->head.boxlen, 3);
    double mass = o->val[8 * q->gas.density + c][i] * volume;
    double t = q->gas.pressure >= 0 ? gas_T2(&q->gas, o, c, i) : NAN;
    for (int d = 0; d < 3; d++)
        if (q->velocity[d] >= 0) v[d] = o->val[8 * q->velocity[d] + c][i];
    memset(q->part, 0, sizeof *q->part * (size_t)q->n);
    divide(q, x, half, 1, DEPTH);
    for (int k = 0; k < q->n; k++) {
        const double *part = q->part[k];
        struct bin *b = &q->bin[SPECIES_GAS][k];
        double mr[3], vr = 0;
        if (part[0] == 0) continue;
        for (int d = 0; d < 3; d++) mr[d] = mass * part[d + 1], vr += mr[d] * v[d];
        bin_add(b, mass * part[0], v, vr, mr);
        sum_add(&b->volume, volume * part[0]);
        if (isfinite(t)) sum_add(&b->mt, mass * part[0] * t);
        for (int j = 0; j < PROFILE_IONS; j++)
            if (q->ion[j] >= 0) sum_add(&b->mx[j], mass * part[0] * o->val[8 * q->ion[j] + c][i]);
    }
}

static enum err fold_octs(const struct source_octs *o, void *ctx)
{
    struct reading *q = ctx;
    double half = ldexp(0.5, -o->level), reach = q->o->radius;
    for (int i = 0; i < o->n; i++)
        for (int c = 0; c < 8; c++) {
            int64_t key[3];
            double x[3], near2 = 0;
            if (o->split[i] >> c & 1) continue;
            okey_coords(o->key[i], key);
            for (int d = 0; d < 3; d++) {
                x[d] = towards(q, d, (double)(2 * (2 * key[d] + (c >> d & 1)) + 1) * half);
                near2 += pow(fmax(fabs(x[d]) - half, 0), 2);
            }
            if (near2 >= reach * reach) continue;
            double rho = o->val[8 * q->gas.density + c][i];
            if (!(rho >= 0 && isfinite(rho)))
                FAIL(ERR_FORMAT, "%s: level %d: a cell has the density %g: see inspect -cc",
                     o->file, o->level, rho);
            add_cell(q, o, i, c, x, half);
        }
    return OK;
}

/* ---- particles ---- */

static enum err fold_parts(const struct source_parts *p, void *ctx)
{
    struct reading *q = ctx;
    for (int64_t i = 0; i < p->n; i++) {
        enum part_species kind = family_species(p->family[i]);
        double x[3], v[3], mr[3], r2 = 0, vr = 0;
        if (kind == SPECIES_NONE) continue;
        for (int d = 0; d < 3; d++) {
            x[d] = towards(q, d, p->x[d][i] / q->r->head.boxlen);
            v[d] = p->v[d][i];
            r2 += x[d] * x[d];
        }
        double r = sqrt(r2);
        int b = bin_of(q, r);
        if (b < 0) continue;
        if (!(p->m[i] >= 0 && isfinite(p->m[i] + v[0] + v[1] + v[2])))
            FAIL(ERR_FORMAT, "%s: particle %ld has no finite mass and velocity: see inspect -cc",
                 p->file, (long)p->id[i]);
        for (int d = 0; d < 3; d++) {
            mr[d] = r > 0 ? p->m[i] * x[d] / r : 0;
            vr += mr[d] * v[d];
        }
        bin_add(&q->bin[kind][b], p->m[i], v, vr, mr);
    }
    return OK;
}

static enum err read_all(struct reading *q)
{
    struct source *r = q->r;
    for (int piece = 0; piece < r->npiece; piece++) {
        if (r->npiece > 1) log_live("reading file %d of %d", piece + 1, r->npiece);
        if (q->gas.density >= 0) TRY(source_octs(r, piece, SOURCE_STORED, fold_octs, q));
        if (r->head.particles) TRY(source_parts(r, piece, SOURCE_STORED, fold_parts, q));
    }
    log_live(NULL);
    return OK;
}

/* ---- results ---- */

/* Names of columns, and fields that define their units. */
static const struct {
    const char *name, *field;
} COLUMN[PROFILE_COLUMNS] = {{"from", "length"},
                             {"to", "length"},
                             {"gas_density", "density"},
                             {"temperature", "temperature"},
                             {"gas_vr", "velocity_"},
                             {"gas_mass", "mass"},
                             {"dm_density", "density"},
                             {"dm_vr", "velocity_"},
                             {"dm_sigma", "velocity_"},
                             {"dm_mass", "mass"},
                             {"dm_count", ""},
                             {"star_density", "density"},
                             {"star_vr", "velocity_"},
                             {"star_sigma", "velocity_"},
                             {"star_mass", "mass"},
                             {"star_count", ""},
                             {"other_density", "density"},
                             {"other_vr", "velocity_"},
                             {"other_sigma", "velocity_"},
                             {"other_mass", "mass"},
                             {"other_count", ""},
                             {"x_HI", ""},
                             {"x_HII", ""},
                             {"x_HeII", ""},
                             {"x_HeIII", ""}};

/* First of the five columns of each species of particles. */
static const enum profile_column FIRST[SPECIES_COUNT] = {[SPECIES_DM] = PROFILE_DM_DENSITY,
                                                         [SPECIES_STAR] = PROFILE_STAR_DENSITY,
                                                         [SPECIES_OTHER] = PROFILE_OTHER_DENSITY};

const char *profile_name(enum profile_column c)
{
    return COLUMN[c].name;
}

static struct unit column_unit(const struct reading *q, enum profile_column c)
{
    const struct ckpt_head *h = &q->r->head;
    const char *f = COLUMN[c].field;
    bool physical = q->o->physical;
    if (!*f) return (struct unit){1, ""};
    if (strcmp(f, "length") == 0)
        return physical ? (struct unit){h->boxlen * h->unit_l / CGS_KPC, "kpc"}
                        : (struct unit){1, "box"};
    if (strcmp(f, "mass") == 0) return physical ? unit_mass(h) : (struct unit){1, "code"};
    return unit_of(f, &q->gas.units, physical);
}

/* Mean velocity of all matter. */
static void find_bulk(const struct reading *q, double bulk[3])
{
    struct sum mass, mv[3];
    sum_init(&mass);
    for (int d = 0; d < 3; d++) sum_init(&mv[d]);
    for (int s = 0; s < SPECIES_COUNT; s++)
        for (int k = 0; k < q->n; k++) {
            sum_join(&mass, &q->bin[s][k].mass);
            for (int d = 0; d < 3; d++) sum_join(&mv[d], &q->bin[s][k].mv[d]);
        }
    for (int d = 0; d < 3; d++) bulk[d] = sum_get(&mass) > 0 ? sum_get(&mv[d]) / sum_get(&mass) : 0;
}

static double radial(const struct bin *b, const double bulk[3])
{
    double v = sum_get(&b->mvr);
    for (int d = 0; d < 3; d++) v -= bulk[d] * sum_get(&b->mr[d]);
    return b->count ? v / sum_get(&b->mass) : NAN;
}

static double dispersion(const struct bin *b)
{
    double m = sum_get(&b->mass), v2 = sum_get(&b->mvv) / m;
    for (int d = 0; d < 3; d++) v2 -= pow(sum_get(&b->mv[d]) / m, 2);
    return b->count > 1 ? sqrt(fmax(v2, 0) / 3) : NAN;
}

/* within: cumulative masses up to this bin, by species. */
static void fill_row(const struct reading *q, int k, const double bulk[3],
                     const double within[SPECIES_COUNT], double *row)
{
    const struct bin *gas = &q->bin[SPECIES_GAS][k];
    double box = q->r->head.boxlen, from = q->edge[k] * box, to = q->edge[k + 1] * box;
    double volume = 4 * M_PI / 3 * (to * to * to - from * from * from), m = sum_get(&gas->mass);
    row[PROFILE_FROM] = q->edge[k], row[PROFILE_TO] = q->edge[k + 1];
    row[PROFILE_GAS_DENSITY] = gas->count ? m / sum_get(&gas->volume) : NAN;
    row[PROFILE_TEMPERATURE] = gas->count && q->gas.pressure >= 0 && m > 0 ? sum_get(&gas->mt) / m
                                                                           : NAN;
    row[PROFILE_GAS_VR] = m > 0 ? radial(gas, bulk) : NAN;
    row[PROFILE_GAS_MASS] = within[SPECIES_GAS];
    for (int j = 0; j < PROFILE_IONS; j++)
        row[PROFILE_HI + j] = q->ion[j] >= 0 && m > 0 ? sum_get(&gas->mx[j]) / m : NAN;
    for (int s = 0; s < SPECIES_COUNT; s++) {
        const struct bin *b = &q->bin[s][k];
        double *at = row + FIRST[s];
        if (s == SPECIES_GAS) continue;
        at[0] = sum_get(&b->mass) / volume;
        at[1] = radial(b, bulk);
        at[2] = dispersion(b);
        at[3] = within[s];
        at[4] = (double)b->count;
    }
}

static void finish(const struct reading *q, struct profile *p)
{
    struct sum within[SPECIES_COUNT];
    struct unit unit[PROFILE_COLUMNS];
    p->n = q->n;
    p->row = mem_new(sizeof *p->row * (size_t)q->n, "profile");
    find_bulk(q, p->bulk);
    for (int c = 0; c < PROFILE_COLUMNS; c++) {
        unit[c] = column_unit(q, (enum profile_column)c);
        p->unit[c] = unit[c].name;
        if (c < PROFILE_HI || q->ion[c - PROFILE_HI] >= 0)
            p->list[p->columns++] = (enum profile_column)c;
    }
    for (int s = 0; s < SPECIES_COUNT; s++) sum_init(&within[s]);
    for (int k = 0; k < q->n; k++) {
        double mass[SPECIES_COUNT];
        for (int s = 0; s < SPECIES_COUNT; s++) {
            sum_join(&within[s], &q->bin[s][k].mass);
            mass[s] = sum_get(&within[s]);
        }
        fill_row(q, k, p->bulk, mass, p->row[k]);
        for (int c = 0; c < PROFILE_COLUMNS; c++) p->row[k][c] *= unit[c].worth;
    }
    p->unit_velocity = unit[PROFILE_GAS_VR].name;
    for (int d = 0; d < 3; d++) p->bulk[d] *= unit[PROFILE_GAS_VR].worth;
    for (int s = 0; s < SPECIES_COUNT; s++) p->has[s] = sum_get(&within[s]) > 0;
    struct unit drawn = unit_length(&q->r->head, q->o->radius, q->o->physical);
    p->stretch = drawn.worth / unit[PROFILE_TO].worth;
    unit_axis(&q->r->head, "r", drawn, p->axis, sizeof p->axis);
    unit_title(q->r, q->o->physical, p->title, sizeof p->title);
}

/* Index of a stored field of the gas; -1: there is none. */
static int stored(const struct reading *q, const char *name)
{
    for (int f = 0; f < q->r->nhydro; f++)
        if (strcmp(q->r->field[f].name, name) == 0) return f;
    return -1;
}

static void prepare(struct reading *q)
{
    static const char *const name[3] = {"velocity_x", "velocity_y", "velocity_z"};
    size_t n = (size_t)q->n;
    q->gas = gas_of(q->r);
    for (int d = 0; d < 3; d++) q->velocity[d] = stored(q, name[d]);
    for (int j = 0; j < PROFILE_IONS; j++) q->ion[j] = stored(q, COLUMN[PROFILE_HI + j].name);
    q->edge = mem_new(sizeof *q->edge * (n + 1), "profile");
    q->part = mem_new(sizeof *q->part * n, "profile");
    set_edges(q);
    for (int s = 0; s < SPECIES_COUNT; s++) {
        q->bin[s] = mem_zero(sizeof *q->bin[s] * n, "profile");
        for (size_t k = 0; k < n; k++) {
            struct bin *b = &q->bin[s][k];
            struct sum *all[] = {&b->mass, &b->volume, &b->mv[0], &b->mv[1], &b->mv[2], &b->mvv,
                                 &b->mvr,  &b->mr[0],  &b->mr[1], &b->mr[2], &b->mt};
            for (size_t i = 0; i < sizeof all / sizeof *all; i++) sum_init(all[i]);
            for (int j = 0; j < PROFILE_IONS; j++) sum_init(&b->mx[j]);
        }
    }
}

enum err profile_make(struct profile *p, struct source *r, const struct profile_options *o)
{
    struct reading q = {.r = r, .o = o, .n = o->bins};
    TRY(source_in_space(r, "radial profiles"));
    if (r->coarse[0] * r->coarse[1] * r->coarse[2] != 1)
        FAIL(ERR_LIMIT, "%s: profiles are made only of checkpoints with one coarse cell", r->path);
    prepare(&q);
    enum err err = read_all(&q);
    if (err == OK) finish(&q, p);
    FREE(q.edge);
    FREE(q.part);
    for (int s = 0; s < SPECIES_COUNT; s++) FREE(q.bin[s]);
    return err;
}

void profile_free(struct profile *p)
{
    FREE(p->row);
}
