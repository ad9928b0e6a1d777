/* convert: smoothed particles as PolyData of VTK (file.vtp): one XML file of points with their
 * values, whose arrays are appended raw. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "convert.h"
#include "io/stream.h"

enum { BATCH = 1 << 14 };

struct points {
    const struct smooth_par *par;
    const struct smooth *p;
};

/* Component d of a value of particle i. */
typedef double value_fn(const struct points *s, int d, int64_t i);
static double position(const struct points *s, int d, int64_t i)
{
    return s->p->x[d][i];
}
static double velocity(const struct points *s, int d, int64_t i)
{
    return s->p->v[d][i];
}
static double density(const struct points *s, int d, int64_t i)
{
    return smooth_rho(s->par, s->p->h[i]);
}
static double energy(const struct points *s, int d, int64_t i)
{
    return s->p->u[i];
}
static double length(const struct points *s, int d, int64_t i)
{
    return s->p->h[i];
}
static double viscosity(const struct points *s, int d, int64_t i)
{
    return s->p->alpha[i];
}
static double divergence(const struct points *s, int d, int64_t i)
{
    return s->p->divv[i];
}
static double type(const struct points *s, int d, int64_t i)
{
    return s->p->type[i];
}

/* The first array is that of the points. */
static const struct array {
    const char *name;
    int n;
    value_fn *of;
} ARRAYS[] = {{"Points", 3, position}, {"v", 3, velocity}, {"density", 1, density},
              {"u", 1, energy},        {"h", 1, length},   {"alpha", 1, viscosity},
              {"divv", 1, divergence}, {"type", 1, type}};
enum { NARRAY = sizeof ARRAYS / sizeof *ARRAYS };

static uint64_t bytes_of(int a, int64_t n)
{
    return 8 * (uint64_t)ARRAYS[a].n * (uint64_t)n;
}

static void print_array(FILE *out, int a, int64_t n, uint64_t *at)
{
    fprintf(out,
            "<DataArray type=\"Float64\" Name=\"%s\" NumberOfComponents=\"%d\" "
            "format=\"appended\" offset=\"%lu\"/>\n",
            ARRAYS[a].name, ARRAYS[a].n, (unsigned long)*at);
    *at += 8 + bytes_of(a, n);
}

/* Ids, and the numbers of points and their ends in the list of vertices: a vertex a particle. */
static void print_whole(FILE *out, const char *name, int64_t n, uint64_t *at)
{
    fprintf(out, "<DataArray type=\"Int64\" Name=\"%s\" format=\"appended\" offset=\"%lu\"/>\n",
            name, (unsigned long)*at);
    *at += 8 + 8 * (uint64_t)n;
}

static void print_head(FILE *out, double t, int64_t n)
{
    uint64_t at = 0;
    fprintf(out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
            "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n"
            "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
            "format=\"ascii\">%.17g</DataArray></FieldData>\n"
            "<Piece NumberOfPoints=\"%ld\" NumberOfVerts=\"%ld\">\n<Points>\n",
            t, (long)n, (long)n);
    print_array(out, 0, n, &at);
    fprintf(out, "</Points>\n<PointData>\n");
    for (int a = 1; a < NARRAY; a++) print_array(out, a, n, &at);
    print_whole(out, "id", n, &at);
    fprintf(out, "</PointData>\n<Verts>\n");
    print_whole(out, "connectivity", n, &at);
    print_whole(out, "offsets", n, &at);
    fprintf(out, "</Verts>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
}

/* Errors of the stream are found when it is closed. */
static void put_array(FILE *out, const struct points *s, int a, double *batch)
{
    const uint64_t bytes = bytes_of(a, s->p->n);
    const int w = ARRAYS[a].n;
    fwrite(&bytes, sizeof bytes, 1, out);
    for (int64_t at = 0; at < s->p->n; at += BATCH) {
        const int64_t n = BATCH < s->p->n - at ? BATCH : s->p->n - at;
        for (int64_t i = 0; i < n; i++)
            for (int d = 0; d < w; d++) batch[i * w + d] = ARRAYS[a].of(s, d, at + i);
        fwrite(batch, sizeof *batch, (size_t)(n * w), out);
    }
}

static void put_numbers(FILE *out, int64_t first, int64_t n)
{
    const uint64_t bytes = 8 * (uint64_t)n;
    fwrite(&bytes, sizeof bytes, 1, out);
    for (int64_t i = first; i < first + n; i++) fwrite(&i, sizeof i, 1, out);
}

enum err convert_vtp(const char *path, double t, const struct smooth_par *par,
                     const struct smooth *p)
{
    const struct points s = {par, p};
    const uint64_t bytes = 8 * (uint64_t)p->n;
    struct stream out;
    TRY(stream_open(&out, path));
    double *batch = mem_new(sizeof *batch * 3 * BATCH, "VTK");
    print_head(out.f, t, p->n);
    for (int a = 0; a < NARRAY; a++) put_array(out.f, &s, a, batch);
    fwrite(&bytes, sizeof bytes, 1, out.f);
    fwrite(p->id, sizeof *p->id, (size_t)p->n, out.f);
    put_numbers(out.f, 0, p->n);
    put_numbers(out.f, 1, p->n);
    fprintf(out.f, "\n</AppendedData>\n</VTKFile>\n");
    FREE(batch);
    return stream_close(&out, 0);
}
