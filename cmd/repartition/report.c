/* repartition: report of the predicted load of each target rank. */
#include "repartition.h"

#include "base/text.h"

struct spread {
    double total, mean, min, max;
};

enum quantity { MEMORY, OCTS, PARTICLES };
static const char *const NAME[] = {"memory", "octs", "particles"};

static double amount(const struct reshape_load *r, enum quantity q)
{
    return q == MEMORY ? r->bytes : q == OCTS ? (double)r->octs : (double)r->parts;
}

static struct spread spread_of(const struct reshape_plan *p, int n, enum quantity q)
{
    struct spread s = {.total = amount(&p->total, q)};
    s.mean = n ? s.total / n : 0;
    for (int r = 0; r < n; r++) {
        double x = amount(&p->rank[r], q);
        if (r == 0 || x < s.min) s.min = x;
        if (x > s.max) s.max = x;
    }
    return s;
}

static const char *order_name(const struct options *o)
{
    return o->reshape.kind == DOMAIN_HILBERT ? "hilbert" : "ksection";
}

static void print_json(const struct options *o, const struct source *s,
                       const struct reshape_plan *p, const char *written, FILE *out)
{
    int n = p->domain ? o->reshape.nrank : 0;
    fprintf(out, "{\"input\":");
    json_quote(out, s->path);
    fprintf(out, ",\"output\":");
    if (written)
        json_quote(out, written);
    else
        fprintf(out, "null");
    fprintf(out, ",\"files\":%d,\"ranks\":%d,\"ordering\":\"%s\",\"exact\":%s", s->npiece, n,
            n ? order_name(o) : "morton", s->exact ? "true" : "false");
    for (int q = MEMORY; q <= PARTICLES; q++) {
        struct spread x = spread_of(p, n, (enum quantity)q);
        fprintf(out, ",\"%s\":{\"total\":%.17g", NAME[q], x.total);
        if (n) fprintf(out, ",\"mean\":%.17g,\"least\":%.17g,\"most\":%.17g", x.mean, x.min, x.max);
        for (int r = 0; r < n; r++)
            fprintf(out, "%s%.17g", r ? "," : ",\"rank\":[", amount(&p->rank[r], (enum quantity)q));
        fprintf(out, n ? "]}" : "}");
    }
    fprintf(out, "}\n");
}

static void print_text(const struct options *o, const struct source *s,
                       const struct reshape_plan *p, FILE *out)
{
    int n = o->reshape.nrank;
    fprintf(out, "%s: %s, %d file%s, step %d; for %d rank%s, %s\n", s->path, s->format, s->npiece,
            s->npiece > 1 ? "s" : "", s->head.nstep_coarse, n, n > 1 ? "s" : "", order_name(o));
    fprintf(out, "%-12s %14s %14s %14s %14s %9s\n", "", "total", "mean", "min", "max", "max/mean");
    for (int q = MEMORY; q <= PARTICLES; q++) {
        struct spread x = spread_of(p, n, (enum quantity)q);
        double unit = q == MEMORY ? 1 << 20 : 1;
        int digits = q == MEMORY ? 1 : 0;
        if (q == PARTICLES && !s->head.particles) continue;
        fprintf(out, "%-12s %14.*f %14.*f %14.*f %14.*f %9.3f\n",
                q == MEMORY ? "memory [MiB]" : NAME[q], digits, x.total / unit, digits,
                x.mean / unit, digits, x.min / unit, digits, x.max / unit,
                x.mean > 0 ? x.max / x.mean : 1);
    }
    for (int r = 0; r < n && o->verbose > 0; r++)
        fprintf(out, "rank %6d  %12.1f MiB %14ld octs %14ld particles\n", r + 1,
                p->rank[r].bytes / (1 << 20), (long)p->rank[r].octs, (long)p->rank[r].parts);
}

void report_print(const struct options *o, const struct source *s, const struct reshape_plan *p,
                  const char *written, FILE *out)
{
    if (o->json)
        print_json(o, s, p, written, out);
    else if (p->domain)
        print_text(o, s, p, out);
}
