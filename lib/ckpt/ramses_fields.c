/* ckpt/ramses_fields: the hydro, grav and particle files of a rank (spec: ramses_binary §6, 7, 8).
 *
 * Hydro files hold primitive variables of all cells, split cells included. One pass over the mesh makes all records of a block:
 * tiles of octs stay in the cache while each of their cells and variables is picked out. */
#include <math.h>

#include "base/mem.h"
#include "ckpt/ramses_out.h"

enum { TILE = RAMSES_TILE, CHUNK = 65536 }; /* octs, particles at a time */

/* ---- cells ---- */

/* Pressure as RAMSES computes it, momentum by momentum. */
void ramses_primitive(const struct ramses_block *b, int cell, const lidx *oct, int64_t n, char *out, size_t stride)
{
    double(*const *u)[8] = (double(*const *)[8]) & b->o->m->lev[b->level].fld[FLD_U];
    double smallr = b->o->h->smallr, gamma1 = b->o->h->gamma - 1;
    double rho[TILE];
    for (int64_t i = 0; i < n; i++) {
        double r = u[0][oct[i]][cell];
        ((double *)out)[i] = r;
        rho[i] = r > smallr ? r : smallr;
    }
    double *p = (double *)(out + 4 * stride);
    for (int64_t i = 0; i < n; i++) p[i] = u[4][oct[i]][cell];
    for (int v = 1; v < b->o->h->nvar; v++) {
        double *row = (double *)(out + (size_t)v * stride);
        if (v == 4) continue;
        for (int64_t i = 0; i < n; i++) {
            double q = u[v][oct[i]][cell];
            row[i] = q / rho[i];
            if (v < 4) p[i] = p[i] - 0.5 * (q * q) / rho[i];
        }
    }
    for (int64_t i = 0; i < n; i++) p[i] = gamma1 * p[i];
}

static void fill_hydro(const void *ctx, int64_t first, int64_t n, char *rows, size_t stride)
{
    const struct ramses_block *b = ctx;
    size_t cell_stride = (size_t)b->o->h->nvar * stride;
#pragma omp parallel for schedule(static)
    for (int64_t t = 0; t < n; t += TILE)
        for (int c = 0; c < 8; c++)
            ramses_primitive(b, c, b->oct + first + t, n - t < TILE ? n - t : TILE,
                             rows + (size_t)c * cell_stride + 8 * t, stride);
}

static void fill_grav(const void *ctx, int64_t first, int64_t n, char *rows, size_t stride)
{
    static const int field[4] = {FLD_PHI, FLD_FX, FLD_FY, FLD_FZ};
    const struct ramses_block *b = ctx;
    const struct level *lv = &b->o->m->lev[b->level];
    bool computed = b->level >= b->o->h->levelmin; /* coarser levels are not solved: zero */
#pragma omp parallel for schedule(static)
    for (int64_t t = 0; t < n; t += TILE)
        for (int k = 0; k < 32; k++) {
            double *row = (double *)(rows + (size_t)k * stride);
            double(*fld)[8] = lv->fld[field[k % 4]];
            for (int64_t i = t; i < n && i < t + TILE; i++) row[i] = computed ? fld[b->oct[first + i]][k / 4] : 0;
        }
}

static void write_blocks(struct fort_out *f, const struct ramses_out *o, int nvar, fort_fill *fill)
{
    for (int l = 1; l <= o->nlevel; l++)
        for (int r = 0; r < o->c->size && f->err == OK; r++) {
            struct ramses_block b = ramses_block_of(o, l, r);
            fort_i4(f, l);
            fort_i4(f, b.n);
            if (b.n) fort_table(f, 8 * nvar, sizeof(double), b.n, fill, &b);
        }
}

