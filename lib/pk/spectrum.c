/* pk/spectrum: binned spectra of the masses on the meshes. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "pk/pk_priv.h"
#include "pk/window.h"

/* Weighted sum of meshes in Fourier space: Σ share k. */
struct field {
    unsigned set;
    double mass;
    bool sampled; /* samples: no window */
    int n;
    const double complex *k[PK_MESHES]; /* transforms of the meshes (lent by struct pk) */
    double share[PK_MESHES];            /* fractions of the total mass */
};

struct tables {
    double *w, *all, *alternating; /* [n] window functions, see window.h */
    int *bin_of;                   /* bin by squared wave number; -1: no bin */
    int max2;
};

/* Sums over the modes of a bin. */
struct bin_sums {
    struct sum k, p[PK_BIN_COLUMNS];
    int64_t modes;
};

/* ---- waves ---- */

static size_t wave_size(const struct fft *f)
{
    return (size_t)f->kcount[0] * (size_t)f->kcount[1] * f->kpitch;
}

/* Adds the cells before and after a row of n cells to their periodic images. */
static void row_close(int64_t *row, int n)
{
    for (int x = -PK_BEFORE; x < 0; x++) row[(x % n + n) % n] += row[x];
    for (int x = n; x < n + PK_AFTER; x++) row[x % n] += row[x];
}

/* Converts the integers of mesh i to δ in r, and transforms r. The integers are freed before the
 * transform uses its second buffer. */
static void transform(struct pk *p, int i, int h, double mean)
{
    struct fft *f = p->fft;
    int n = f->n, rows = f->count[1] * f->count[2];
    int64_t *mass = p->mass[i][h];
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++) {
        double *r = f->r + (size_t)row * f->pitch;
        int64_t *from = mass ? mass + pk_row(p, row % f->count[1], row / f->count[1]) : NULL;
        if (from) row_close(from, n);
        for (int x = 0; x < n; x++) r[x] = (from ? (double)from[x] : 0) / mean - 1;
    }
    FREE(p->mass[i][h]);
    fft_forward(f);
}

/* Averages with the mesh shifted by half a cell: odd images cancel. */
static void interlace(const struct pk *p, double complex *k)
{
    const struct fft *f = p->fft;
    double complex *turn = mem_new(sizeof *turn * (size_t)f->n, "pk");
    for (int i = 0; i < f->n; i++) turn[i] = cexp(I * M_PI * fft_wave(f->n, i) / f->n);
#pragma omp parallel for collapse(2) schedule(static)
    for (int i = 0; i < f->kcount[0]; i++)
        for (int j = 0; j < f->kcount[1]; j++) {
            size_t at = ((size_t)i * (size_t)f->kcount[1] + (size_t)j) * f->kpitch;
            double complex t = turn[i + f->kfirst[0]] * turn[j + f->kfirst[1]];
            for (int z = 0; z < f->n; z++)
                k[at + (size_t)z] = 0.5 *
                                    (k[at + (size_t)z] + f->k[at + (size_t)z] * (t * turn[z]));
        }
    FREE(turn);
}

/* Computes δ_k of mesh i; keep: other spectra will use the transform. */
static void mesh_wave(struct pk *p, int i, bool keep)
{
    bool twice = p->par.interlace && !(p->sampled >> i & 1);
    double mass = sum_get(&p->m[i]), mean = mass / p->quantum / pow(p->par.n, 3);
    if (!(mass > 0)) return;
    fft_begin(p->fft);
    transform(p, i, 0, mean);
    p->wave[i] = p->fft->k;
    if (!keep && !twice) return;
    p->wave[i] = mem_new(sizeof *p->wave[i] * wave_size(p->fft) + 1, "pk waves");
    memcpy(p->wave[i], p->fft->k, sizeof *p->wave[i] * wave_size(p->fft));
    if (twice) {
        transform(p, i, 1, mean);
        interlace(p, p->wave[i]);
    }
    fft_end(p->fft);
}

static void waves_make(struct pk *p, unsigned used)
{
    for (int i = 0; i < p->nmesh; i++)
        for (int h = 0; h < 2; h++)
            if (!(used >> i & 1)) FREE(p->mass[i][h]);
    for (int i = 0; i < p->nmesh; i++)
        if (used >> i & 1) mesh_wave(p, i, used & (used - 1));
}

