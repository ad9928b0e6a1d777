/* pk/output: see output.h. */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "plot_svg.h"

struct content {
    const struct pk_table *table;
    const struct plot *plot; /* or a table */
    bool json;
};

enum err output_may_write(const char *path, bool force)
{
    if (!force && access(path, F_OK) == 0) FAIL(ERR_FILE, "%s: is there; --force replaces it", path);
    return OK;
}

static void write_content(FILE *out, const struct content *c)
{
    if (c->plot)
        plot_svg(out, c->plot);
    else
        (c->json ? pk_table_json : pk_table_tsv)(out, c->table);
}

static enum err save(const char *path, bool force, const struct content *c)
{
    char part[PATH_MAX];
    TRY(output_may_write(path, force));
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part) FAIL(ERR_FILE, "%.80s…: path too long", path);
    FILE *out = fopen(part, "w");
    if (!out) FAIL(ERR_FILE, "%s: cannot create: %s", part, strerror(errno));
    errno = 0;
    write_content(out, c);
    int why = ferror(out) || fflush(out) != 0 || fsync(fileno(out)) != 0 ? (errno ? errno : EIO) : 0;
    if (fclose(out) != 0 && !why) why = errno;
    if (!why && rename(part, path) != 0) why = errno;
    if (!why) return OK;
    unlink(part);
    FAIL(ERR_FILE, "%s: cannot write: %s", path, strerror(why));
}

enum err output_table(const char *dir, int number, bool json, bool force, const struct pk_table *t, size_t size,
                      char *path)
{
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) FAIL(ERR_FILE, "%s: cannot make: %s", dir, strerror(errno));
    if (snprintf(path, size, "%s/pk_%05d.%s", dir, number, json ? "json" : "tsv") >= (int)size)
        FAIL(ERR_FILE, "%.80s…: path too long", dir);
    return save(path, force, &(struct content){.table = t, .json = json});
}

/* ---- plots ---- */

void plot_add(struct plot *p, const struct pk_table *t)
{
    double wave = 2 * M_PI / t->from.length, volume = pow(t->from.length, 3);
    p->curve = mem_grow(p->curve, sizeof *p->curve * (size_t)(p->n + t->npair), "pk plot");
    p->cosmo = t->from.cosmo;
    for (int i = 0; i < t->npair; i++) {
        struct plot_curve *c = &p->curve[p->n++];
        *c = (struct plot_curve){.k = mem_new(sizeof(double) * (size_t)t->nbin, "pk plot"),
                                 .p = mem_new(sizeof(double) * (size_t)t->nbin, "pk plot")};
        if (t->from.cosmo)
            snprintf(c->label, sizeof c->label, "%s, z = %.3g", t->name[i], 1 / t->from.aexp - 1);
        else
            snprintf(c->label, sizeof c->label, "%s, t = %.4g", t->name[i], t->from.t);
        for (int b = 0; b < t->nbin; b++) {
            const struct pk_bin *q = &t->bin[(size_t)i * (size_t)t->nbin + (size_t)b];
            if (q->modes == 0 || !(q->p[0] > 0)) continue; /* a logarithm shows no others */
            c->shot = q->shot * volume;
            c->k[c->n] = q->k * wave;
            c->p[c->n++] = q->p[0] * volume;
        }
    }
}

enum err plot_save(const struct plot *p, const char *path, bool force)
{
    return save(path, force, &(struct content){.plot = p});
}

void plot_free(struct plot *p)
{
    for (int i = 0; i < p->n; i++) {
        FREE(p->curve[i].k);
        FREE(p->curve[i].p);
    }
    FREE(p->curve);
    p->n = 0;
}