enum err ramses_write_hydro(const struct ramses_out *o, const char *path)
{
    struct fort_out f;
    fort_create(&f, path);
    fort_i4(&f, o->c->size);
    fort_i4(&f, o->h->nvar);
    fort_i4(&f, 3);
    fort_i4(&f, o->nlevel);
    fort_i4(&f, 0);
    fort_r8(&f, o->h->gamma);
    write_blocks(&f, o, o->h->nvar, fill_hydro);
    return fort_close(&f);
}

enum err ramses_write_grav(const struct ramses_out *o, const char *path)
{
    struct fort_out f;
    fort_create(&f, path);
    fort_i4(&f, o->c->size);
    fort_i4(&f, 4);
    fort_i4(&f, o->nlevel);
    fort_i4(&f, 0);
    write_blocks(&f, o, 4, fill_grav);
    return fort_close(&f);
}

/* ---- particles ---- */

/* Into [0, boxlen) where the box is periodic, by RAMSES's arithmetic; a particle that moved since it was last sorted may be outside. */
static void write_positions(struct fort_out *f, const struct ramses_out *o, int d, double *chunk)
{
    const double *x = o->p->x[d];
    double box = o->m->boxlen;
    bool wrap = !o->m->wall[2 * d] && !o->m->wall[2 * d + 1];
    fort_begin(f, (int64_t)sizeof *x * o->p->n);
    for (int64_t at = 0; at < o->p->n; at += CHUNK) {
        int64_t n = o->p->n - at < CHUNK ? o->p->n - at : CHUNK;
        for (int64_t i = 0; i < n; i++) {
            double y = x[at + i];
            if (wrap && y < 0) y = y + box;
            if (wrap && y >= box) y = y - box;
            chunk[i] = y;
        }
        fort_put(f, chunk, sizeof *chunk * (size_t)n);
    }
    fort_end(f);
}

static void write_narrow_ids(struct fort_out *f, const struct parts *p, double *chunk)
{
    int32_t *id = (int32_t *)chunk;
    fort_begin(f, (int64_t)sizeof *id * p->n);
    for (int64_t at = 0; at < p->n; at += CHUNK) {
        int64_t n = p->n - at < CHUNK ? p->n - at : CHUNK;
        for (int64_t i = 0; i < n; i++) id[i] = (int32_t)p->id[at + i];
        fort_put(f, id, sizeof *id * (size_t)n);
    }
    fort_end(f);
}

enum err ramses_write_part(const struct ramses_out *o, const char *path)
{
    const struct parts *p = o->p;
    struct fort_out f;
    size_t n = (size_t)p->n;
    double *chunk = mem_new(sizeof *chunk * CHUNK, "checkpoint");
    fort_create(&f, path);
    fort_i4(&f, o->c->size);
    fort_i4(&f, 3);
    if (p->n > INT32_MAX && f.err == OK)
        f.err = err_set(ERR_LIMIT, "%s: %ld particles on one rank, RAMSES files hold 2147483647; use more ranks", path,
                        (long)p->n);
    fort_i4(&f, (int32_t)p->n);
    fort_record(&f, (int32_t[]){-1, -1, -1, -1}, 16); /* RAMSES's random numbers: unused */
    fort_i4(&f, (int32_t)o->family[FAM_STAR + 5]);
    fort_r8(&f, o->star_mass);
    fort_r8(&f, 0); /* mstar_lost */
    fort_i4(&f, 0); /* nsink */
    for (int d = 0; d < 3; d++) write_positions(&f, o, d, chunk);
    for (int d = 0; d < 3; d++) fort_record(&f, p->v[d], 8 * n);
    fort_record(&f, p->m, 8 * n);
    if (o->wide_ids)
        fort_record(&f, p->id, 8 * n);
    else
        write_narrow_ids(&f, p, chunk);
    fort_record(&f, p->levelp, 4 * n);
    fort_record(&f, p->family, n);
    fort_record(&f, p->tag, n);
    if (o->stars) fort_record(&f, p->birth, 8 * n);
    if (o->metal) fort_record(&f, p->metal, 8 * n);
    FREE(chunk);
    return fort_close(&f);
}
