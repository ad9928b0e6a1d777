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
#include "ics/field.h"
#include "ics/split.h"
#include "io/ascii_part.h"

static const char *const VEL[3] = {"ic_velcx", "ic_velcy", "ic_velcz"};
static const char *const POS[3] = {"ic_poscx", "ic_poscy", "ic_poscz"};

static enum err particles_local(const struct ics_grafic *g, const struct mesh *m, struct parts *p);
static enum err particles_level(const struct ics_grafic *g, const struct mesh *m, int l,
                                struct parts *p);
static enum err phase_space(const struct ics_grafic *g, const struct mesh *m,
                            const struct ics_layers *s, double (*val)[8], struct parts *p);
static enum err mass_and_id(const struct ics_grafic *g, const struct mesh *m,
                            const struct ics_layers *s, double (*val)[8], struct parts *p);
static enum err particle_ids(const struct ics_grafic *g, const struct mesh *m,
                             const struct ics_layers *s, int64_t *out);
static int64_t source_count(const struct mesh *m, const struct level *lv);
static void source_take(const struct mesh *m, const struct level *lv, double (*val)[8],
                        double *out);
static int64_t cell_rank(const struct ics_grafic *g, int l, okey key, int c);

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
    enum err err = OK;
    int64_t n = source_count(m, lv);
    double(*val)[8] = mem_new(sizeof *val * (size_t)lv->nown + 1, "ics values");
    TRY_OUT(ics_layers_new(g, m, l, &s));
    part_append_dm(p, n, m->levelmin);
    TRY_OUT(phase_space(g, m, &s, val, p));
    TRY_OUT(mass_and_id(g, m, &s, val, p));
    p->n += n;
out:
    ics_layers_free(&s);
    mem_free(val);
    return err;
}

/* Whether a cell becomes a particle: a leaf, or any cell of a level that the base mesh covers. */
static bool is_source(const struct mesh *m, const struct level *lv, lidx i, int c)
{
    return lv->level < m->levelmin || lv->child[i][c] < 0;
}

static void source_centers(const struct mesh *m, const struct level *lv, int d, double *out)
{
    double dx = ldexp(1, -lv->level);
    for (lidx i = 0; i < lv->nown; i++) {
        int64_t k[3];
        okey_coords(lv->key[i], k);
        for (int c = 0; c < 8; c++)
            if (is_source(m, lv, i, c)) *out++ = ((double)(2 * k[d] + (c >> d & 1)) + 0.5) * dx;
    }
}

static enum err phase_space(const struct ics_grafic *g, const struct mesh *m,
                            const struct ics_layers *s, double (*val)[8], struct parts *p)
{
    const struct ics_level *ic = s->ic;
    int64_t n = source_count(m, s->lv);
    double dx = ldexp(1, -s->lv->level), rate = cosmo_vfact(&g->par, g->par.aexp_ini);
    int files = 0;
    for (int d = 0; d < 3; d++) files += ics_exists(ic->dir, POS[d]);
    if (files != 0 && files != 3)
        FAIL(ERR_FILE,
             "%s: contains only %d of the files ic_poscx, ic_poscy, ic_poscz; give all three or "
             "none",
             ic->dir, files);
    for (int d = 0; d < 3; d++) {
        double *x = p->x[d] + p->n, *v = p->v[d] + p->n;
        TRY(ics_field_read(s, VEL[d], val));
        source_take(m, s->lv, val, v);
        /* velocity to displacement */
        for (int64_t i = 0; i < n; i++) v[i] = ic->growth * dx / ic->head.dx * v[i] / ic->vfact;
        if (files) {
            TRY(ics_field_read(s, POS[d], val));
            source_take(m, s->lv, val, x);
            for (int64_t i = 0; i < n; i++) x[i] = ic->growth * (x[i] / g->par.boxlen_ini);
        } else {
            memcpy(x, v, sizeof *x * (size_t)n);
        }
        double *center = mem_new(sizeof *center * (size_t)n + 1, "ics values");
        source_centers(m, s->lv, d, center);
        for (int64_t i = 0; i < n; i++) {
            x[i] = center[i] + x[i];
            x[i] = x[i] < 0 ? x[i] + 1 : x[i] >= 1 ? x[i] - 1 : x[i];
            v[i] = rate * v[i];
        }
        mem_free(center);
    }
    return OK;
}

static enum err mass_and_id(const struct ics_grafic *g, const struct mesh *m,
                            const struct ics_layers *s, double (*val)[8], struct parts *p)
{
    const struct level *lv = s->lv;
    int64_t n = source_count(m, lv), at = p->n;
    double cell = ldexp(1, -3 * lv->level), dark = 1 - g->par.omega_b / g->par.omega_m;
    bool given = ics_exists(s->ic->dir, "ic_massc");
    if (given) {
        TRY(ics_field_read(s, "ic_massc", val));
        source_take(m, lv, val, p->m + at);
    }
    for (int64_t i = at; i < at + n; i++) p->m[i] = cell * (given ? p->m[i] : dark);
    return particle_ids(g, m, s, p->id + at);
}

static enum err particle_ids(const struct ics_grafic *g, const struct mesh *m,
                             const struct ics_layers *s, int64_t *out)
{
    const struct level *lv = s->lv;
    enum err err = OK;
    int64_t(*id)[8] = NULL;
    if (ics_exists(s->ic->dir, "ic_particle_ids")) {
        id = mem_new(sizeof *id * (size_t)lv->nown + 1, "ics values");
        TRY_OUT(ics_ids_read(s, "ic_particle_ids", id));
    }
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++)
            if (is_source(m, lv, i, c))
                *out++ = id ? id[i][c] : cell_rank(g, lv->level, lv->key[i], c) + 1;
out:
    mem_free(id);
    return err;
}

static int64_t source_count(const struct mesh *m, const struct level *lv)
{
    int64_t n = 0;
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) n += is_source(m, lv, i, c);
    return n;
}

static void source_take(const struct mesh *m, const struct level *lv, double (*val)[8], double *out)
{
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++)
            if (is_source(m, lv, i, c)) *out++ = val[i][c];
}

/* Index of a cell among the cells of all files, from 0, in the order level, z, y, x. */
static int64_t cell_rank(const struct ics_grafic *g, int l, okey key, int c)
{
    int64_t before = 0, x[3];
    for (int k = g->levelmin; k < l; k++)
        before += (int64_t)g->lev[k].head.n[0] * g->lev[k].head.n[1] * g->lev[k].head.n[2];
    const struct ics_level *ic = &g->lev[l];
    okey_coords(key, x);
    for (int d = 0; d < 3; d++) x[d] = 2 * x[d] + (c >> d & 1) - ic->off[d];
    return before + (x[2] * ic->head.n[1] + x[1]) * ic->head.n[0] + x[0];
}
