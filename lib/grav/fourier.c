#include "grav/fourier.h"

#include <string.h>

#include "base/mem.h"
#include "fft/fft.h"

struct fourier {
    struct fft *fft;
    int level;
    lidx nown;
    okey *key;                  /* [nown] keys of the octs for which the plan was made */
    lidx *order;                /* [nown] own octs by rank of the pencil */
    struct comm_counts out, in; /* number of octs to and from each rank, this rank included */
    size_t *slot;               /* [received octs] index of the first cell of an oct in fft->r */
};

/* ---- plan ---- */

static bool still_valid(const struct fourier *f, const struct level *lv, const struct comm *c)
{
    int64_t stale = f->level != lv->level || f->nown != lv->nown ||
                    memcmp(f->key, lv->key, sizeof *f->key * (size_t)lv->nown) != 0;
    comm_max_i64(c, &stale, 1);
    return !stale;
}

void fourier_free(struct fourier **fp)
{
    struct fourier *f = *fp;
    if (!f) return;
    fft_free(&f->fft);
    FREE(f->key);
    FREE(f->order);
    comm_counts_free(&f->out);
    comm_counts_free(&f->in);
    FREE(f->slot);
    FREE(*fp);
}

/* Sorts own octs by rank, in Morton order for each rank; returns the keys (owner: caller). */
static okey *sort_octs(struct fourier *f, const struct level *lv)
{
    int *rank = mem_new(sizeof *rank * (size_t)lv->nown + 1, "fft exchange");
    int64_t *order = mem_new(sizeof *order * (size_t)lv->nown + 1, "fft exchange");
    okey *sorted = mem_new(sizeof *sorted * (size_t)lv->nown + 1, "fft exchange");
    for (lidx i = 0; i < lv->nown; i++) {
        int64_t x[3];
        okey_coords(lv->key[i], x);
        rank[i] = fft_rank(f->fft, (int)(2 * x[1]), (int)(2 * x[2]));
    }
    f->out = comm_counts_of(lv->nown, rank, order);
    for (lidx i = 0; i < lv->nown; i++) {
        f->order[i] = (lidx)order[i];
        sorted[i] = lv->key[order[i]];
    }
    FREE(order);
    FREE(rank);
    return sorted;
}

static struct fourier *plan_new(const struct level *lv, const struct comm *c, bool fixed)
{
    struct fourier *f = mem_zero(sizeof *f, "fft exchange");
    f->fft = fixed ? fft_new_fixed(c, 1 << lv->level) : fft_new(c, 1 << lv->level);
    f->level = lv->level;
    f->nown = lv->nown;
    f->key = mem_new(sizeof *f->key * (size_t)lv->nown + 1, "fft exchange");
    memcpy(f->key, lv->key, sizeof *f->key * (size_t)lv->nown);
    f->order = mem_new(sizeof *f->order * (size_t)lv->nown + 1, "fft exchange");
    okey *sorted = sort_octs(f, lv);
    int64_t n;
    okey *got = comm_exchange(c, sorted, &f->out, sizeof *sorted, &n, &f->in);
    f->slot = mem_new(sizeof *f->slot * (size_t)n + 1, "fft exchange");
    for (int64_t i = 0; i < n; i++) {
        int64_t x[3];
        okey_coords(got[i], x);
        size_t y = (size_t)(2 * x[1] - f->fft->first[1]), z = (size_t)(2 * x[2] - f->fft->first[2]);
        f->slot[i] = (z * (size_t)f->fft->count[1] + y) * f->fft->pitch + (size_t)(2 * x[0]);
    }
    FREE(got);
    FREE(sorted);
    return f;
}

/* ---- exchange ---- */

/* Exchanges rows of eight values with other ranks; buffers are packed by rank. */
static void swap_rows(const struct comm *c, const struct comm_counts *out,
                      const struct comm_counts *in, double (*mine)[8], double (*theirs)[8])
{
    struct comm_counts to, from;
    comm_counts_join(out, in, &to, &from);
    size_t room = (size_t)to.n;
    void **buf = mem_new(sizeof *buf * 2 * room + 1, "fft exchange");
    size_t *len = mem_new(sizeof *len * 2 * room + 1, "fft exchange");
    int n = 0;
    for (int i = 0; i < to.n; i++) {
        if (to.rank[i] == c->rank) continue;
        to.rank[n] = to.rank[i];
        buf[n] = mine, buf[room + (size_t)n] = theirs;
        len[n] = sizeof *mine * (size_t)to.count[i];
        len[room + (size_t)n] = sizeof *theirs * (size_t)from.count[i];
        mine += to.count[i], theirs += from.count[i];
        n++;
    }
    comm_wait(comm_post(c, n, to.rank, buf, len, buf + room, len + room));
    FREE(len);
    FREE(buf);
    comm_counts_free(&from);
    comm_counts_free(&to);
}

/* Range of this rank's own octs among octs packed by rank, and the number of all others. */
struct share {
    int64_t first, n, rest;
};

