/* film/camera: see camera.h. The parameters of the camera are those of a run, but what a checkpoint
 * knows, its levels and whether it is cosmological, comes from the checkpoint. */
#include "film/camera.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "film/frame.h"
#include "formats/formats.h"
#include "io/file.h"
#include "movie/paint.h"
#include "param/param.h"

enum { WHEN = 80 };

struct film_camera {
    struct film_camera_ask ask;
    struct map_options map; /* for colours */
    struct params *par;
    struct movie movie;
    int number;          /* of the camera, from 0 */
    bool named;          /* parameters are those of a namelist */
    char file[PATH_MAX]; /* of it */
    char variable[MOVIE_NAME];
};

static bool has_width(const struct param_movie *p, int camera)
{
    const double *const width[3] = {p->deltax_frame, p->deltay_frame, p->deltaz_frame};
    bool any = false;
    for (int d = 0; d < 3; d++) any |= width[d][2 * camera] != 0 || width[d][2 * camera + 1] != 0;
    return any;
}

/* Reads the namelist, which may be that of a run of another code. */
static enum err read_namelist(struct film_camera *k)
{
    enum { LONGEST = 1 << 24 };
    char *text = NULL;
    size_t n;
    int left_out = 0;
    TRY(file_load(k->file, LONGEST, &text, &n));
    const enum err err = param_read_loose(k->par, text, n, k->file, &left_out);
    mem_free(text);
    if (err == OK && left_out > 0)
        log_info("%s: %d settings are not known, and left out", k->file, left_out);
    const bool exists = k->number < (int)strlen(k->par->movie.proj_axis);
    if (err == OK && exists && !has_width(&k->par->movie, k->number))
        FAIL(ERR_PARAM, "%s: gives camera %d no width of its frame (deltax_frame in &MOVIE_PARAMS)",
             k->file, k->number + 1);
    return err;
}

/* Divides FILE,N. */
static void find_file(struct film_camera *k)
{
    snprintf(k->file, sizeof k->file, "%s", k->ask.camera);
    char *comma = strrchr(k->file, ',');
    if (!comma || !opt_int(comma + 1, 1, MOVIE_CAMERAS, &k->number)) return;
    *comma = 0;
    k->number--;
}

static enum err choose_variable(struct film_camera *k)
{
    const param_string *name = k->par->movie.movie_vars_txt;
    const char *wanted = k->ask.variable ? k->ask.variable : name[0];
    if (!k->ask.variable && (!*name[0] || *name[1]))
        FAIL(ERR_PARAM,
             "a film shows one variable: choose it by -m, such as dens, temp, vx, |v| or dm");
    if (strlen(wanted) >= sizeof k->variable)
        FAIL(ERR_PARAM, "%.40s…: there is no such variable of movies", wanted);
    snprintf(k->variable, sizeof k->variable, "%s", wanted);
    return OK;
}

enum err film_camera_open(const struct film_camera_ask *ask, struct film_camera **out)
{
    struct film_camera *k = *out = mem_zero(sizeof *k, "film");
    k->ask = *ask, k->map = *ask->map;
    k->par = mem_new(sizeof *k->par, "parameters");
    param_init(k->par);
    k->named = strlen(ask->camera) != 1 || !strchr("xyz", *ask->camera);
    if (k->named && ask->placed)
        FAIL(
            ERR_PARAM,
            "--center, --width, --depth and --pixels are for --camera x, y or z: %s says where the "
            "camera is",
            ask->camera);
    if (k->named) find_file(k);
    if (k->named) TRY(read_namelist(k));
    return choose_variable(k);
}

void film_camera_close(struct film_camera **out)
{
    if (!*out) return;
    FREE((*out)->par);
    FREE(*out);
}

const char *film_camera_variable(const struct film_camera *k)
{
    return k->variable;
}

/* ---- the movie of a checkpoint ---- */

/* A camera of &MOVIE_PARAMS for the region of a map. */
static void place_camera(struct film_camera *k, const struct ckpt_head *h)
{
    struct param_movie *p = &k->par->movie;
    const struct map_options *o = &k->map;
    double *const centre[3] = {p->xcentre_frame, p->ycentre_frame, p->zcentre_frame};
    double *const width[3] = {p->deltax_frame, p->deltay_frame, p->deltaz_frame};
    snprintf(p->proj_axis, sizeof p->proj_axis, "%s", k->ask.camera);
    p->nw_frame = p->nh_frame = o->pixels;
    for (int d = 0; d < 3; d++) {
        const double x = o->centre[d] * h->boxlen;
        centre[d][0] = x > 0 ? x : DBL_MIN; /* 0 stands for the middle of the box */
        width[d][0] = (d == *k->ask.camera - 'x' ? o->depth : o->width) * h->boxlen;
    }
}

