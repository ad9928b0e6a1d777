/* out/text: the text files of a checkpoint in RAMSES's format, with the columns that yt, pynbody
 * and osyris expect. The history of a run is in compilation.txt, which no reader and no digest
 * uses. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "io/file.h"
#include "out/out.h"

typedef void text_fn(FILE *t, const struct ckpt_out *o);

struct text_file {
    int fd;
    const char *path;
    int64_t at;
    struct checksum sum;
    enum err err;
};

/* Write function of the stdio stream: writes the buffer by file_write_at, which handles
 * interruptions, and adds it to the checksum. */
static ssize_t text_put(void *cookie, const char *p, size_t n)
{
    struct text_file *f = cookie;
    if (f->err == OK) f->err = file_write_at(f->fd, f->path, p, n, f->at);
    if (f->err != OK) return 0;
    checksum_add(&f->sum, p, n, f->at);
    f->at += (int64_t)n;
    return (ssize_t)n;
}

static enum err make_text(struct text_file *f, const struct ckpt_out *o, text_fn *make)
{
    FILE *t = fopencookie(f, "w", (cookie_io_functions_t){.write = text_put});
    if (!t) FAIL(ERR_LIMIT, "%s: %s", f->path, strerror(errno));
    make(t, o);
    bool bad = ferror(t);
    bad |= fclose(t) != 0;
    if (f->err == OK && bad) FAIL(ERR_FILE, "%s: cannot write: %s", f->path, strerror(errno));
    return f->err;
}

static enum err save(const struct ckpt_out *o, enum files_kind k, text_fn *make)
{
    char path[PATH_MAX];
    TRY(files_path(o->tmp, k, o->output, 1, path));
    struct text_file f = {.path = path};
    TRY(file_create(path, &f.fd));
    enum err err = make_text(&f, o, make);
    if (err == OK)
        err = sync_close(o->sync, f.fd, path);
    else
        close(f.fd);
    if (err == OK) manifest_add(o->list, path, f.at, checksum_end(&f.sum));
    FREE(f.sum.part);
    return err;
}

/* Prints a number in Fortran's format E23.15. */
void out_real(FILE *t, double x)
{
    char c[32], e[40];
    if (!isfinite(x)) {
        fprintf(t, "%23s", isnan(x) ? "NaN" : x > 0 ? "Infinity" : "-Infinity");
        return;
    }
    snprintf(c, sizeof c, "%.14e", fabs(x)); /* d.dddddddddddddde±xx */
    int exponent = x != 0 ? (int)strtol(c + 17, NULL, 10) + 1 : 0;
    snprintf(e, sizeof e, "%s0.%c%.14s%s%+0*d", signbit(x) ? "-" : "", c[0], c + 2,
             abs(exponent) < 100 ? "E" : "", abs(exponent) < 100 ? 3 : 4, exponent);
    fprintf(t, "%23s", e);
}

static void put_named(FILE *t, const char *name, double x)
{
    fprintf(t, "%-12s=", name);
    out_real(t, x);
    putc('\n', t);
}

/* Prints the keys of all ranks; without domains those of a single rank. */
static void put_bounds(FILE *t, const struct ckpt_out *o)
{
    const int ranks = o->d ? o->c->size : 1;
    fprintf(t, "\nordering type=%-80s\n   DOMAIN   ind_min                 ind_max\n", "hilbert");
    double *bound = mem_new(sizeof *bound * ((size_t)ranks + 1), "checkpoint");
    bound[0] = 0, bound[1] = ldexp(1, o->h->ndim * (o->nlevel + 1));
    if (o->d) domain_bound_keys(o->d, bound);
    for (int r = 0; r < ranks; r++) {
        fprintf(t, "%8d ", r + 1);
        out_real(t, bound[r]);
        putc(' ', t);
        out_real(t, bound[r + 1]);
        putc('\n', t);
    }
    FREE(bound);
}

/* Prints the low and high corners of the boxes of all ranks, one number per line, as cuRAMSES does.
 */
