/* ics/ics_part: dark matter from GRAFIC2 files or text files (symbols as in ics_grafic.c).
 *
 * Each leaf cell of the initial mesh is one particle of mass 2^-3l (1 - Ω_b/Ω_m), or each cell of
 * the files if the base mesh is finer. Its position is the cell's centre displaced by ψ = g
 * ic_posc/box (Mpc/h), or by Zel'dovich's ψ = g v / (F(astart) H0/astart) / box. Its velocity is
 * F(aexp) times Zel'dovich's ψ. In text files a particle has seven numbers in any dimension; those
 * along axes that the mesh lacks are ignored. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/pages.h"
#include "ics/field.h"
#include "ics/split.h"
#include "io/ascii_part.h"

static const char *const VEL[3] = {"ic_velcx", "ic_velcy", "ic_velcz"};
static const char *const POS[3] = {"ic_poscx", "ic_poscy", "ic_poscz"};

/* The cells of own octs of a level that become particles. */
struct sources {
    const struct ics_layers *s; /* lent */
    const struct mesh *m;       /* lent */
    int64_t n;
    int64_t *first; /* [nown] number of cells in the octs before */
    bool all;       /* all cells of all own octs become particles */
};

static enum err particles_local(const struct ics_grafic *g, const struct mesh *m, struct parts *p);
static enum err particles_level(const struct ics_grafic *g, const struct mesh *m, int l,
                                struct parts *p);
static enum err phase_space(const struct ics_grafic *g, const struct sources *from,
                            double (*val)[8], struct parts *p);
static enum err mass_and_id(const struct ics_grafic *g, const struct sources *from,
                            double (*val)[8], struct parts *p);
static enum err particle_ids(const struct ics_grafic *g, const struct sources *from, int64_t *out);
static void sources_find(const struct mesh *m, const struct ics_layers *s, struct sources *from);
static enum err sources_read(const struct sources *from, const char *name, double (*val)[8],
                             double *out);
static int64_t cells_before(const struct ics_grafic *g, int l);

enum err ics_grafic_particles(const struct ics_grafic *g, const struct mesh *m,
                              const struct comm *c, struct parts *p)
{
    BUG_ON(!g->cosmo);
    return err_agree(c, particles_local(g, m, p));
}

enum err ics_ascii_particles(const char *path, const struct mesh *m, const struct comm *c,
                             struct parts *p)
{
    struct ascii_share s;
    TRY(err_agree(c, ascii_part_count(path, c->rank, c->size, &s)));
    int64_t at = p->n, before = comm_scan_i64(c, s.n);
    s.ndim = m->ndim;
    s.boxlen = m->boxlen;
    for (int d = 0; d < 3; d++) s.periodic[d] = !m->bounded[2 * d] && !m->bounded[2 * d + 1];
    part_append_dm(p, s.n, m->levelmin);
    double *x[3], *v[3];
    for (int d = 0; d < 3; d++) {
        x[d] = p->x[d] + at;
        v[d] = p->v[d] + at;
    }
    TRY(err_agree(c, ascii_part_read(path, &s, x, v, p->m + at)));
    int64_t more = s.more;
    comm_max_i64(c, &more, 1);
    if (more) log_info(" %s: columns after the seventh are ignored", path);
    for (int64_t i = 0; i < s.n; i++) {
        p->id[at + i] = before + i + 1;
        for (int d = 0; d < m->ndim; d++) x[d][i] += m->boxlen / 2;
        for (int d = m->ndim; d < 3; d++) x[d][i] = v[d][i] = 0;
    }
    p->n += s.n;
    return OK;
}

