/* cone/healpix: a slice as a map of the sky in HEALPix's pixels (Górski et al. 2005), a FITS table
 * of the pixels that are not empty.
 *
 * Each rank gets the events of a range of pixels and orders them by pixel and mass, so that counts
 * and sums of masses do not depend on ranks. Memory follows the events, not the pixels. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "cone/fits.h"
#include "cone/priv.h"
#include "io/file.h"

#ifdef PTAH_HEALPIX
#include <chealpix.h>

enum { ROW = 24, ROWS = 4096 };

struct hit {
    int64_t pixel;
    double mass;
};

struct pixel {
    int64_t at, count;
    double mass;
};

struct out {
    const struct cone_slice *s;
    const char *path;
    int64_t nside, n, first, total; /* pixels of this rank, those before, all */
    struct pixel *pixel;
    int64_t words; /* sum of the table's words of 32 bits */
};

static int order(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    if (x->pixel != y->pixel) return x->pixel < y->pixel ? -1 : 1;
    return (x->mass > y->mass) - (x->mass < y->mass);
}

/* The events of this rank's range of pixels, in order. */
static struct hit *deal(const struct cone_slice *s, int64_t nside, int64_t *n)
{
    const int64_t all = 12 * nside * nside;
    const double unit = s->head->unit_d * s->head->unit_l * s->head->unit_l * s->head->unit_l;
    struct hit *hit = mem_new(sizeof *hit * (size_t)s->events->n + 1, "light cone");
    int *to = mem_new(sizeof *to * (size_t)s->events->n + 1, "light cone");
    for (int64_t i = 0; i < s->events->n; i++) {
        const struct cone_event *e = &s->events->at[i];
        hit[i].pixel = 0; /* of a particle at the observer, which has no direction */
        if (e->r[0] != 0 || e->r[1] != 0 || e->r[2] != 0)
            vec2pix_ring64(nside, e->r, &hit[i].pixel);
        hit[i].mass = s->parts->m[e->at] * unit / CGS_MSUN;
        to[i] = (int)((__int128)hit[i].pixel * s->comm->size / all);
    }
    struct hit *got = comm_exchange_by(s->comm, hit, s->events->n, to, sizeof *hit, n, NULL);
    mem_free(hit);
    mem_free(to);
    mem_sort(got, (size_t)*n, sizeof *got, order);
    return got;
}

static void count(struct out *w)
{
    int64_t n = 0;
    struct hit *hit = deal(w->s, w->nside, &n);
    w->pixel = mem_new(sizeof *w->pixel * (size_t)n + 1, "light cone");
    for (int64_t i = 0; i < n; i++) {
        if (w->n == 0 || w->pixel[w->n - 1].at != hit[i].pixel)
            w->pixel[w->n++] = (struct pixel){.at = hit[i].pixel};
        w->pixel[w->n - 1].count++;
        w->pixel[w->n - 1].mass += hit[i].mass;
    }
    mem_free(hit);
    w->first = comm_scan_i64(w->s->comm, w->n);
    w->total = w->n;
    comm_add_i64(w->s->comm, &w->total, 1);
}

/* ---- the file: an empty primary part, then the table ---- */

static void put_columns(struct fits_head *f)
{
    static const char *const column[][3] = {
        {"PIXEL", "K", ""}, {"COUNT", "K", ""}, {"MASS", "D", "Msun"}};
    char key[16];
    for (int k = 0; k < 3; k++) {
        snprintf(key, sizeof key, "TTYPE%d", k + 1);
        fits_word(f, key, column[k][0], "");
        snprintf(key, sizeof key, "TFORM%d", k + 1);
        fits_word(f, key, column[k][1], "");
        snprintf(key, sizeof key, "TUNIT%d", k + 1);
        fits_word(f, key, column[k][2], "");
    }
}

static void put_shell(struct fits_head *f, const struct cone_shell *e)
{
    fits_word(f, "RULE", e->rule == CONE_RAMSES ? "ramses" : "crossing", "which particles");
    fits_whole(f, "STEP", e->step, "coarse step");
    for (int i = 0; i < 2; i++) {
        static const char *const keys[2][3] = {{"AEXP1", "Z1", "DIST1"}, {"AEXP2", "Z2", "DIST2"}};
        fits_real(f, keys[i][0], e->aexp[i], i ? "at the end of the step" : "at its beginning");
        fits_real(f, keys[i][1], e->z[i], "redshift");
        fits_real(f, keys[i][2], e->distance[i] * e->box_mpc, "comoving distance, Mpc");
    }
}