static void put_boxes(FILE *t, const struct ckpt_out *o)
{
    struct domain_tree tree;
    fprintf(t, "\nordering type=%-80s\n", "ksection");
    domain_tree(o->d, &tree);
    for (int r = 0; r < o->c->size; r++)
        for (int i = 0; i < 6; i++) {
            out_real(t, (i < 3 ? tree.low : tree.high)[i % 3 * o->c->size + r] * o->h->boxlen);
            putc('\n', t);
        }
    domain_tree_free(&tree);
}

void out_info(FILE *t, const struct ckpt_out *o)
{
    const struct ckpt_head *h = o->h;
    fprintf(t,
            "ncpu        =%11d\nndim        =%11d\nlevelmin    =%11d\nlevelmax    =%11d\nngridmax  "
            "  =%11ld\n"
            "nstep_coarse=%11d\n\n",
            o->d ? o->c->size : 1, h->ndim, h->levelmin, o->nlevel, (long)o->ngridmax,
            h->nstep_coarse);
    put_named(t, "boxlen", h->boxlen);
    put_named(t, "time", h->t);
    put_named(t, "aexp", h->aexp);
    put_named(t, "H0", h->h0);
    put_named(t, "omega_m", h->omega_m);
    put_named(t, "omega_l", h->omega_l);
    put_named(t, "omega_k", h->omega_k);
    put_named(t, "omega_b", h->omega_b);
    put_named(t, "unit_l", h->unit_l);
    put_named(t, "unit_d", h->unit_d);
    put_named(t, "unit_t", h->unit_t);
    (!o->d || domain_kind(o->d) == DOMAIN_HILBERT ? put_bounds : put_boxes)(t, o);
}

/* Prints the columns in the order of the files. */
static void put_columns(FILE *t, const struct ckpt_out *o)
{
    for (int c = 0; o->columns && c < o->columns->n; c++)
        if (out_has(o, c) && *part_column(o->columns, c)->word)
            fprintf(t, "%s ", part_column(o->columns, c)->word);
}

static void make_header(FILE *t, const struct ckpt_out *o)
{
    fprintf(t, "#      Family     Count\n");
    for (int k = 0; k < FAMILIES; k++)
        fprintf(t, "%13s%15ld\n", FAMILY_ROW[k].header, (long)o->family[k]);
    fprintf(t, " Particle fields\n");
    put_columns(t, o);
}

static void make_old_header(FILE *t, const struct ckpt_out *o)
{
    int64_t all = 0;
    for (int k = 0; k < FAMILIES; k++) all += o->family[k];
    fprintf(t, " Total number of particles\n%10ld\n Total number of dark matter particles\n%10ld\n",
            (long)all, (long)o->family[family_row(FAM_DM)]);
    fprintf(t, " Total number of star particles\n%10ld\n Total number of sink particles\n%10d\n",
            (long)o->family[family_row(FAM_STAR)], o->h->rest ? (int)o->h->rest->sinks.n : 0);
    fprintf(t, " Particle fields\n");
    put_columns(t, o);
    putc('\n', t);
}

static void put_field(FILE *t, int *n, const char *name, char type)
{
    fprintf(t, "%2d, %s, %c\n", ++*n, name, type);
}

static const char VERSION_LINES[] = "# version:  1\n# ivar, variable_name, variable_type\n";

/* The first variables have the names of RAMSES, whatever the source called them; behind the
 * variables come the fields of these files. */
static const struct gas_vars *names_of(const struct ckpt_out *o, struct gas_vars *store)
{
    const struct gas_vars *given = o->h->gas;
    gas_vars_init(store);
    while (store->n < o->h->nvar)
        gas_vars_add(store, given && store->n < given->n ? given->name[store->n] : NULL);
    for (int k = 0, n = fields_count(o->fields, FILE_HYDRO, 3); k < n; k++) {
        char name[FIELD_NAME];
        field_name(field_stored(o->fields, 0, k, 3), name);
        gas_vars_add(store, name);
    }
    return store;
}