static struct share own_share(const struct comm *c, const struct comm_counts *k)
{
    struct share s = {0};
    for (int i = 0; i < k->n; i++) {
        if (k->rank[i] < c->rank) s.first += k->count[i];
        if (k->rank[i] == c->rank) s.n = k->count[i];
        if (k->rank[i] != c->rank) s.rest += k->count[i];
    }
    return s;
}

/* Index, in rank order, of row j of the other ranks' rows: j + (j < first ? 0 : n). */
static int64_t skip_own(const struct share *s, int64_t j)
{
    return j < s->first ? j : j + s->n;
}

static void put_oct(struct fft *f, size_t slot, const double v[8], double mean)
{
    double *r = f->r + slot;
    size_t y = f->pitch, z = f->pitch * (size_t)f->count[1];
    for (int k = 0; k < 8; k++) r[(k & 1) + (k & 2 ? y : 0) + (k & 4 ? z : 0)] = v[k] - mean;
}

static void get_oct(const struct fft *f, size_t slot, double v[8])
{
    const double *r = f->r + slot;
    size_t y = f->pitch, z = f->pitch * (size_t)f->count[1];
    for (int k = 0; k < 8; k++) v[k] = r[(k & 1) + (k & 2 ? y : 0) + (k & 4 ? z : 0)];
}

/* Copies the field of the level, minus its mean, to pencils. */
static void send_octs(struct fourier *f, const struct comm *c, double (*rho)[8], double mean)
{
    struct share to = own_share(c, &f->out), from = own_share(c, &f->in);
    double(*mine)[8] = mem_new(sizeof *mine * (size_t)to.rest + 1, "fft exchange");
    double(*theirs)[8] = mem_new(sizeof *theirs * (size_t)from.rest + 1, "fft exchange");
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < to.rest; j++)
        memcpy(mine[j], rho[f->order[skip_own(&to, j)]], sizeof mine[j]);
    swap_rows(c, &f->out, &f->in, mine, theirs);
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < to.n; j++)
        put_oct(f->fft, f->slot[from.first + j], rho[f->order[to.first + j]], mean);
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < from.rest; j++)
        put_oct(f->fft, f->slot[skip_own(&from, j)], theirs[j], mean);
    FREE(mine);
    FREE(theirs);
}

/* Copies pencils to the field of the level. */
static void return_octs(struct fourier *f, const struct comm *c, double (*phi)[8])
{
    struct share to = own_share(c, &f->out), from = own_share(c, &f->in);
    double(*mine)[8] = mem_new(sizeof *mine * (size_t)to.rest + 1, "fft exchange");
    double(*theirs)[8] = mem_new(sizeof *theirs * (size_t)from.rest + 1, "fft exchange");
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < from.rest; j++) get_oct(f->fft, f->slot[skip_own(&from, j)], theirs[j]);
    swap_rows(c, &f->in, &f->out, theirs, mine);
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < to.n; j++)
        get_oct(f->fft, f->slot[from.first + j], phi[f->order[to.first + j]]);
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < to.rest; j++)
        memcpy(phi[f->order[skip_own(&to, j)]], mine[j], sizeof mine[j]);
    FREE(mine);
    FREE(theirs);
}

/* Filter of the modes: the Green function, times scale. */
struct filter {
    int n;
    double scale;
    struct green_tables tables;
};

/* Rows by denominators alone, as the compiler makes vectors of them; bits as by green_at. */
static void green_plain(const struct filter *g, int kx, int ky, double complex *k)
{
    const double *restrict d = g->tables.denominator, across = d[kx] + d[ky];
    double *restrict at = (double *)k;
    for (int z = 0; z < g->n; z++) {
        const double total = across + d[z], green = g->scale / total;
        at[2 * z] *= green;
        at[2 * z + 1] *= green;
    }
}

static void green_row(const void *ctx, int kx, int ky, double complex *k)
{
    const struct filter *g = ctx;
    const struct green_tables *t = &g->tables;
    if ((kx || ky) && !t->factor && !t->part) {
        green_plain(g, kx, ky, k);
        return;
    }
    for (int z = 0; z < g->n; z++) k[z] *= green_at(t, g->n, kx, ky, z, g->scale);
}

void fourier_solve(struct fourier **fp, struct mesh *m, const struct comm *c, int l, double fourpi,
                   double rho_tot, const struct fourier_green *g)
{
    struct level *lv = &m->lev[l];
    if (*fp && !still_valid(*fp, lv, c)) fourier_free(fp);
    if (!*fp) *fp = plan_new(lv, c, g->fixed);
    struct fourier *f = *fp;
    struct fft *t = f->fft;
    struct filter filter = {.n = t->n, .scale = green_scale(t->n, fourpi)};
    filter.tables = green_tables(t->n, g);
    fft_begin(t);
    send_octs(f, c, lv->fld[FLD_RHO], rho_tot);
    fft_filter(t, green_row, &filter);
    return_octs(f, c, lv->fld[FLD_PHI]);
    fft_end(t);
    green_tables_free(&filter.tables);
}
