#include "stencil/slices.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/dir.h"
#include "io/image.h"
#include "io/temp.h"
#include "plot/colours.h"

/* A value that a slice shows: a field, or, where the field is FD_FIELDS, a derived value. */
struct shown {
    const char *name;
    enum fd_field field;
    enum fd_derived derived;
};

static bool find(const struct stencil *t, const char *name, struct shown *v)
{
    for (int f = 0; f < FD_FIELDS; f++)
        if (strcmp(name, fd_name[f]) == 0 && fd_has(&t->eq, f)) {
            *v = (struct shown){fd_name[f], f, FD_DERIVED};
            return true;
        }
    for (int d = 0; d < FD_DERIVED; d++)
        if (strcmp(name, fd_derived_name[d]) == 0) {
            *v = (struct shown){fd_derived_name[d], FD_FIELDS, d};
            return true;
        }
    return false;
}

/* The next name of a list with commas, to `name`; *list moves behind it. False at the end. */
static bool next_name(const char **list, char name[64])
{
    while (**list == ',' || **list == ' ') (*list)++;
    const size_t n = strcspn(*list, ", ");
    if (n == 0) return false;
    snprintf(name, 64, "%.*s", (int)(n < 63 ? n : 63), *list);
    *list += n;
    return true;
}

enum err stencil_slices_check(const struct stencil *t)
{
    const struct param_stencil *p = &t->par->stencil;
    const char *list = p->slice_fields;
    char name[64];
    struct shown v;
    int n = 0;
    for (; next_name(&list, name); n++)
        if (!find(t, name, &v))
            FAIL(ERR_PARAM,
                 "slice_fields='%s' in &STENCIL_PARAMS: '%s' is no field and no derived value of "
                 "these equations",
                 p->slice_fields, name);
    if (p->slice_every > 0 && n == 0)
        FAIL(ERR_PARAM,
             "slice_every=%d in &STENCIL_PARAMS needs the names of values in "
             "slice_fields, such as 'speed,B'",
             p->slice_every);
    return OK;
}

bool stencil_slices_due(const struct stencil *t, int64_t it)
{
    const int every = t->par->stencil.slice_every;
    return every > 0 && it % every == 0;
}

/* ---- the plane on rank 0 ---- */

/* The normal of the plane and its axes, to the right and upwards. */
struct plane {
    int normal, right, up;
};

static struct plane plane_of(const struct stencil *t)
{
    const int d = t->par->stencil.slice_axis[0] - 'x';
    return d == 0   ? (struct plane){0, 1, 2}
           : d == 1 ? (struct plane){1, 0, 2}
                    : (struct plane){2, 0, 1};
}

struct pixel {
    int32_t x[2];
    double value;
};

/* The cells of this rank in the plane, a row of the brick along x at a time. Returns their
 * number. */
static int64_t own_pixels(const struct stencil *t, const struct shown *v, const struct plane *p,
                          struct pixel *out)
{
    const struct brick *b = &t->brick;
    int64_t n = 0, middle = t->n[p->normal] / 2 - b->first[p->normal];
    double *row = mem_new(sizeof *row * (size_t)(b->own[0] + 1), "slices");
    if (middle < 0 || middle >= b->own[p->normal]) middle = -1;
    for (int z = 0; middle >= 0 && z < b->own[2]; z++)
        for (int y = 0; y < b->own[1]; y++) {
            const int at[3] = {0, y, z};
            if (p->normal > 0 && at[p->normal] != middle) continue;
            if (v->field < FD_FIELDS)
                memcpy(row, t->a.now[v->field] + stencil_at(b, 0, y, z),
                       sizeof *row * (size_t)b->own[0]);
            else if (!fd_derive(&t->eq, b, t->a.now, v->derived, at, b->own[0], row))
                memset(row, 0, sizeof *row * (size_t)b->own[0]);
            for (int x = 0; x < b->own[0]; x++) {
                const int64_t cell[3] = {b->first[0] + x, b->first[1] + y, b->first[2] + z};
                if (p->normal == 0 && x != middle) continue;
                out[n++] = (struct pixel){{(int32_t)cell[p->right], (int32_t)cell[p->up]}, row[x]};
            }
        }
    mem_free(row);
    return n;
}

