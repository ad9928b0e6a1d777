/* curamses/source: HDF5 checkpoints as sources: the table of functions, the state, and the
 * decomposition of the box. Conserved variables are passed on unchanged. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "curamses/read_sets.h"

enum { SMALL = 1 << 26 }; /* maximum elements of a table */

/* Takes the magnetic field of another code as the field of a state; the energy that was made from
 * its pressure lacks that of the field. */
static enum err take_magnetic(struct source *s)
{
    struct hdf5_in *h = hdf5_in_of(s);
    const int all = s->nhydro;
    int was[CKPT_FIELDS];
    if (!s->foreign || !source_take_fields(s, was)) return OK;
    char set[CKPT_FIELDS][sizeof *h->field_set];
    memcpy(set, h->field_set, sizeof set);
    for (int v = 0; v < all; v++) memcpy(h->field_set[v], set[was[v]], sizeof *set);
    h->lacks_field = true;
    return OK;
}

static enum err hdf5_state(struct source *s)
{
    TRY(take_magnetic(s));
    source_state_gas(s);
    s->values = s->fields;
    source_count_state(s);
    s->exact = !s->foreign;
    if (s->foreign) TRY(source_check_magnetic(s));
    if (s->head.nvar > NVAR_MAX)
        FAIL(ERR_LIMIT, "%s: has %d gas variables; %d to %d can be read", s->path, s->nhydro,
             GAS_SCALARS, NVAR_MAX);
    return OK;
}

/* ---- decomposition of the box ---- */

static enum err read_whole(struct source *s, const char *path, int64_t max, int64_t *n,
                           int64_t **out)
{
    void *p;
    TRY(hdf5_read_small(s, path, false, max, n, &p));
    *out = p;
    return OK;
}

static enum err read_real(struct source *s, const char *path, int64_t *n, double **out)
{
    void *p;
    TRY(hdf5_read_small(s, path, true, SMALL, n, &p));
    *out = p;
    return OK;
}

static enum err read_ksection(struct source *s, struct source_domains *d)
{
    int64_t n, m, nlo, nhi;
    TRY(read_whole(s, "domain/ksec_dir", 31, &d->nlev, &d->axis));
    TRY(read_whole(s, "domain/ksec_indx", SMALL, &d->nnode, &d->rank));
    TRY(read_whole(s, "domain/ksec_next", SMALL, &n, &d->next));
    TRY(read_real(s, "domain/ksec_wall", &m, &d->cut));
    d->kmax = d->nnode > 0 ? n / d->nnode : 0;
    if (d->nlev == 0 || d->kmax < 2 || m < d->nnode * (d->kmax - 1))
        FAIL(ERR_FORMAT, "%s: the tree of domains in /domain is incomplete: the file is damaged",
             s->path);
    TRY(read_real(s, "domain/bisec_cpubox_min", &nlo, &d->lo));
    TRY(read_real(s, "domain/bisec_cpubox_max", &nhi, &d->hi));
    if (nlo != 3 * (int64_t)s->nwriter || nhi != nlo) {
        FREE(d->lo);
        FREE(d->hi);
    }
    return OK;
}

static enum err hdf5_domains(struct source *s, struct source_domains *d)
{
    if (strcmp(s->ordering, "ksection") != 0)
        return read_real(s, "domain/bound_key", &d->nbound, &d->bound);
    return s->nwriter > 1 ? read_ksection(s, d) : OK;
}

/* Reads the number of octs of a level on each rank, a small dataset. */
static enum err read_counts(struct source *s, int l, struct source_rank *row)
{
    char path[64];
    int64_t n, sum = 0, *count;
    snprintf(path, sizeof path, "amr/level_%d/ngrid_per_cpu", l);
    TRY(read_whole(s, path, SMALL, &n, &count));
    for (int64_t i = 0; i < n && i < s->nwriter; i++) {
        if (count[i] < 0 || count[i] > s->numbtot[l] - sum) break;
        sum += row[i].octs[l] = count[i];
    }
    FREE(count);
    if (n != s->nwriter || sum != s->numbtot[l])
        FAIL(ERR_FORMAT, "%s: the values of /%s do not add up to %ld: the file is damaged", s->path,
             path, (long)s->numbtot[l]);
    return OK;
}

/* Divides the file size evenly among the ranks, since bytes of a shared file belong to no rank. */
static enum err hdf5_ranks(struct source *s, struct source_rank *row)
{
    char path[PATH_MAX];
    struct stat st;
    int64_t n, *count;
    for (int l = 1; l <= LEVEL_MAX; l++)
        if (s->numbtot[l]) TRY(read_counts(s, l, row));
    if (s->head.particles) {
        TRY(read_whole(s, "particles/npart_per_cpu", SMALL, &n, &count));
        for (int64_t i = 0; i < n && i < s->nwriter; i++) row[i].particles = count[i];
        FREE(count);
    }
    TRY(hdf5_file_path(s, FILES_HDF5, 0, path));
    bool exists = stat(path, &st) == 0;
    for (int i = 0; exists && i < s->nwriter; i++) row[i].bytes = st.st_size / s->nwriter;
    return OK;
}

const struct source_kind hdf5_kind = {.name = "HDF5",
                                      .is = hdf5_is,
                                      .open = hdf5_open,
                                      .close = hdf5_close_in,
                                      .octs = hdf5_read_octs,
                                      .parts = hdf5_read_parts,
                                      .state = hdf5_state,
                                      .text = hdf5_read_text,
                                      .file = hdf5_file_path,
                                      .domains = hdf5_domains,
                                      .ranks = hdf5_ranks};
