/* inspect: --clumps, the clump finder of a run on its checkpoint, on any number of ranks.
 *
 * The checkpoint is loaded as by a run that resumes from it, without what only a run needs; its
 * namelist, if it has one, gives &CLUMPFIND_PARAMS and &UNBINDING_PARAMS, and --set changes them.
 * The clumps are therefore identical to those of the run. Rows of other ranks are sent to rank 0,
 * one rank after the other. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/formats.h"
#include "inspect.h"
#include "sim/sim.h"
#include "view/unit.h"

/* ---- the run ---- */

static enum err read_namelist(struct source *r, struct params *p)
{
    char *text = NULL;
    size_t bytes;
    int left_out;
    param_init(p);
    TRY(source_text(r, FILES_NAMELIST, &text, &bytes));
    if (text && param_read_loose(p, text, bytes, "namelist", &left_out) != OK) param_init(p);
    mem_free(text);
    return OK;
}

/* Sets the parameters that the header contains, and switches off physics that clumps do not
 * need. */
static void adjust(const struct ckpt_head *h, struct params *p)
{
    p->run.hydro = h->hydro;
    p->run.pic = h->particles;
    p->run.cosmo = h->cosmo;
    p->run.poisson = h->gravity;
    p->run.nrestart = -1;
    p->run.nstepmax = 1 << 30;
    p->run.use_neutrino = false;
    p->run.clumpfind = true;
    p->run.dump_pk = false;
    p->run.static_ = false;
    p->amr.levelmin = h->levelmin;
    p->amr.levelmax = h->levelmax;
    p->amr.boxlen = h->boxlen;
    if (h->hydro) p->hydro.npassive = h->nvar - PARAM_GAS;
    if (h->gamma > 1) p->hydro.gamma = h->gamma;
    if (h->boundary.n && !p->boundary.nboundary) boundary_to_params(&h->boundary, p);
    p->physics.cooling = false;
    p->output.noutput = 0;
    p->output.tend = p->output.aend = p->output.delta_tout = p->output.delta_aout = 0;
}

/* Applies one --set, which may change parameters of the clump finder only. */
static enum err set_one(struct params *p, const char *text)
{
    struct params *new = mem_new(2 * sizeof *new, "parameters"), *old = new + 1;
    *new = *old = *p;
    enum err err = param_set(new, text);
    old->clumpfind = new->clumpfind;
    old->unbinding = new->unbinding;
    old->run.unbind = new->run.unbind;
    if (err == OK && memcmp(old, new, offsetof(struct params, given)) != 0)
        err = err_set(ERR_PARAM,
                      "--set %s: only parameters of &CLUMPFIND_PARAMS and &UNBINDING_PARAMS, and "
                      "unbind, can be set",
                      text);
    if (err == OK) *p = *new;
    mem_free(new);
    return err;
}

/* Trees need the members of clumps, as a run that makes them. */
static enum err want_members(const char *path, struct params *p)
{
    if (!p->run.pic)
        FAIL(ERR_PARAM, "%s: has no particles, by which clumps could be followed", path);
    p->run.make_mergertree = p->run.unbind = true;
    return OK;
}

static enum err make_params(const char *path, const struct options *o, struct params *p)
{
    struct source *r = NULL;
    enum err err = source_open(path, &r);
    if (err == OK) err = source_in_space(r, "clumps");
    if (err == OK) err = read_namelist(r, p);
    if (err == OK) adjust(&r->head, p);
    for (int i = 0; i < o->nset && err == OK; i++) err = set_one(p, o->set[i]);
    if (err == OK && o->mode == TREES) err = want_members(path, p);
    if (err == OK) p->run.unbind = p->run.unbind && p->run.pic;
    if (err == OK && !p->run.hydro && !param_given(p, "clumpfind", "ivar_clump"))
        p->clumpfind.ivar_clump = 0;
    if (err == OK) err = param_check_clumps(p);
    source_close(&r);
    return err;
}

static void announce_nothing(const char *path)
{
}

static enum err load(const char *path, struct params *p, const struct comm *c, struct sim *s)
{
    int verbosity = log_verbosity();
    s->run.out.dir = ".";
    s->run.out.announce = announce_nothing;
    s->run.out.namelist_text = s->run.out.provenance = "";
    s->run.out.force = true;
    s->run.restart.path = path;
    s->run.restart.change_model = true;
    log_init(c->rank == 0, -1);
    enum err err = sim_start(s, p, c);
    log_init(c->rank == 0, verbosity);
    return err;
}

