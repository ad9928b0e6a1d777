/* turb/lattice: see lattice.h. Transforms are along z and y in the planes of kx that have modes,
 * then along x. */
#include "turb/lattice.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fft/fixed.h"

enum { N = TURB_NODES, HALF = N / 2 + 1, ROW = HALF + 3 };

struct turb_fft {
    int ndim, side[3]; /* nodes along each axis */
    struct fft_fixed *fixed;
    bool plane[HALF];              /* of kx: with modes */
    double complex (*wave)[N][N];  /* [kx][ky][kz], then z */
    double complex (*mixed)[N][N]; /* [component][kx][z][ky], then y */
    double complex (*row)[ROW];    /* [component][y][kx], then x */
};

struct turb_fft *turb_fft_new(int ndim)
{
    struct turb_fft *f = mem_zero(sizeof *f, "turbulence");
    f->ndim = ndim;
    for (int d = 0; d < 3; d++) f->side[d] = d < ndim ? N : 1;
    f->fixed = fft_fixed_new(N);
    f->wave = mem_new(sizeof *f->wave * HALF, "turbulence");
    f->mixed = mem_new(3 * sizeof *f->mixed * HALF, "turbulence");
    f->row = mem_new(3 * sizeof *f->row * N, "turbulence");
    return f;
}

void turb_fft_free(struct turb_fft **f)
{
    if (!*f) return;
    fft_fixed_free(&(*f)->fixed);
    FREE((*f)->wave);
    FREE((*f)->mixed);
    FREE((*f)->row);
    FREE(*f);
}

int64_t turb_lattice_nodes(int ndim)
{
    return (int64_t)N * (ndim > 1 ? N : 1) * (ndim > 2 ? N : 1);
}

/* ---- modes ---- */

static int wrap(int k)
{
    return k & (N - 1);
}

/* Marks the plane of a mode, if x is not negative there. */
static void mark(struct turb_fft *f, int x)
{
    if (x <= N / 2) f->plane[x] = true;
}

static void find_planes(struct turb_fft *f, int n, const int (*k)[3], bool half)
{
    memset(f->plane, 0, sizeof f->plane);
    for (int i = 0; i < n; i++) {
        mark(f, wrap(k[i][0]));
        if (half) mark(f, wrap(-k[i][0]));
    }
}

static void put(struct turb_fft *f, const int k[3], int sign, double complex x)
{
    const int at[3] = {wrap(sign * k[0]), wrap(sign * k[1]), wrap(sign * k[2])};
    if (at[0] <= N / 2) f->wave[at[0]][at[1]][at[2]] = x;
}

static void clear(struct turb_fft *f)
{
    for (int x = 0; x < HALF; x++)
        if (f->plane[x]) memset(f->wave[x], 0, sizeof f->wave[x]);
}

/* ---- transforms ---- */

static void along_z_and_y(struct turb_fft *f, int d, int x)
{
    double complex(*mixed)[N] = f->mixed[d * HALF + x];
    const int ny = f->side[1], nz = f->side[2];
    if (f->ndim > 2) fft_fixed_complex(f->fixed, true, f->wave[x][0], N, ny);
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++) mixed[z][y] = f->wave[x][y][z];
    if (f->ndim > 1) fft_fixed_complex(f->fixed, true, mixed[0], N, nz);
}

/* Lines along x of component d at equal z. */
static const double (*along_x(struct turb_fft *f, int z, int d))[2 * ROW]
{
    const int ny = f->side[1];
    double complex(*row)[ROW] = f->row + (int64_t)N * d;
    memset(row, 0, sizeof *row * N);
    if (d >= f->ndim) return (const double(*)[2 * ROW]) row;
    for (int x = 0; x < HALF; x++)
        for (int y = 0; y < ny && f->plane[x]; y++) row[y][x] = f->mixed[d * HALF + x][z][y];
    fft_fixed_real(f->fixed, true, row[0], ROW, ny);
    return (const double(*)[2 * ROW]) row;
}

/* Writes a plane of nodes of equal z at once, since the lattice is larger than caches. */
static void write_plane(struct turb_fft *f, int z, struct turb_field *out)
{
    const int ny = f->side[1];
    const double(*r[3])[2 * ROW];
    for (int d = 0; d < 3; d++) r[d] = along_x(f, z, d);
    for (int y = 0; y < ny; y++) {
        double *to = out->a + 4 * N * ((int64_t)z * ny + y), most = out->most;
        for (int x = 0; x < N; x++) {
            const double sum = fabs(r[0][y][x]) + fabs(r[1][y][x]) + fabs(r[2][y][x]);
            for (int d = 0; d < 3; d++) to[4 * x + d] = r[d][y][x];
            to[4 * x + 3] = 0;
            most = sum > most ? sum : most;
        }
        out->most = most;
    }
}

void turb_lattice_make(struct turb_fft *f, int n, const int (*k)[3], double (*const amp)[3][2],
                       double factor, bool half, struct turb_field *out)
{
    if (!out->a)
        out->a = mem_zero(sizeof(double[4]) * (size_t)turb_lattice_nodes(f->ndim), "turbulence");
    find_planes(f, n, k, half);
    for (int d = 0; d < f->ndim; d++) {
        clear(f);
        for (int i = 0; i < n; i++) {
            /* glibc has CMPLX for gcc only */
            const double part[2] = {factor * amp[i][d][0], factor * amp[i][d][1]};
            double complex x;
            memcpy(&x, part, sizeof x);
            put(f, k[i], 1, x);
            if (half) put(f, k[i], -1, conj(x));
        }
        for (int x = 0; x < HALF; x++)
            if (f->plane[x]) along_z_and_y(f, d, x);
    }
    out->most = 0;
    for (int z = 0; z < f->side[2]; z++) write_plane(f, z, out);
}

void turb_field_free(struct turb_field *l)
{
    FREE(l->a);
}