/* The names in the order of RAMSES's files; NULL ends them. */
static const char **file_names(const struct ckpt_out *o, const struct gas_vars *g,
                               const char *names[GAS_VARS + 1])
{
    const int velocities = gas_velocities(o->h->ndim, o->h->magnetic),
              nvar = gas_count_in_file(velocities, o->h->nvar);
    const struct gas_order order = {nvar, velocities + 1, o->h->energy.n};
    int n = 0;
    for (int v = 0; v < g->n; v++)
        if (gas_in_file(velocities, v) >= 0)
            names[fields_column(o->fields, order, n++)] = g->name[v];
    names[n] = NULL;
    return names;
}

/* RAMSES's name of the conserved variable of a primitive one. */
static const char *conserved_name(const char *name, char buf[80])
{
    int number;
    if (strncmp(name, "velocity_", 9) == 0)
        snprintf(buf, 80, "momentum_%s", name + 9);
    else if (strcmp(name, "pressure") == 0)
        snprintf(buf, 80, "total_energy");
    else if (strncmp(name, "non_thermal_pressure_", 21) == 0)
        snprintf(buf, 80, "non_thermal_energy_%s", name + 21);
    else if (strcmp(name, "metallicity") == 0)
        snprintf(buf, 80, "metal_density");
    else if (sscanf(name, "scalar_%d", &number) == 1)
        snprintf(buf, 80, "scalar_density_%s", name + 7);
    else if (strcmp(name, "density") == 0 || field_beside_gas(name))
        return name;
    else
        snprintf(buf, 80, "%s_density", name);
    return buf;
}

static void make_hydro_fields(FILE *t, const struct ckpt_out *o)
{
    struct gas_vars store;
    const struct gas_vars *g = names_of(o, &store);
    int n = 0;
    const char *names[GAS_VARS + 1];
    fputs(VERSION_LINES, t);
    while (o->stored && n < o->nhydro) put_field(t, &n, o->stored[n].name, 'd');
    for (const char **name = file_names(o, g, names); !o->stored && *name; name++) {
        char buf[80];
        put_field(t, &n, o->h->conservative ? conserved_name(*name, buf) : *name, 'd');
    }
}

static void make_old_hydro_fields(FILE *t, const struct ckpt_out *o)
{
    struct gas_vars store;
    const struct gas_vars *g = names_of(o, &store);
    const char *names[GAS_VARS + 1];
    int nvar = o->stored ? o->nhydro : 0, scalars = 0;
    file_names(o, g, names);
    while (!o->stored && names[nvar]) nvar++;
    fprintf(t, "nvar        =%11d\n", nvar);
    for (int v = 0; v < nvar; v++) {
        const char *name = o->stored ? o->stored[v].name : names[v];
        bool scalar = false, pressure = !o->stored && name == g->name[GAS_PRESSURE];
        for (int k = GAS_SCALARS; !o->stored && k < o->h->nvar; k++) scalar |= name == g->name[k];
        if (scalar)
            fprintf(t, "variable #%2d: passive_scalar_%d\n", v + 1, ++scalars);
        else
            fprintf(t, "variable #%2d: %s%s\n", v + 1, pressure ? "thermal_" : "", name);
    }
}

static void make_part_fields(FILE *t, const struct ckpt_out *o)
{
    int n = 0;
    fputs(VERSION_LINES, t);
    for (int c = 0; c < o->columns->n; c++)
        if (out_has(o, c)) put_field(t, &n, part_column(o->columns, c)->name, out_type(o, c));
}

static void make_sinks(FILE *t, const struct ckpt_out *o)
{
    catalog_write_text(&o->h->rest->sinks, t, "msink");
}

static void make_stellar(FILE *t, const struct ckpt_out *o)
{
    catalog_write_text(&o->h->rest->stellar, t, "mstellar");
}

static void make_namelist(FILE *t, const struct ckpt_out *o)
{
    if (o->h->namelist) fputs(o->h->namelist, t);
}