static enum err particles_local(const struct ics_grafic *g, const struct mesh *m, struct parts *p)
{
    for (int l = g->levelmin; l <= g->levelmax; l++) {
        bool ids = ics_exists(g->lev[l].dir, "ic_particle_ids");
        if (l > g->levelmin && ids != ics_exists(g->lev[l - 1].dir, "ic_particle_ids"))
            FAIL(ERR_FILE,
                 "%s and %s: only one of them contains ic_particle_ids; give it on all levels or "
                 "on none",
                 g->lev[l].dir, g->lev[l - 1].dir);
    }
    if (g->levelmax >= m->levelmin && g->levelmax < m->levelmax && m->lev[g->levelmax + 1].nown > 0)
        FAIL(ERR_PARAM,
             "the mesh has level %d before particles are made, but initial conditions end with "
             "level %d (%s)",
             g->levelmax + 1, g->levelmax, g->lev[g->levelmax].dir);
    for (int l = g->levelmin; l <= g->levelmax; l++) TRY(particles_level(g, m, l, p));
    return OK;
}

static enum err particles_level(const struct ics_grafic *g, const struct mesh *m, int l,
                                struct parts *p)
{
    const struct level *lv = &m->lev[l];
    struct ics_layers s;
    struct sources from = {0};
    enum err err = OK;
    double(*val)[8] = mem_new(sizeof *val * (size_t)lv->nown + 1, "ics values");
    TRY_OUT(ics_layers_new(g, m, l, &s));
    sources_find(m, &s, &from);
    part_append_dm(p, from.n, m->levelmin);
    TRY_OUT(phase_space(g, &from, val, p));
    TRY_OUT(mass_and_id(g, &from, val, p));
    p->n += from.n;
out:
    ics_layers_free(&s);
    mem_free(from.first);
    mem_free(val);
    return err;
}

/* ---- cells that become particles ---- */

/* Whether a cell becomes a particle: a leaf, or any cell of a level that the base mesh covers. */
static bool is_source(const struct mesh *m, const struct level *lv, lidx i, int c)
{
    return lv->level < m->levelmin || lv->child[i][c] < 0;
}

static void sources_find(const struct mesh *m, const struct ics_layers *s, struct sources *from)
{
    const struct level *lv = s->lv;
    *from = (struct sources){.s = s, .m = m};
    from->first = mem_new(sizeof *from->first * (size_t)lv->nown + 1, "ics values");
    for (lidx i = 0; i < lv->nown; i++) {
        from->first[i] = from->n;
        for (int c = 0; c < 8; c++) from->n += is_source(m, lv, i, c);
    }
    from->all = from->n == 8 * (int64_t)lv->nown;
}

/* Reads the values of a file at these cells, with val as scratch where not all cells count. */
static enum err sources_read(const struct sources *from, const char *name, double (*val)[8],
                             double *out)
{
    const struct level *lv = from->s->lv;
    if (from->all) return ics_field_read(from->s, name, (double(*)[8])out);
    TRY(ics_field_read(from->s, name, val));
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        double *to = out + from->first[i];
        for (int c = 0; c < 8; c++)
            if (is_source(from->m, lv, i, c)) *to++ = val[i][c];
    }
    return OK;
}

/* ---- positions and velocities ---- */

/* Converts values of the files to a position and a velocity. */
struct motion {
    bool files; /* there are files of displacements */
    double scale, vfact, growth, boxlen, rate;
};

static void move(const struct motion *t, double center, double *x, double *v)
{
    const double psi = t->scale * *v / t->vfact,
                 to = center + (t->files ? t->growth * (*x / t->boxlen) : psi);
    *x = to < 0 ? to + 1 : to >= 1 ? to - 1 : to;
    *v = t->rate * psi;
}

/* Moves the particles of all octs along axis d. */
static void move_all(const struct sources *from, const struct motion *t, int d, double *x,
                     double *v)
{
    const struct level *lv = from->s->lv;
    const double dx = ldexp(1, -lv->level);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        int64_t k[3], at = from->first[i];
        double center[8];
        okey_coords(lv->key[i], k);
        for (int c = 0; c < 8; c++) center[c] = ((double)(2 * k[d] + (c >> d & 1)) + 0.5) * dx;
        for (int c = 0; c < 8 && from->all; c++) move(t, center[c], &x[at + c], &v[at + c]);
        for (int c = 0; c < 8 && !from->all; c++) {
            if (!is_source(from->m, lv, i, c)) continue;
            move(t, center[c], &x[at], &v[at]);
            at++;
        }
    }
}

