/* pk/table: see table.h. Units: h/Mpc and (Mpc/h)³ for cosmological runs, otherwise code units.
 * Numbers have 17 digits: equal tables are bitwise equal. */
#include "pk/table.h"

#include <math.h>

#include "base/text.h"

static const char *const WINDOW[] = {"", "ngp", "cic", "tsc", "pcs"};

void pk_fundamental_bins(int n, double *edge)
{
    for (int i = 0; i < n / 2; i++) edge[i] = i + 0.5;
    edge[n / 2] = 0.5 * n * (1 + 1e-12);
}

void pk_table_tsv(FILE *out, const struct pk_table *t)
{
    const struct pk_origin *h = &t->from;
    double box = h->length, wave = 2 * M_PI / box, volume = box * box * box;
    const char *length = h->cosmo ? "Mpc/h" : "code units";
    fprintf(out, "# pk of %s\n", t->path);
    if (h->cosmo)
        fprintf(out, "# redshift %.6f, a = %.9f, box %.6g Mpc/h\n", 1 / h->aexp - 1, h->aexp, box);
    else
        fprintf(out, "# time %.9g, box %.6g, code units\n", h->t, box);
    fprintf(out, "# mesh %d^3, window %s%s, fold %d, %s; %lld particles, %lld cells\n", t->par->n,
            WINDOW[t->par->order], t->par->interlace ? " interlaced" : "", t->par->fold,
            t->axis < 0 ? "real space" : "redshift space", (long long)t->points,
            (long long)t->cells);
    fprintf(out,
            "# k: mean of the bin, 1/(%s); P, shot, sigma: (%s)^3; P includes the shot noise%s\n",
            length, length, t->axis < 0 ? "" : ", P2 and P4 do not");
    fprintf(out, "# spectrum\tk\tP\tshot\tsigma\tmodes%s\n", t->axis < 0 ? "" : "\tP2\tP4");
    for (int i = 0; i < t->npair; i++)
        for (int b = 0; b < t->nbin; b++) {
            const struct pk_bin *q = &t->bin[(size_t)i * (size_t)t->nbin + (size_t)b];
            if (q->modes == 0) continue;
            const double x[] = {q->k * wave, q->p[0] * volume, q->shot * volume, q->sigma * volume};
            fputs(t->name[i], out);
            for (size_t c = 0; c < sizeof x / sizeof *x; c++) {
                fputc('\t', out);
                put_number(out, 17, x[c]);
            }
            fprintf(out, "\t%lld", (long long)q->modes);
            for (int l = 1; l <= 2 && t->axis >= 0; l++) {
                fputc('\t', out);
                put_number(out, 17, q->p[l] * volume);
            }
            fputc('\n', out);
        }
}

static void column(FILE *out, const char *name, const struct pk_table *t, int pair,
                   double (*get)(const struct pk_bin *), double unit)
{
    const char *comma = "";
    fprintf(out, ",\"%s\":[", name);
    for (int b = 0; b < t->nbin; b++) {
        const struct pk_bin *q = &t->bin[(size_t)pair * (size_t)t->nbin + (size_t)b];
        if (q->modes == 0) continue;
        fputs(comma, out);
        json_real(out, get(q) * unit);
        comma = ",";
    }
    fputc(']', out);
}

static double get_k(const struct pk_bin *q)
{
    return q->k;
}

static double get_p(const struct pk_bin *q)
{
    return q->p[0];
}

static double get_p2(const struct pk_bin *q)
{
    return q->p[1];
}

static double get_p4(const struct pk_bin *q)
{
    return q->p[2];
}

static double get_shot(const struct pk_bin *q)
{
    return q->shot;
}

static double get_sigma(const struct pk_bin *q)
{
    return q->sigma;
}

static double get_modes(const struct pk_bin *q)
{
    return (double)q->modes;
}

void pk_table_json(FILE *out, const struct pk_table *t)
{
    const struct pk_origin *h = &t->from;
    double box = h->length, wave = 2 * M_PI / box, volume = box * box * box;
    fprintf(out, "{\"schema\":\"pk-1\",\"path\":");
    json_quote(out, t->path);
    if (h->cosmo)
        fprintf(out, ",\"redshift\":%.17g,\"aexp\":%.17g", 1 / h->aexp - 1, h->aexp);
    else
        fprintf(out, ",\"time\":%.17g", h->t);
    fprintf(out,
            ",\"box\":%.17g,\"length_unit\":\"%s\",\"mesh\":%d,\"window\":\"%s\",\"interlaced\":%s,"
            "\"fold\":%d",
            box, h->cosmo ? "Mpc/h" : "code", t->par->n, WINDOW[t->par->order],
            t->par->interlace ? "true" : "false", t->par->fold);
    fprintf(out, ",\"particles\":%lld,\"cells\":%lld,\"spectra\":[", (long long)t->points,
            (long long)t->cells);
    for (int i = 0; i < t->npair; i++) {
        fprintf(out, "%s{\"name\":\"%s\"", i ? "," : "", t->name[i]);
        column(out, "k", t, i, get_k, wave);
        column(out, "P", t, i, get_p, volume);
        column(out, "shot", t, i, get_shot, volume);
        column(out, "sigma", t, i, get_sigma, volume);
        column(out, "modes", t, i, get_modes, 1);
        if (t->axis >= 0) column(out, "P2", t, i, get_p2, volume);
        if (t->axis >= 0) column(out, "P4", t, i, get_p4, volume);
        fputc('}', out);
    }
    fputs("]}\n", out);
}