static void make_compilation(FILE *t, const struct ckpt_out *o)
{
    fputs(o->h->provenance ? o->h->provenance : "", t);
}

static void make_makefile(FILE *t, const struct ckpt_out *o)
{
    fputs("not built by RAMSES: see compilation.txt\n", t);
}

static void make_patches(FILE *t, const struct ckpt_out *o)
{
    fputs("no patches\n \n", t);
}

/* Error for families that the old format cannot distinguish: birth time and sign of the id mark
 * stars and clouds; tracers have no mass. */
static enum err check_families(const struct ckpt_out *o)
{
    for (int k = 0; k < FAMILIES; k++) {
        int number = FAMILY_ROW[k].number;
        bool told = number >= FAM_GAS_TRACER && number <= FAM_CLOUD;
        if (!told && o->family[k])
            FAIL(ERR_LIMIT,
                 "%s: %ld particles belong to family %d, which RAMSES did not distinguish before "
                 "2017: leave out --legacy",
                 o->final, (long)o->family[k], number);
    }
    return OK;
}

/* Error for integer columns of 4 or 8 bytes, which the old format cannot distinguish from reals. */
static enum err check_columns(const struct ckpt_out *o)
{
    for (int c = COL_COUNT; o->columns && c < o->columns->n; c++)
        if (strchr("iq", part_column(o->columns, c)->type))
            FAIL(ERR_LIMIT,
                 "%s: particle column %s contains integers, which RAMSES did not "
                 "distinguish from reals before 2017: leave out --legacy",
                 o->final, part_column(o->columns, c)->name);
    return OK;
}

static enum err save_bytes(const struct ckpt_out *o, enum files_kind k, int rank, const char *p,
                           size_t n)
{
    char path[PATH_MAX];
    TRY(files_path(o->tmp, k, o->output, rank, path));
    TRY(sync_save(o->sync, path, p, n));
    manifest_add(o->list, path, (int64_t)n, checksum_of(p, n));
    return OK;
}

static enum err write_rest(const struct ckpt_out *o)
{
    const struct ckpt_rest *r = o->h->rest;
    if (*r->sinks.from) TRY(save(o, FILES_SINK_CSV, make_sinks));
    if (*r->stellar.from) TRY(save(o, FILES_STELLAR, make_stellar));
    return r->cooling ? save_bytes(o, FILES_COOLING, 1, r->cooling, r->cooling_bytes) : OK;
}

enum err out_run_texts(const struct ckpt_out *o)
{
    TRY(save(o, FILES_NAMELIST, make_namelist));
    return save(o, FILES_HISTORY, make_compilation);
}

enum err out_texts(const struct ckpt_out *o)
{
    bool old = o->h->legacy & CKPT_BEFORE_2017;
    if (old) TRY(check_families(o));
    if (old) TRY(check_columns(o));
    TRY(save(o, FILES_INFO, out_info));
    TRY(save(o, FILES_HEADER, old ? make_old_header : make_header));
    TRY(out_run_texts(o));
    TRY(save(o, FILES_MAKEFILE, make_makefile));
    TRY(save(o, FILES_PATCHES, make_patches));
    if (o->h->hydro) TRY(save(o, FILES_GAS_NAMES, old ? make_old_hydro_fields : make_hydro_fields));
    if (out_photons(o) > 0) TRY(save(o, FILES_RT_INFO, out_radiation_info));
    if (out_photons(o) > 0) TRY(save(o, FILES_RT_NAMES, out_radiation_names));
    if (o->h->particles && !old) TRY(save(o, FILES_PART_NAMES, make_part_fields));
    return o->h->rest ? write_rest(o) : OK;
}

enum err out_files(const struct ckpt_out *o)
{
    for (int i = 0; i < o->h->nfile; i++) {
        const struct ckpt_file *f = &o->h->file[i];
        TRY(save_bytes(o, f->kind, o->c->rank + 1, f->text, f->bytes));
    }
    return OK;
}