/* Takes the pages of a new column from the system, many at a time. The column is filled in the
 * order of the files, and taking pages one by one as it fills takes almost twice as long. */
static void touch(void *column, int64_t n)
{
    enum { PART = 1 << 13 };
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i += PART)
        pages_touch((double *)column + i, sizeof(double) * (size_t)(n - i < PART ? n - i : PART));
}

static enum err phase_space(const struct ics_grafic *g, const struct sources *from,
                            double (*val)[8], struct parts *p)
{
    const struct ics_level *ic = from->s->ic;
    const double dx = ldexp(1, -from->s->lv->level);
    int files = 0;
    for (int d = 0; d < 3; d++) files += ics_exists(ic->dir, POS[d]);
    if (files != 0 && files != 3)
        FAIL(ERR_FILE,
             "%s: contains only %d of the files ic_poscx, ic_poscy, ic_poscz; give all three or "
             "none",
             ic->dir, files);
    const struct motion t = {.files = files > 0,
                             .scale = ic->growth * dx / ic->head.dx,
                             .vfact = ic->vfact,
                             .growth = ic->growth,
                             .boxlen = g->par.boxlen_ini,
                             .rate = cosmo_vfact(&g->par, g->par.aexp_ini)};
    for (int d = 0; d < 3; d++) {
        double *x = p->x[d] + p->n, *v = p->v[d] + p->n;
        touch(x, from->n);
        touch(v, from->n);
        TRY(sources_read(from, VEL[d], val, v));
        if (files) TRY(sources_read(from, POS[d], val, x));
        move_all(from, &t, d, x, v);
    }
    return OK;
}

/* ---- masses and ids ---- */

static enum err mass_and_id(const struct ics_grafic *g, const struct sources *from,
                            double (*val)[8], struct parts *p)
{
    double *m = p->m + p->n, cell = ldexp(1, -3 * from->s->lv->level),
           dark = 1 - g->par.omega_b / g->par.omega_m;
    const bool given = ics_exists(from->s->ic->dir, "ic_massc");
    touch(m, from->n);
    touch(p->id + p->n, from->n);
    if (given) TRY(sources_read(from, "ic_massc", val, m));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < from->n; i++) m[i] = cell * (given ? m[i] : dark);
    return particle_ids(g, from, p->id + p->n);
}

/* Ids of a file, or indices of cells among the cells of all files, from 1, in the order level, z,
 * y, x. */
static enum err particle_ids(const struct ics_grafic *g, const struct sources *from, int64_t *out)
{
    const struct level *lv = from->s->lv;
    const struct ics_level *ic = from->s->ic;
    const int64_t before = cells_before(g, lv->level);
    enum err err = OK;
    int64_t(*id)[8] = NULL;
    if (ics_exists(ic->dir, "ic_particle_ids")) {
        id = mem_new(sizeof *id * (size_t)lv->nown + 1, "ics values");
        TRY_OUT(ics_ids_read(from->s, "ic_particle_ids", id));
    }
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        int64_t *to = out + from->first[i], k[3], x[3];
        okey_coords(lv->key[i], k);
        for (int c = 0; c < 8; c++) {
            if (!from->all && !is_source(from->m, lv, i, c)) continue;
            for (int d = 0; d < 3; d++) x[d] = 2 * k[d] + (c >> d & 1) - ic->off[d];
            *to++ = id ? id[i][c]
                       : before + (x[2] * ic->head.n[1] + x[1]) * ic->head.n[0] + x[0] + 1;
        }
    }
out:
    mem_free(id);
    return err;
}

/* Number of cells in the files of coarser levels. */
static int64_t cells_before(const struct ics_grafic *g, int l)
{
    int64_t before = 0;
    for (int k = g->levelmin; k < l; k++)
        before += (int64_t)g->lev[k].head.n[0] * g->lev[k].head.n[1] * g->lev[k].head.n[2];
    return before;
}
