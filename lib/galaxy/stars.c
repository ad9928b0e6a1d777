/* galaxy/stars: the particles of &MERGER_PARAMS, which all become dark matter, those of discs of
 * stars too, as in RAMSES. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "galaxy/galaxy.h"
#include "io/ascii_part.h"

/* Rodrigues's formula, c and s being the cosine and the sine of the angle, k the axis:
 * k k^T + c (1 - k k^T) + s [k]x. */
void merger_rotation(const double axis[3], double matrix[3][3])
{
    const double s = sqrt(axis[0] * axis[0] + axis[1] * axis[1]), c = s > 0 ? axis[2] : 1;
    double k[3] = {1, 0, 0};
    if (s > 0) k[0] = -axis[1] / s, k[1] = axis[0] / s;
    const bool turned = s == 0 && axis[2] < 0; /* half a turn about x */
    const double cosine = turned ? -1 : c,
                 cross[3][3] = {{0, -k[2], k[1]}, {k[2], 0, -k[0]}, {-k[1], k[0], 0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double along = k[i] * k[j], one = i == j ? 1 : 0;
            matrix[i][j] = along + (one - along) * cosine + cross[i][j] * s;
        }
}

/* ---- files ---- */

/* Whether a galaxy has a file of particles: of a galaxy without gas only if it is named. */
static bool has_file(const struct params *par, int k)
{
    return k == 0 || par->merger.mgas_disk2 > 0 || param_given(par, "merger", "ic_part_file_gal2");
}

static void file_of(const struct params *par, int k, char path[600])
{
    snprintf(path, 600, "%.256s/%.256s", par->init.initfile[0],
             k == 0 ? par->merger.ic_part_file_gal1 : par->merger.ic_part_file_gal2);
}

enum err merger_count(const struct params *par, const struct comm *c, int64_t *n)
{
    *n = 0;
    for (int k = 0; k < 2; k++) {
        struct ascii_share s;
        char path[600];
        if (!has_file(par, k)) continue;
        file_of(par, k, path);
        TRY(err_agree(c, ascii_part_count(path, c->rank, c->size, &s)));
        comm_add_i64(c, &s.n, 1);
        *n += s.n;
    }
    return OK;
}

/* ---- placement ---- */

struct placement {
    const struct units *units;
    double matrix[3][3], center[3], v[3]; /* center: from that of the box */
    double half;                          /* boxlen/2 */
};

static void turn(const double matrix[3][3], const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = matrix[i][0] * in[0] + matrix[i][1] * in[1] + matrix[i][2] * in[2];
}

/* Turns, converts and moves particle `from` of the file, and keeps it at `to` if it is in the box.
 * Returns whether it is kept. */
static bool place(const struct placement *q, struct parts *p, int64_t from, int64_t to)
{
    double x[3], v[3], at[3], speed[3];
    for (int d = 0; d < 3; d++) {
        x[d] = p->x[d][from] * RAMSES_KPC_GALAXY / q->units->length;
        v[d] = p->v[d][from] * 1e5 / q->units->velocity;
    }
    turn(q->matrix, x, at);
    turn(q->matrix, v, speed);
    for (int d = 0; d < 3; d++)
        if (!(fabs(at[d] + q->center[d]) < q->half)) return false;
    for (int d = 0; d < 3; d++) {
        p->x[d][to] = at[d] + q->center[d] + q->half;
        p->v[d][to] = speed[d] + q->v[d];
    }
    p->m[to] = p->m[from] * 1e9 * RAMSES_MSUN / q->units->mass;
    p->id[to] = p->id[from];
    return true;
}

/* Appends the particles of a file. *lines: number of lines of the files before it, and of it. */
static enum err take_file(const char *path, const struct placement *q, const struct mesh *m,
                          const struct comm *c, int64_t *lines, struct parts *p)
{
    struct ascii_share s;
    TRY(err_agree(c, ascii_part_count(path, c->rank, c->size, &s)));
    const int64_t at = p->n, before = *lines + comm_scan_i64(c, s.n);
    int64_t all = s.n, kept = 0;
    double *x[3], *v[3];
    part_append_dm(p, s.n, m->levelmin);
    for (int d = 0; d < 3; d++) x[d] = p->x[d] + at, v[d] = p->v[d] + at;
    TRY(err_agree(c, ascii_part_read(path, &s, x, v, p->m + at)));
    for (int64_t i = 0; i < s.n; i++) {
        p->id[at + i] = before + i + 1;
        kept += place(q, p, at + i, at + kept);
    }
    p->n += kept;
    comm_add_i64(c, &all, 1);
    comm_add_i64(c, &kept, 1);
    *lines += all;
    if (kept < all)
        log_info(" %s: %ld of its %ld particles are outside of the box: they are left out", path,
                 (long)(all - kept), (long)all);
    return OK;
}

/* The centre of a galaxy that has particles only may be anywhere. */
static enum err placement_of(const struct params *par, int k, struct placement *q)
{
    const double *center = k == 0 ? par->merger.gal_center1 : par->merger.gal_center2,
                 *v = k == 0 ? par->merger.vgal1 : par->merger.vgal2;
    double axis[3];
    TRY(merger_axis(par, k, axis));
    for (int d = 0; d < 3; d++) {
        q->center[d] = center[d];
        q->v[d] = v[d] * 1e5 / q->units->velocity;
    }
    q->half = par->amr.boxlen / 2;
    merger_rotation(axis, q->matrix);
    return OK;
}

enum err merger_particles(const struct params *par, const struct units *u, const struct mesh *m,
                          const struct comm *c, struct parts *p)
{
    int64_t lines = 0;
    for (int k = 0; k < 2; k++) {
        struct placement q = {.units = u};
        char path[600];
        if (!has_file(par, k)) continue;
        TRY(placement_of(par, k, &q));
        file_of(par, k, path);
        TRY(take_file(path, &q, m, c, &lines, p));
    }
    return OK;
}
