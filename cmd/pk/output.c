#include "output.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "ckpt/files.h"
#include "hdf5/table_h5.h"
#include "io/stream.h"
#include "plot/picture.h"

enum err output_table(const char *dir, int number, bool json, bool force, const struct pk_table *t,
                      char path[PATH_MAX])
{
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        FAIL(ERR_FILE, "%s: cannot create the directory: %s", dir, strerror(errno));
    TRY(files_path(dir, json ? FILES_PK_JSON : FILES_PK_TABLE, number, 0, path));
    TRY(temp_may_write(path, force));
    struct stream s;
    TRY(stream_open(&s, path));
    (json ? pk_table_json : pk_table_tsv)(s.f, t);
    return stream_close(&s, 0);
}

enum { H5_COLUMNS = 8 };

/* The columns of the table of text; returns their number. */
static int h5_columns(const struct pk_table *t, const double *row, const int64_t *whole,
                      struct table_h5_column *c)
{
    const bool cosmo = t->from.cosmo;
    const char *wave = cosmo ? "h/Mpc" : "code", *power = cosmo ? "(Mpc/h)^3" : "code";
    const struct table_h5_column all[H5_COLUMNS] = {
        {"spectrum", "", "number of the spectrum in the list of names", NULL, whole, 2},
        {"k", wave, "wave number, mean of the bin", row, NULL, 6},
        {"P", power, "power spectrum, with the shot noise", row + 1, NULL, 6},
        {"shot", power, "shot noise", row + 2, NULL, 6},
        {"sigma", power, "statistical error of P", row + 3, NULL, 6},
        {"modes", "", "modes of the bin", NULL, whole + 1, 2},
        {"P2", power, "quadrupole", row + 4, NULL, 6},
        {"P4", power, "hexadecapole", row + 5, NULL, 6}};
    memcpy(c, all, sizeof all);
    return t->axis < 0 ? H5_COLUMNS - 2 : H5_COLUMNS;
}

static int64_t h5_rows(const struct pk_table *t, double *row, int64_t *whole)
{
    const double wave = 2 * M_PI / t->from.length, volume = pow(t->from.length, 3);
    int64_t n = 0;
    for (int64_t i = 0; i < (int64_t)t->npair * t->nbin; i++) {
        const struct pk_bin *q = &t->bin[i];
        if (q->modes == 0) continue;
        const double x[6] = {q->k * wave,       q->p[0] * volume, q->shot * volume,
                             q->sigma * volume, q->p[1] * volume, q->p[2] * volume};
        memcpy(row + 6 * n, x, sizeof x);
        whole[2 * n] = i / t->nbin, whole[2 * n + 1] = (int64_t)q->modes;
        n++;
    }
    return n;
}

enum err output_h5(const char *path, bool force, const struct pk_table *t)
{
    const size_t most = (size_t)t->npair * (size_t)t->nbin;
    double *row = mem_new(6 * sizeof *row * most, "table");
    int64_t *whole = mem_new(2 * sizeof *whole * most, "table");
    struct table_h5_column column[H5_COLUMNS];
    char names[1024] = "";
    for (int i = 0, k = 0; i < t->npair && k < (int)sizeof names; i++)
        k += snprintf(names + k, sizeof names - (size_t)k, "%s%s", i ? "," : "", t->name[i]);
    const double when = t->from.cosmo ? 1 / t->from.aexp - 1 : t->from.t;
    const struct table_h5_note note[] = {
        {"source", t->path, 0, NULL, NULL},
        {"spectra", names, 0, NULL, NULL},
        {t->from.cosmo ? "redshift" : "time", NULL, 1, &when, NULL},
        {"box", NULL, 1, &t->from.length, NULL},
        {"length_unit", t->from.cosmo ? "Mpc/h" : "code", 0, NULL, NULL}};
    const struct table_h5 h5 = {.kind = "pk",
                                .n = h5_rows(t, row, whole),
                                .columns = h5_columns(t, row, whole, column),
                                .column = column,
                                .notes = sizeof note / sizeof *note,
                                .note = note};
    const enum err err = table_h5_write(path, &h5, force);
    FREE(row);
    FREE(whole);
    return err;
}

enum err output_plot(const struct spectra *p, const char *path, const char *data)
{
    struct picture q = {.draw = spectra_draw, .what = p};
    if (path) {
        q.format = picture_format_of(path);
        TRY(picture_save(path, &q));
    }
    return picture_save_numbers(data, "power spectra", &q);
}