/* ---- output ---- */

/* Factors from code units to printed units; 1 without -u. */
struct scale {
    double density, length, volume, mass, velocity;
};

static struct scale scale_of(const struct sim *s, bool physical)
{
    struct units u = sim_units(s);
    double kpc = u.length / CGS_KPC;
    if (!physical) return (struct scale){1, 1, 1, 1, 1};
    return (struct scale){u.density, kpc, kpc * kpc * kpc, u.mass / CGS_MSUN, u.velocity / CGS_KM};
}

static void scale_clump(struct clump *c, const struct scale *s)
{
    c->min *= s->density, c->max *= s->density, c->saddle *= s->density;
    c->volume *= s->volume;
    c->mass *= s->mass, c->halo_mass *= s->mass;
    c->part_mass *= s->mass, c->bound_mass *= s->mass;
    for (int d = 0; d < 3; d++) {
        c->x[d] *= s->length, c->com[d] *= s->length;
        c->v[d] *= s->velocity, c->part_v[d] *= s->velocity;
    }
}

static void text_head(const struct clumps *k, const struct sim *s, const char *path, bool physical)
{
    const struct param_clumpfind *p = &s->par->clumpfind;
    struct units u = sim_units(s);
    printf("# ptah clumps 1\n# source\t%s\n", path);
    printf("# t\t%.9g\n# aexp\t%.9g\n", s->time.t, s->time.aexp);
    printf("# ivar_clump\t%d\n# density_threshold\t%.9g\n# relevance_threshold\t%.9g\n"
           "# saddle_threshold\t%.9g\n# mass_threshold\t%.9g\n",
           p->ivar_clump, p->density_threshold, p->relevance_threshold, p->saddle_threshold,
           p->mass_threshold);
    printf("# unit_l\t%.9g cm\n# unit_d\t%.9g g/cm^3\n# unit_t\t%.9g s\n# unit_m\t%.9g Msun\n",
           u.length, u.density, u.time, u.mass / CGS_MSUN);
    printf("# cells\t%ld\n# peaks\t%ld\n# relevant\t%ld\n# halos\t%ld\n# mass\t%.9g\n",
           (long)k->cells, (long)k->peaks, (long)k->relevant, (long)k->halos, k->mass);
    if (s->par->run.unbind)
        printf("# unbound\t%ld\n# candidates\t%ld\n", (long)k->unbound, (long)k->candidates);
    printf("# %s; saddle: of the highest one to another clump, 0: none; com, v: of the "
           "cells (v of the gas)\n"
           "#index\thalo\tlevel\tparent\tlisted\tmain\tncell\tncell_halo\tpeak_x\tpeak_y\tpeak_z\t"
           "rho_min\trho_max\tsaddle\trelevance\tvolume\tmass\tmass_halo\tcom_x\tcom_y\tcom_z\t"
           "v_x\tv_y\tv_z%s\n",
           physical ? "rows in g/cm^3, kpc, kpc^3, Msun, km/s" : "code units",
           s->par->run.unbind ? "\tmass_parts\tvp_x\tvp_y\tvp_z\tmass_bound\tnbound" : "");
}

static void put_row(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        printf("\t");
        put_number(stdout, 15, x[i]);
    }
}

static void text_row(const struct clump *c, bool unbound)
{
    printf("%ld\t%ld\t%d\t%ld\t%d\t%d\t%ld\t%ld", (long)c->index, (long)c->halo, c->level,
           (long)c->parent, c->listed, c->is_halo, (long)c->ncell, (long)c->ncell_halo);
    const double x[] = {c->x[0],      c->x[1],   c->x[2], c->min,       c->max,    c->saddle,
                        c->relevance, c->volume, c->mass, c->halo_mass, c->com[0], c->com[1],
                        c->com[2],    c->v[0],   c->v[1], c->v[2]};
    put_row(x, sizeof x / sizeof *x);
    const double y[] = {c->part_mass, c->part_v[0], c->part_v[1], c->part_v[2], c->bound_mass};
    if (unbound) put_row(y, sizeof y / sizeof *y);
    if (unbound) printf("\t%ld", (long)c->nbound);
    printf("\n");
}

