/* convert: --cooling-table, tables for cooling_method='exact'. */
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "convert.h"
#include "cool/grackle.h"
#include "io/stream.h"
#include "phys/rates_asked.h"
#include "reshape/reshape.h"

static const double Z_MIN = -4, Z_MAX = 1; /* log10 Z/Z_sun */

static enum err save(const struct request *r, const struct exact_shape *s, exact_fill *fill,
                     const void *ctx)
{
    TRY(temp_may_write(r->out, r->force));
    double max = (double)(r->memory > 0 ? r->memory : RESHAPE_MEMORY);
    double bytes = 2. * sizeof(double) * s->L * s->M * s->N; /* rate and weight of one redshift */
    if (bytes > max)
        FAIL(ERR_LIMIT,
             "a table of %d densities, %d metallicities and %d temperatures needs %.0f MB: raise "
             "--memory, or take fewer points",
             s->L, s->M, s->N, ceil(bytes / 1e6));
    log_line(1, "%s: %d redshifts, %d densities, %d metallicities, %d temperatures", r->out, s->nz,
             s->L, s->M, s->N);
    return exact_write(r->out, s, fill, ctx);
}

/* ---- Grackle ---- */

static enum err from_grackle(const struct request *r, const char *in)
{
    struct grackle *g = NULL;
    const double today = 0;
    struct exact_shape s = {.M = r->points[1] ? r->points[1] : 51,
                            .nz = r->nz ? r->nz : 1,
                            .z = r->nz ? r->z : &today,
                            .low[1] = Z_MIN,
                            .high[1] = Z_MAX};
    TRY(grackle_read(in, &g));
    bool own = r->nz;
    grackle_shape(g, &s);
    enum err err = OK;
    if (own && s.z != r->z)
        err = err_set(ERR_PARAM, "%s: has redshifts of its own: leave out --redshifts", in);
    if (err == OK) err = save(r, &s, grackle_fill, g);
    grackle_free(g);
    return err;
}

/* ---- cooling of a run ---- */

static enum err model_of(struct source *s, struct params *p, struct cooling **c)
{
    char *text = NULL;
    size_t bytes = 0;
    int left_out = 0;
    const struct ckpt_head *h = &s->head;
    TRY(source_text(s, FILES_NAMELIST, &text, &bytes));
    enum err err = OK;
    if (!text)
        err = err_set(
            ERR_FORMAT,
            "%s: contains no namelist, so that its cooling is unknown: give a checkpoint with one",
            s->path);
    if (err == OK) err = param_read_loose(p, text, bytes, "namelist", &left_out);
    mem_free(text);
    TRY(err);
    struct cosmo_par cosmo = ckpt_cosmology(h);
    if (h->cosmo && !(h->omega_b > 0 && h->h0 > 0 && h->aexp_ini > 0))
        FAIL(ERR_FORMAT,
             "%s: omega_b=%g, H0=%g and aexp_ini=%g are impossible in a run with cooling", s->path,
             h->omega_b, h->h0, h->aexp_ini);
    if (p->cooling.cooling_ism)
        FAIL(ERR_PARAM,
             "%s: its gas cools by cooling_ism, which depends on neither redshift nor metallicity: "
             "there is nothing to tabulate",
             s->path);
    struct cool_par asked = rates_asked(p, h->cosmo ? &cosmo : NULL);
    asked.method = COOL_ORIGINAL;
    return cool_new(&asked, c);
}

static enum err from_model(const struct request *r, const char *in)
{
    struct source *s = NULL;
    struct params *p = mem_zero(sizeof *p, "parameters");
    struct cooling *c = NULL;
    const int *n = r->points;
    enum err err = source_open(in, &s);
    if (err == OK) err = model_of(s, p, &c);
    if (err == OK) {
        bool cosmo = s->head.cosmo;
        double now = cosmo ? 1 / s->head.aexp - 1 : 0;
        struct exact_model model = {cool_uv(c), cosmo};
        struct exact_shape shape = {.L = n[0] ? n[0] : 81,
                                    .M = n[1] ? n[1] : 51,
                                    .N = n[2] ? n[2] : 257,
                                    .nz = r->nz ? r->nz : 1,
                                    .z = r->nz ? r->z : &now,
                                    .low = {-8, Z_MIN, 1},
                                    .high = {4, Z_MAX, 9}};
        err = save(r, &shape, exact_fill_model, &model);
    }
    cool_free(c);
    mem_free(p);
    source_close(&s);
    return err;
}

enum err convert_cooling(const struct request *r, const char *in, char *path, size_t n)
{
    struct stat st;
    bool checkpoint = stat(in, &st) != 0 || S_ISDIR(st.st_mode) || format_of(in);
    TRY(checkpoint ? from_model(r, in) : from_grackle(r, in));
    if (snprintf(path, n, "%s", r->out) >= (int)n)
        FAIL(ERR_FILE, "%.80s…: the path is too long", r->out);
    return OK;
}