static void waves_free(struct pk *p)
{
    for (int i = 0; i < p->nmesh; i++) {
        for (int h = 0; h < 2; h++) FREE(p->mass[i][h]);
        if (p->wave[i] && p->wave[i] == p->fft->k) {
            fft_end(p->fft);
            p->wave[i] = NULL;
        }
        FREE(p->wave[i]);
    }
}

static void field_of(const struct pk *p, unsigned set, struct field *f)
{
    struct sum mass;
    *f = (struct field){.set = set, .sampled = (set & p->sampled) != 0};
    BUG_ON(f->sampled && set & ~p->sampled);
    sum_init(&mass);
    for (int i = 0; i < p->nmesh; i++)
        if (set >> i & 1) sum_join(&mass, &p->m[i]);
    f->mass = sum_get(&mass);
    for (int i = 0; i < p->nmesh; i++) {
        if (!(set >> i & 1) || !p->wave[i]) continue;
        f->share[f->n] = sum_get(&p->m[i]) / f->mass;
        f->k[f->n++] = p->wave[i];
    }
}

static inline double complex field_at(const struct field *f, size_t at)
{
    double complex k = 0;
    for (int i = 0; i < f->n; i++) k += f->share[i] * f->k[i][at];
    return k;
}

/* ---- modes ---- */

static void tables_make(struct tables *t, const struct pk *p, int nbin, const double *edge)
{
    int n = p->par.n;
    t->w = mem_new(sizeof *t->w * (size_t)n, "pk");
    t->all = mem_new(sizeof *t->all * (size_t)n, "pk");
    t->alternating = mem_new(sizeof *t->alternating * (size_t)n, "pk");
    window_fourier(p->par.order, n, t->w);
    window_images(p->par.order, n, t->all, t->alternating);
    t->max2 = 3 * (n / 2) * (n / 2);
    t->bin_of = mem_new(sizeof *t->bin_of * ((size_t)t->max2 + 1), "pk");
    for (int s = 0, b = 0; s <= t->max2; s++) {
        double k = sqrt(s);
        while (b < nbin && k >= edge[b + 1]) b++;
        t->bin_of[s] = s > 0 && b < nbin && k >= edge[b] ? b : -1;
    }
}

static void tables_free(struct tables *t)
{
    FREE(t->w);
    FREE(t->all);
    FREE(t->alternating);
    FREE(t->bin_of);
}

/* Legendre polynomials ℓ = 0, 2, 4 times 2ℓ+1. */
static void multipoles(double mu2, double l[PK_BIN_COLUMNS])
{
    l[0] = 1;
    l[1] = 2.5 * (3 * mu2 - 1);
    l[2] = 9.0 / 8 * ((35 * mu2 - 30) * mu2 + 3);
}

/* The spectrum of two fields. */
struct product {
    const struct field *a, *b;
    const struct pk_pair *pair;
    double shot; /* shot noise without images */
    int axis;    /* line of sight */
};

/* a b* of a mode, or as turned (pk.h); k2: the square of its wave number. */
static inline double product_of(const struct pk_pair *pair, double complex a, double complex b,
                                const int wave[3], int k2)
{
    if (!pair->turn) return creal(a) * creal(b) + cimag(a) * cimag(b);
    const double turned = 2.0 * wave[pair->turn - 1] * (creal(a) * cimag(b) - cimag(a) * creal(b));
    return pair->turn_k2 ? turned / k2 : turned;
}

/* Adds a row of modes to the bins. */
static void add_row(const struct pk *p, const struct tables *t, const struct product *of, int i,
                    int j, struct bin_sums *bins)
{
    const struct field *a = of->a, *b = of->b;
    const double shot = of->shot;
    const int axis = of->axis;
    const struct fft *f = p->fft;
    int n = f->n, x = i + f->kfirst[0], y = j + f->kfirst[1], wy = fft_wave(n, y);
    size_t at = ((size_t)i * (size_t)f->kcount[1] + (size_t)j) * f->kpitch;
    double norm = 1 / pow(n, 6), times = x == 0 || 2 * x == n ? 1 : 2;
    for (int z = 0; z < n; z++) {
        int wave[3] = {x, wy, fft_wave(n, z)}, s = x * x + wy * wy + wave[2] * wave[2];
        int bin = t->bin_of[s];
        if (bin < 0) continue;
        double images = t->all[x] * t->all[y] * t->all[z];
        if (p->par.interlace)
            images = 0.5 * (images + t->alternating[x] * t->alternating[y] * t->alternating[z]);
        double w = t->w[x] * t->w[y] * t->w[z];
        double complex ka = field_at(a, at + (size_t)z),
                       kb = a->set == b->set ? ka : field_at(b, at + (size_t)z);
        double raw = product_of(of->pair, ka, kb, wave, s);
        double power = times * (raw * norm - shot * images) /
                       ((a->sampled ? 1 : w) * (b->sampled ? 1 : w)),
               l[PK_BIN_COLUMNS];
        struct bin_sums *q = &bins[bin];
        q->modes += (int64_t)times;
        sum_add(&q->k, times * sqrt(s));
        sum_add(&q->p[0], power);
        if (axis < 0) continue;
        multipoles((double)wave[axis] * wave[axis] / s, l);
        for (int c = 1; c < PK_BIN_COLUMNS; c++) sum_add(&q->p[c], power * l[c]);
    }
}