static void json_head(const struct clumps *k, const struct sim *s, const char *path, bool physical)
{
    struct units u = sim_units(s);
    json_begin("clumps", path);
    json_number("t", s->time.t);
    json_number("aexp", s->time.aexp);
    json_count("ivar_clump", s->par->clumpfind.ivar_clump);
    json_number("density_threshold", s->par->clumpfind.density_threshold);
    json_number("relevance_threshold", s->par->clumpfind.relevance_threshold);
    json_number("saddle_threshold", s->par->clumpfind.saddle_threshold);
    json_number("mass_threshold", s->par->clumpfind.mass_threshold);
    json_number("unit_l", u.length);
    json_number("unit_d", u.density);
    json_number("unit_t", u.time);
    json_number("solar_masses", u.mass / CGS_MSUN);
    json_count("cells", k->cells);
    json_count("peaks", k->peaks);
    json_count("relevant", k->relevant);
    json_count("halos", k->halos);
    json_number("mass", k->mass);
    json_count("unbound", k->unbound);
    json_count("candidates", k->candidates);
    json_bool("physical", physical);
    printf(",\"clumps\":[");
}

static void json_vector(const char *name, const double x[3])
{
    printf(",\"%s\":[", name);
    for (int d = 0; d < 3; d++) {
        if (d) printf(",");
        json_value(x[d]);
    }
    printf("]");
}

static void json_row(const struct clump *c, bool unbound, bool first)
{
    printf("%s{\"index\":%ld", first ? "" : ",", (long)c->index);
    json_count("halo", c->halo);
    json_count("level", c->level);
    json_count("parent", c->parent);
    json_bool("listed", c->listed);
    json_bool("main", c->is_halo);
    json_count("ncell", c->ncell);
    json_count("ncell_halo", c->ncell_halo);
    json_vector("peak", c->x);
    json_number("rho_min", c->min);
    json_number("rho_max", c->max);
    json_number("saddle", c->saddle);
    json_number("relevance", c->relevance);
    json_number("volume", c->volume);
    json_number("mass", c->mass);
    json_number("mass_halo", c->halo_mass);
    json_vector("com", c->com);
    json_vector("v", c->v);
    if (unbound) {
        json_number("mass_parts", c->part_mass);
        json_vector("v_parts", c->part_v);
        json_number("mass_bound", c->bound_mass);
        json_count("nbound", c->nbound);
    }
    printf("}");
}

/* Prints rows on rank 0, one rank after the other. (collective) */
static void print_rows(const struct clumps *k, const struct sim *s, bool json, bool physical)
{
    struct scale scale = scale_of(s, physical);
    bool first = true;
    for (int r = 0; r < s->comm.size; r++) {
        int64_t mine = s->comm.rank == r ? k->n : 0, n;
        struct clump *row = comm_exchange_root(&s->comm, k->at, mine, sizeof *row, &n);
        for (int64_t i = 0; i < n; i++, first = false) {
            scale_clump(&row[i], &scale);
            if (json)
                json_row(&row[i], s->par->run.unbind, first);
            else
                text_row(&row[i], s->par->run.unbind);
        }
        mem_free(row);
    }
}

static void print_all(const struct clumps *k, const struct sim *s, const char *path, bool json,
                      bool physical)
{
    bool root = s->comm.rank == 0;
    if (root) (json ? json_head : text_head)(k, s, path, physical);
    print_rows(k, s, json, physical);
    if (!root || !json) return;
    printf("]");
    json_end();
}

enum err clumps_load(const char *path, const struct options *o, struct params *p, struct sim *s,
                     struct clumps *k)
{
    TRY(err_agree(&o->c, make_params(path, o, p)));
    TRY(load(path, p, &o->c, s));
    return sim_clumps(s, k);
}

enum err clumps_print(const char *path, const struct options *o, int *status)
{
    struct params *p = mem_zero(sizeof *p, "parameters");
    struct sim *s = mem_zero(sizeof *s, "clumps");
    struct clumps k = {.at = NULL};
    enum err err = clumps_load(path, o, p, s, &k);
    if (err == OK) print_all(&k, s, path, o->json, o->physical);
    clumps_free(&k);
    sim_fini(s);
    mem_free(s);
    mem_free(p);
    return err;
}