static enum err choose_camera(struct film_camera *k, struct movie *m)
{
    if (k->number >= m->ncamera)
        FAIL(ERR_PARAM, "%s: has %d camera%s (proj_axis), not %d", k->file, m->ncamera,
             m->ncamera == 1 ? "" : "s", k->number + 1);
    m->camera[0] = m->camera[k->number], m->ncamera = 1;
    return OK;
}

static enum err make_movie(struct film_camera *k, const struct source *s)
{
    const struct ckpt_head *h = &s->head;
    const struct movie_kinds kinds = {
        .gas = h->hydro ? h->gas : NULL, .ndim = h->ndim, .magnetic = h->magnetic};
    struct params *p = k->par;
    p->movie.movie = true;
    p->run.cosmo = h->cosmo;
    p->amr.levelmin = h->levelmin, p->amr.levelmax = h->levelmax;
    if (!k->named) place_camera(k, h);
    TRY(movie_of(p, &kinds, &k->movie));
    TRY(choose_camera(k, &k->movie));
    k->movie.nvariable = 1;
    return movie_variable(k->variable, &kinds, &k->movie.variable[0]);
}

/* Whether births of stars are proper times, by the namelist of the checkpoint. */
static enum err find_proper_time(struct source *s, bool *proper)
{
    char *text = NULL;
    size_t n;
    int left_out;
    TRY(source_text(s, FILES_NAMELIST, &text, &n));
    struct params *p = mem_new(sizeof *p, "parameters");
    param_init(p);
    const enum err err = text ? param_read_loose(p, text, n, "namelist", &left_out) : OK;
    *proper = p->run.use_proper_time;
    FREE(p);
    mem_free(text);
    return err;
}

/* ---- a frame ---- */

/* A map of a camera, with the extents and axes of its view. */
static struct film_frame frame_of(const struct paint *p, int c, int v, const struct ckpt_head *h,
                                  char when[WHEN])
{
    static const char *const NAMES[] = {"x", "y", "z"};
    const struct movie_view *q = paint_view(p, c);
    film_when(h->cosmo, h->t, h->aexp, when, WHEN);
    return (struct film_frame){
        .nw = q->nw,
        .nh = q->nh,
        .x = paint_map(p, c, v),
        .when = when,
        .size = {q->width[q->u], q->width[q->v]},
        .axis = {q->turned ? NULL : NAMES[q->u], q->turned ? NULL : NAMES[q->v]}};
}

static struct shot *shot_of(struct film_camera *k, const struct source *s, const struct paint *p)
{
    char when[WHEN];
    struct film_frame f = frame_of(p, 0, 0, &s->head, when);
    f.name = k->variable, f.kind = "output", f.number = s->number;
    return film_shot(&f, s->path, &k->map);
}

static enum err paint(struct film_camera *k, struct source *s, struct shot **shot)
{
    const struct comm alone = {.size = 1};
    struct paint_par par = {.comm = &alone, .movie = &k->movie, .head = &s->head};
    struct paint *p = NULL;
    TRY(source_state(s, 0, 0));
    TRY(make_movie(k, s));
    if (k->movie.variable[0].quantity == MOVIE_LUMINOSITY)
        TRY(find_proper_time(s, &par.proper_time));
    TRY(paint_begin(&par, &p));
    const enum err err = paint_source(p, s);
    if (err == OK) {
        paint_finish(p);
        *shot = shot_of(k, s, p);
    }
    paint_free(&p);
    return err;
}

enum err film_camera_take(struct film_camera *k, const char *path, struct shot **shot)
{
    struct source *s = NULL;
    *shot = NULL;
    enum err err = source_open(path, &s);
    if (err == OK) err = paint(k, s, shot);
    source_close(&s);
    return err_about(err, path);
}

/* ---- frames of a run ---- */

enum err film_write_png(const struct movie_frame *m, int c, int v)
{
    char path[PATH_MAX], when[WHEN], *png = NULL;
    size_t n = 0;
    struct film_frame f = frame_of(m->paint, c, v, m->head, when);
    f.name = m->movie->variable[v].name, f.kind = "frame", f.number = m->number;
    TRY(movie_path(m, c, f.name, "png", path));
    TRY(film_png(path, &f, &png, &n));
    const enum err err = movie_write(path, png, n);
    mem_free(png);
    return err;
}
