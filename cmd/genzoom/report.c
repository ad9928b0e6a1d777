/* genzoom/report: see report.h.
 *
 * A particle of level l has a fraction 2^-3l (1 - Ω_b/Ω_m) of the mass of the box; mass_cut is the
 * geometric mean for the two finest levels. Memory is a rough estimate for job sizes: a level with
 * files has octs for the masked cells of the next coarser level, dilated as in refinement; each
 * further level has half as many octs as the level before. */
#include "report.h"
#include "base/cgs.h"

#include <math.h>

#include "base/text.h"

struct estimate {
    /* octs by level; their sum; particles; bytes of all ranks */
    double octs[LEVEL_MAX + 2], total, particles, bytes;
};

static double particle_mass(const struct report *r, int l)
{
    return ldexp(1 - r->omega_b / r->s->g.par.omega_m, -3 * l);
}

/* Converts a mass in units of the mass of the box to Msun/h. */
static double solar(const struct report *r, double mass)
{
    double box = r->s->g.par.boxlen_ini;
    return mass * RHO_CRIT_MSUN_MPC * r->s->g.par.omega_m * box * box * box;
}

/* Number of the refinement variable, as in RAMSES; 0: a map instead of a variable. */
static int variable(const struct report *r)
{
    return r->number ? 5 + r->number : 0;
}

/* Between the dark matter particles of the finest level and those of the next coarser one, in units
 * of the mass of the box; -1 if all weigh the same. */
static double mass_cut(const struct report *r)
{
    int l = r->s->g.levelmax;
    return l == r->s->g.levelmin ? -1 : sqrt(particle_mass(r, l) * particle_mass(r, l - 1));
}

/* Octs in a region of n cells of the next coarser level, extended by `cells` on each side. */
static double grown(double n, double cells)
{
    double side = cbrt(n) + 2 * cells;
    return side * side * side;
}

static struct estimate estimate_of(const struct report *r)
{
    const struct zoom_set *s = r->s;
    struct estimate e = {.total = 0};
    int nvar = 5 + r->number;
    for (int l = s->g.levelmax; l > s->g.levelmin; l--) {
        double cells = fmin((double)r->mask[l - 1].cells, ldexp(1, 3 * (l - 1))),
               parents = e.octs[l + 1] / 8;
        if (l - 1 > s->g.levelmin) /* levelmin+1 and finer levels exist only where the mask is */
            cells = fmin(cells, 8 * grown((double)r->mask[l - 2].cells, 1));
        e.octs[l] = fmin(fmax(grown(cells, 1), l < s->g.levelmax ? grown(parents, 2) : 0),
                         ldexp(1, 3 * (l - 1)));
    }
    for (int l = 1; l <= s->g.levelmin; l++) e.octs[l] = ldexp(1, 3 * (l - 1));
    double fine = 8 * e.octs[s->g.levelmax];
    for (int l = s->g.levelmax + 1; l <= r->levelmax; l++)
        e.octs[l] = fine / 8 * pow(0.5, l - s->g.levelmax);
    for (int l = 1; l <= r->levelmax; l++) e.total += e.octs[l];
    for (int l = s->g.levelmin; l <= s->g.levelmax; l++)
        e.particles += 8 * e.octs[l] - e.octs[l + 1] * (l < s->g.levelmax);
    double own = e.total / r->ranks, ghosts = grown(own, 2) - own;
    /* bytes: fields twice during load balance, and links; particles with sorting */
    const double oct = (2 * nvar + 8) * 64 + 160, part = 74 + 40;
    e.bytes = r->ranks *
              ((own + fmin(ghosts, 7 * own)) * oct + e.particles / r->ranks * part + 32e6);
    return e;
}

/* ---- namelist ---- */

static void levels_as_comments(FILE *out, const struct report *r, const struct estimate *e)
{
    const struct ics_grafic *g = &r->s->g;
    fprintf(out,
            "! level   cells of the files      offset               mask    particle [Msun/h]\n");
    for (int l = g->levelmin; l <= g->levelmax; l++) {
        const struct ics_level *ic = &g->lev[l];
        fprintf(out, "! %5d %6d %5d %5d %7lld %5lld %5lld %14lld %14.4g\n", l, ic->head.n[0],
                ic->head.n[1], ic->head.n[2], (long long)ic->off[0], (long long)ic->off[1],
                (long long)ic->off[2], (long long)r->mask[l].cells, solar(r, particle_mass(r, l)));
    }
    fprintf(out,
            "! to levelmax=%d on %d rank%s: about %.2g octs, %.2g particles, %.2g GiB in all\n",
            r->levelmax, r->ranks, r->ranks == 1 ? "" : "s", e->total, e->particles,
            e->bytes / 1073741824);
    if (r->number > 0)
        fprintf(out, "! %s is variable %d: RAMSES needs NVAR >= %d, simulate needs no setting\n",
                r->name, variable(r), variable(r));
}

/* Prints a namelist string; quotes in it are doubled. */
static void quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