static void bins_init(int nbin, struct bin_sums *bins)
{
    for (int b = 0; b < nbin; b++) {
        bins[b].modes = 0;
        sum_init(&bins[b].k);
        for (int c = 0; c < PK_BIN_COLUMNS; c++) sum_init(&bins[b].p[c]);
    }
}

static void bins_join(int nbin, struct bin_sums *bins, const struct bin_sums *more)
{
    for (int b = 0; b < nbin; b++) {
        bins[b].modes += more[b].modes;
        sum_join(&bins[b].k, &more[b].k);
        for (int c = 0; c < PK_BIN_COLUMNS; c++) sum_join(&bins[b].p[c], &more[b].p[c]);
    }
}

/* Shot noise of the species in both sets: Σ m² / (M_a M_b). */
static double shot_noise(const struct pk *p, const struct field *a, const struct field *b)
{
    struct sum m2;
    sum_init(&m2);
    for (int i = 0; i < p->nmesh; i++)
        if ((a->set & b->set) >> i & 1) sum_join(&m2, &p->m2[i]);
    return a->mass > 0 && b->mass > 0 ? sum_get(&m2) / (a->mass * b->mass) : 0;
}

static void sum_modes(const struct pk *p, const struct tables *t, const struct product *of,
                      int nbin, struct pk_bin *out)
{
    struct bin_sums *bins = mem_new(sizeof *bins * (size_t)nbin + 1, "pk bins");
    bins_init(nbin, bins);
#pragma omp parallel
    {
        struct bin_sums *mine = mem_new(sizeof *mine * (size_t)nbin + 1, "pk bins");
        bins_init(nbin, mine);
#pragma omp for collapse(2) schedule(static)
        for (int i = 0; i < p->fft->kcount[0]; i++)
            for (int j = 0; j < p->fft->kcount[1]; j++) add_row(p, t, of, i, j, mine);
#pragma omp critical(pk_bins)
        bins_join(nbin, bins, mine);
        FREE(mine);
    }
    for (int q = 0; q < nbin; q++) {
        comm_add_i64(p->c, &bins[q].modes, 1);
        comm_sum(p->c, &bins[q].k);
        for (int c = 0; c < PK_BIN_COLUMNS; c++) comm_sum(p->c, &bins[q].p[c]);
        double modes = bins[q].modes > 0 ? (double)bins[q].modes : 1;
        out[q] = (struct pk_bin){
            .k = sum_get(&bins[q].k) / modes, .modes = bins[q].modes, .shot = of->shot};
        for (int c = 0; c < PK_BIN_COLUMNS; c++) out[q].p[c] = sum_get(&bins[q].p[c]) / modes;
    }
    FREE(bins);
}

/* ---- shot noise and aliases ---- */

/* Slope of the signal near Nyquist by least squares. False if the signal is not well above its
 * noise there. */
static bool slope_near_nyquist(int nbin, const struct pk_bin *bin, const double *alias,
                               double nyquist, double *slope)
{
    double s = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    int used = 0;
    for (int b = 0; b < nbin; b++) {
        if (bin[b].modes == 0 || bin[b].k < 0.4 * nyquist || bin[b].k > nyquist) continue;
        double noise = (fabs(bin[b].p[0]) + bin[b].shot) * sqrt(2 / (double)bin[b].modes);
        if (!(bin[b].p[0] > 2 * noise)) return false;
        double x = log(bin[b].k), y = log(bin[b].p[0] / alias[b]), w = (double)bin[b].modes;
        s += w, sx += w * x, sy += w * y, sxx += w * x * x, sxy += w * x * y;
        used++;
    }
    double det = s * sxx - sx * sx;
    if (used < 3 || !(det > 0)) return false;
    *slope = fmin(fmax((s * sxy - sx * sy) / det, -4), 1);
    return true;
}