/* ---- the picture ---- */

static enum err write_png(const char *path, int w, int h, const unsigned char *rgb,
                          const char *const *text)
{
    struct temp f;
    TRY(temp_create(&f, path));
    FILE *out = fdopen(dup(f.fd), "wb");
    int bad = out ? image_write_png(out, w, h, rgb, text) : errno;
    if (out && fclose(out) != 0 && bad == 0) bad = errno;
    if (bad == 0) return temp_publish(&f);
    temp_drop(&f);
    FAIL(ERR_FILE, "%s: %s", path, strerror(bad));
}

/* Range of the colours: slice_range, or that of the values, symmetric if they have both signs. */
static void range_of(const struct stencil *t, const double *value, int64_t n, double range[2])
{
    const double *given = t->par->stencil.slice_range;
    range[0] = HUGE_VAL, range[1] = -HUGE_VAL;
    for (int64_t i = 0; i < n; i++) {
        range[0] = fmin(range[0], value[i]);
        range[1] = fmax(range[1], value[i]);
    }
    if (range[0] < 0 && range[1] > 0) {
        range[1] = fmax(-range[0], range[1]);
        range[0] = -range[1];
    }
    if (given[1] > given[0]) range[0] = given[0], range[1] = given[1];
}

static enum err draw(const struct stencil *t, const char *path, const struct plane *p,
                     const double *value, double time)
{
    const int w = (int)t->n[p->right], h = (int)t->n[p->up];
    const int64_t n = (int64_t)w * h;
    double range[2];
    char low[32], high[32], now[32];
    range_of(t, value, n, range);
    const int map = colours_find(range[0] < 0 ? "coolwarm" : "viridis");
    unsigned char *rgb = mem_new(3 * (size_t)n, "slices");
    for (int64_t i = 0; i < n; i++) {
        const double span = range[1] > range[0] ? range[1] - range[0] : 1;
        const int64_t pixel = (h - 1 - i / w) * w + i % w; /* top row first */
        colours_at(map < 0 ? 0 : map, fmin(fmax((value[i] - range[0]) / span, 0), 1),
                   rgb + 3 * pixel);
    }
    snprintf(low, sizeof low, "%.9g", range[0]);
    snprintf(high, sizeof high, "%.9g", range[1]);
    snprintf(now, sizeof now, "%.9g", time);
    const char *const text[] = {"minimum", low, "maximum", high, "time", now, NULL};
    enum err err = write_png(path, w, h, rgb, text);
    mem_free(rgb);
    return err;
}

static enum err slice(struct sim *s, const struct stencil *t, const struct shown *v, int64_t it)
{
    const struct plane p = plane_of(t);
    const int64_t w = t->n[p.right];
    const size_t most = (size_t)t->brick.own[p.right] * (size_t)t->brick.own[p.up] + 1;
    struct pixel *mine = mem_new(sizeof *mine * most, "slices");
    int64_t n = own_pixels(t, v, &p, mine);
    struct pixel *all = comm_exchange_root(t->comm, mine, n, sizeof *mine, &n);
    enum err err = OK;
    if (t->comm->rank == 0) {
        char path[PATH_MAX];
        double *value = mem_zero(sizeof *value * (size_t)(w * t->n[p.up]), "slices");
        for (int64_t i = 0; i < n; i++) value[all[i].x[1] * w + all[i].x[0]] = all[i].value;
        snprintf(path, sizeof path, "%.3900s/slices/%s_%08ld.png", s->run.out.dir, v->name,
                 (long)it);
        err = draw(t, path, &p, value, s->time.t);
        mem_free(value);
    }
    FREE(all);
    mem_free(mine);
    return err_agree(t->comm, err);
}

enum err stencil_slices(struct sim *s, const struct stencil *t, int64_t it)
{
    const char *list = t->par->stencil.slice_fields;
    char name[64], dir[PATH_MAX];
    struct shown v;
    snprintf(dir, sizeof dir, "%.3900s/slices", s->run.out.dir);
    TRY(err_agree(t->comm, t->comm->rank == 0 ? dir_make(dir) : OK));
    while (next_name(&list, name))
        if (find(t, name, &v)) TRY(slice(s, t, &v, it));
    return OK;
}