static void put_head(struct fits_head *f, const struct out *w)
{
    char sum[32];
    uint64_t words = (uint64_t)w->words;
    while (words >> 32) words = (words & 0xffffffff) + (words >> 32); /* ones' complement */
    snprintf(sum, sizeof sum, "%lu", (unsigned long)words);
    fits_bool(f, "SIMPLE", 1);
    fits_whole(f, "BITPIX", 8, "");
    fits_whole(f, "NAXIS", 0, "");
    fits_bool(f, "EXTEND", 1);
    fits_end(f);
    fits_word(f, "XTENSION", "BINTABLE", "");
    fits_whole(f, "BITPIX", 8, "");
    fits_whole(f, "NAXIS", 2, "");
    fits_whole(f, "NAXIS1", ROW, "bytes of a row");
    fits_whole(f, "NAXIS2", w->total, "pixels that are not empty");
    fits_whole(f, "PCOUNT", 0, "");
    fits_whole(f, "GCOUNT", 1, "");
    fits_whole(f, "TFIELDS", 3, "");
    put_columns(f);
    fits_word(f, "EXTNAME", "CONE", "");
    fits_word(f, "PIXTYPE", "HEALPIX", "");
    fits_word(f, "ORDERING", "RING", "");
    fits_whole(f, "NSIDE", w->nside, "");
    fits_whole(f, "FIRSTPIX", 0, "");
    fits_whole(f, "LASTPIX", 12 * w->nside * w->nside - 1, "");
    fits_word(f, "INDXSCHM", "EXPLICIT", "");
    fits_word(f, "OBJECT", "PARTIAL", "");
    put_shell(f, w->s->shell);
    fits_word(f, "DATASUM", sum, "");
    fits_end(f);
}

static enum err put_rows(struct out *w, int fd)
{
    static unsigned char row[ROWS][ROW];
    for (int64_t i = 0; i < w->n; i += ROWS) {
        int64_t n = w->n - i < ROWS ? w->n - i : ROWS;
        for (int64_t k = 0; k < n; k++) {
            const struct pixel *p = &w->pixel[i + k];
            uint64_t x[3] = {(uint64_t)p->at, (uint64_t)p->count, 0};
            memcpy(&x[2], &p->mass, sizeof p->mass);
            for (int c = 0; c < 3; c++) {
                fits_store(x[c], row[k] + 8 * c);
                w->words += (int64_t)((x[c] >> 32) + (x[c] & 0xffffffff));
            }
        }
        TRY(file_write_at(fd, w->path, row, (size_t)(ROW * n), FITS_HEAD + ROW * (w->first + i)));
    }
    return OK;
}

/* Header and padding, on rank 0. */
static enum err put_rest(const struct out *w, int fd)
{
    static const char zero[FITS_BLOCK];
    const size_t used = (size_t)(ROW * w->total) % FITS_BLOCK;
    struct fits_head head = {0};
    put_head(&head, w);
    BUG_ON(head.n != FITS_HEAD);
    if (used) TRY(file_write_at(fd, w->path, zero, FITS_BLOCK - used, FITS_HEAD + ROW * w->total));
    return file_write_at(fd, w->path, head.text, head.n, 0);
}

static enum err write_file(struct out *w)
{
    const struct comm *c = w->s->comm;
    int fd = -1;
    TRY(err_agree(c, c->rank == 0 ? file_create(w->path, &fd) : OK));
    enum err err = c->rank == 0 ? OK : file_reopen(w->path, &fd);
    if (err == OK) err = put_rows(w, fd);
    comm_add_i64(c, &w->words, 1);
    if (err == OK && c->rank == 0) err = put_rest(w, fd);
    if (fd < 0) return err;
    if (err == OK) return cone_close(fd, w->path);
    close(fd);
    return err;
}

enum err cone_write_healpix(const struct cone_slice *s, int nside)
{
    struct cone_folder f;
    char path[PATH_MAX];
    struct out w = {.s = s, .path = path, .nside = nside};
    TRY(cone_folder_begin(&f, s));
    count(&w);
    enum err err = OK;
    if (snprintf(path, sizeof path, "%s/cone_%05d.fits", f.tmp, s->shell->step) >= (int)sizeof path)
        err = err_set(ERR_FILE, "%.80s…: the path is too long", f.tmp);
    else
        err = write_file(&w);
    mem_free(w.pixel);
    return cone_folder_end(&f, err);
}

enum err cone_can_healpix(void)
{
    return OK;
}
#else
enum err cone_can_healpix(void)
{
    FAIL(ERR_LIMIT,
         "cone_format='healpix' in &LIGHTCONE_PARAMS: this program was built without HEALPix: "
         "install its library (on Debian libchealpix-dev), then run make, or leave cone_format "
         "out");
}

enum err cone_write_healpix(const struct cone_slice *s, int nside)
{
    return cone_can_healpix();
}
#endif