/* Cubic interpolation of a table at 0, 1, .. n−1 from the four values around x. */
static double interpolate(int n, const double *y, double x)
{
    int i = (int)fmin(fmax(floor(x) - 1, 0), n - 4);
    double t = x - i, a = t * (t - 1), b = (t - 2) * (t - 3);
    return (b * (y[i + 1] * 3 * t - y[i] * (t - 1)) +
            a * (y[i + 3] * (t - 2) - 3 * y[i + 2] * (t - 3))) /
           6;
}

/* Jing's iteration: the slope gives the aliases, which change the slope. alias[bin]: correction
 * factors. */
static void find_aliases(const struct pk *p, int nbin, const struct pk_bin *bin, double *alias)
{
    enum { ROUNDS = 4, NODES = 41 };
    double nyquist = 0.5 * p->par.n, slope, node[NODES] = {1};
    for (int b = 0; b < nbin; b++) alias[b] = 1;
    for (int r = 0; r < ROUNDS && slope_near_nyquist(nbin, bin, alias, nyquist, &slope); r++) {
        for (int i = 1; i < NODES; i++)
            node[i] = window_aliases(p->par.order, slope, (double)i / (NODES - 1));
        for (int b = 0; b < nbin; b++)
            if (bin[b].modes)
                alias[b] = interpolate(NODES, node, fmin(bin[b].k / nyquist, 1) * (NODES - 1));
    }
}

static void finish_bins(const struct pk *p, int nbin, const double *alias, struct pk_bin *bin)
{
    for (int b = 0; b < nbin; b++) {
        for (int c = 0; c < PK_BIN_COLUMNS; c++) bin[b].p[c] /= alias[b];
        bin[b].k *= p->par.fold;
        bin[b].p[0] += bin[b].shot;
        bin[b].sigma = bin[b].modes ? fabs(bin[b].p[0]) * sqrt(2 / (double)bin[b].modes) : 0;
    }
}

/* Index of the pair with the most meshes: its aliases are subtracted from all spectra, so that the
 * spectra of the parts still add up to the spectrum of the whole. */
static int widest_pair(int npair, const struct pk_pair *pair)
{
    int best = 0;
    for (int i = 1; i < npair; i++)
        if (__builtin_popcount(pair[i].a) + __builtin_popcount(pair[i].b) >
            __builtin_popcount(pair[best].a) + __builtin_popcount(pair[best].b))
            best = i;
    return best;
}

void pk_spectra(struct pk *p, int npair, const struct pk_pair *pair, int nbin, const double *edge,
                int axis, struct pk_bin *out)
{
    unsigned used = 0;
    for (int i = 0; i < p->nmesh; i++) {
        comm_sum(p->c, &p->m[i]);
        comm_sum(p->c, &p->m2[i]);
    }
    int64_t sampled = p->sampled; /* every rank has samples, or no data of the mesh */
    comm_max_i64(p->c, &sampled, 1);
    p->sampled = (unsigned)sampled;
    for (int i = 0; i < npair; i++) used |= pair[i].a | pair[i].b;
    waves_make(p, used);
    struct tables t;
    tables_make(&t, p, nbin, edge);
    for (int i = 0; i < npair; i++) {
        struct field a, b;
        field_of(p, pair[i].a, &a);
        field_of(p, pair[i].b, &b);
        const struct product of = {&a, &b, &pair[i], pair[i].turn ? 0 : shot_noise(p, &a, &b),
                                   axis};
        sum_modes(p, &t, &of, nbin, out + i * (int64_t)nbin);
    }
    tables_free(&t);
    waves_free(p);
    double *alias = mem_new(sizeof *alias * (size_t)nbin + 1, "pk");
    if (p->sampled || p->par.interlace)
        for (int b = 0; b < nbin; b++) alias[b] = 1;
    else
        find_aliases(p, nbin, out + widest_pair(npair, pair) * (int64_t)nbin, alias);
    for (int i = 0; i < npair; i++) finish_bins(p, nbin, alias, out + i * (int64_t)nbin);
    FREE(alias);
}