/* Prints nexpand by level from levelmin; the last entry is for levels without files. */
static void list_nexpand(FILE *out, const struct report *r)
{
    const struct ics_grafic *g = &r->s->g;
    for (int l = g->levelmin; l < g->levelmax; l++) fprintf(out, "%d,", r->nexpand[l]);
    fprintf(out, "1");
}

void report_namelist(FILE *out, const struct report *r)
{
    const struct ics_grafic *g = &r->s->g;
    struct estimate e = estimate_of(r);
    fprintf(out, "! zoom mask from %s, %s %s\n", r->region, r->name,
            r->written ? "written" : "not written");
    if (r->trace->ids)
        fprintf(out, "! %lld particles within %g of %.6f, %.6f, %.6f\n", (long long)r->trace->ids,
                r->trace->radius, r->trace->center[0], r->trace->center[1], r->trace->center[2]);
    levels_as_comments(out, r, &e);
    fprintf(out, "&AMR_PARAMS\nlevelmin=%d\nlevelmax=%d\nnexpand=", g->levelmin, r->levelmax);
    list_nexpand(out, r);
    fprintf(out, "\n/\n");
    fprintf(out, "&INIT_PARAMS\nfiletype='grafic'\n");
    for (int l = g->levelmin; l <= g->levelmax; l++) {
        fprintf(out, "initfile(%d)=", l - g->levelmin + 1);
        quoted(out, g->lev[l].dir);
        fputc('\n', out);
    }
    if (r->omega_b > 0) fprintf(out, "omega_b=%.9g\n", r->omega_b);
    fprintf(out, "/\n&REFINE_PARAMS\n");
    if (r->levelmax > g->levelmin) fprintf(out, "m_refine=%d*8.\n", r->levelmax - g->levelmin);
    fprintf(out, "ivar_refine=%d\nvar_cut_refine=0.01\nmass_cut_refine=%.9g\n/\n", variable(r),
            mass_cut(r));
}

/* ---- JSON ---- */

static void json_level(FILE *out, const struct report *r, int l)
{
    const struct ics_level *ic = &r->s->g.lev[l];
    const struct mask_level *m = &r->mask[l];
    fprintf(out, "{\"level\": %d, \"directory\": ", l);
    json_quote(out, ic->dir);
    fprintf(out, ", \"cells\": [%d, %d, %d], \"offset\": [%lld, %lld, %lld], \"mask\": %lld, ",
            ic->head.n[0], ic->head.n[1], ic->head.n[2], (long long)ic->off[0],
            (long long)ic->off[1], (long long)ic->off[2], (long long)m->cells);
    if (m->cells)
        fprintf(out, "\"mask_first\": [%lld, %lld, %lld], \"mask_last\": [%lld, %lld, %lld], ",
                (long long)m->lo[0], (long long)m->lo[1], (long long)m->lo[2], (long long)m->hi[0],
                (long long)m->hi[1], (long long)m->hi[2]);
    if (m->margin >= 0) fprintf(out, "\"margin\": %lld, ", (long long)m->margin);
    fprintf(out, "\"particle_mass\": %.9g, \"particle_mass_msun_h\": %.6g}", particle_mass(r, l),
            solar(r, particle_mass(r, l)));
}

static bool big_endian(const struct report *r)
{
    return r->s->lev[r->s->g.levelmin].swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

void report_json(FILE *out, const struct report *r)
{
    const struct ics_grafic *g = &r->s->g;
    struct estimate e = estimate_of(r);
    fprintf(out, "{\"file\": \"%s\", \"written\": %s, \"region\": ", r->name,
            r->written ? "true" : "false");
    json_quote(out, r->region);
    const double *c = r->trace->center;
    if (r->trace->ids)
        fprintf(out, ", \"traced\": %lld, \"center\": [%.9f, %.9f, %.9f], \"radius\": %.9g",
                (long long)r->trace->ids, c[0], c[1], c[2], r->trace->radius);
    fprintf(out, ", \"byte_order\": \"%s\", \"box_mpc_h\": %.7g, \"levels\": [",
            big_endian(r) ? "big" : "little", g->par.boxlen_ini);
    for (int l = g->levelmin; l <= g->levelmax; l++) {
        if (l > g->levelmin) fputs(", ", out);
        json_level(out, r, l);
    }
    fprintf(out,
            "], \"namelist\": {\"levelmin\": %d, \"levelmax\": %d, \"omega_b\": %.9g, "
            "\"m_refine\": \"%d*8.\", \"nexpand\": [",
            g->levelmin, r->levelmax, r->omega_b, r->levelmax - g->levelmin);
    list_nexpand(out, r);
    fprintf(out, "], ");
    fprintf(out, "\"ivar_refine\": %d, \"var_cut_refine\": 0.01, \"mass_cut_refine\": %.9g}, ",
            variable(r), mass_cut(r));
    fprintf(
        out,
        "\"estimate\": {\"ranks\": %d, \"octs\": %.4g, \"particles\": %.4g, \"bytes\": %.4g}}\n",
        r->ranks, e.total, e.particles, e.bytes);
}
