/* observe/movies: frames of movies (&MOVIE_PARAMS), drawn at the start of steps of any level. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "film/camera.h"
#include "movie/frame.h"
#include "observe/observe.h"
#include "oct/field_sets.h"
#include "out/out.h"

static const struct {
    const char *name;
    enum err (*write)(const struct movie_frame *f, int c, int v);
} FORMAT[] = {
#define FRAME_FORMAT(name, write) {name, write},
#include "observe/frames.def"
};
enum { FORMATS = sizeof FORMAT / sizeof *FORMAT };

static enum err find_formats(const char *names, unsigned *set)
{
    *set = 0;
    for (const char *at = names; *at;) {
        const size_t n = strcspn(at, ", ");
        int i = 0;
        while (i < FORMATS && (strlen(FORMAT[i].name) != n || memcmp(FORMAT[i].name, at, n) != 0))
            i++;
        if (i == FORMATS)
            FAIL(ERR_PARAM, "movie_format='%.80s' in &MOVIE_PARAMS: there is no format %.*s", names,
                 (int)n, at);
        *set |= 1u << i;
        at += n + strspn(at + n, ", ");
    }
    if (*set == 0) FAIL(ERR_PARAM, "movie_format in &MOVIE_PARAMS names no format");
    return OK;
}

enum err observe_movie(const struct params *p, const struct movie_kinds *has,
                       struct movie_run **out)
{
    struct movie_run m = {0};
    if (!p->movie.movie) return OK;
    TRY(movie_of(p, has, &m.movie));
    TRY(find_formats(p->movie.movie_format, &m.formats));
    m.next = m.movie.first;
    if (m.movie.last == 0) {
        log_info(" movie=.true. draws no frame: &MOVIE_PARAMS has no tendmov or aendmov above 0, "
                 "or imovout=0");
        return OK;
    }
    *out = mem_zero(sizeof **out, "movie");
    **out = m;
    return OK;
}

static bool wanted(const struct params *p)
{
    return p->movie.movie;
}

static bool due(const struct observation *o)
{
    return movie_run_due(o->movie, o->head->t, o->head->aexp);
}

/* ---- texts beside the maps, which rank 0 writes ---- */

/* The same text for all cameras: that of an output of one rank, so that it does not depend on the
 * ranks. */
static enum err write_info(const struct observation *o, const struct movie_frame *f)
{
    char path[PATH_MAX], *text = NULL;
    size_t n = 0;
    const struct ckpt_out out = {.h = o->head,
                                 .m = o->mesh,
                                 .c = o->comm,
                                 .nlevel = o->head->levelmax,
                                 .ngridmax = o->head->ngridmax};
    FILE *t = open_memstream(&text, &n);
    out_info(t, &out);
    char *all = mem_close_text(t, &text, &n, "movie frame");
    enum err err = OK;
    for (int c = 0; err == OK && c < f->movie->ncamera; c++) {
        err = movie_path(f, c, "info", "txt", path);
        if (err == OK) err = movie_write(path, all, n);
    }
    mem_free(all);
    return err;
}

/* The table of sinks, as in outputs; of the first camera. */
static enum err write_sinks(const struct observation *o, const struct movie_frame *f)
{
    const struct ckpt_rest *rest = o->head->rest;
    char path[PATH_MAX], *text = NULL;
    size_t n = 0;
    if (!rest || !*rest->sinks.from) return OK;
    TRY(movie_path(f, 0, "sink", "txt", path));
    FILE *t = open_memstream(&text, &n);
    catalog_write_text(&rest->sinks, t, "msink");
    char *all = mem_close_text(t, &text, &n, "movie frame");
    enum err err = movie_write(path, all, n);
    mem_free(all);
    return err;
}

static enum err write_texts(const struct observation *o, const struct movie_frame *f)
{
    for (int c = 0; !o->movie->ready && c < f->movie->ncamera; c++) TRY(movie_directory(f, c));
    TRY(write_info(o, f));
    return write_sinks(o, f);
}

/* ---- maps ---- */

static enum err write_maps(const struct observation *o, const struct movie_frame *f)
{
    for (int c = 0; c < f->movie->ncamera; c++) {
        if (paint_owner(f->paint, c) != o->comm->rank) continue;
        for (int k = 0; k < FORMATS; k++)
            for (int v = 0; (o->movie->formats >> k & 1) && v < f->movie->nvariable; v++)
                TRY(FORMAT[k].write(f, c, v));
    }
    return OK;
}

/* Writes the frame. A failure does not end the run. */
static void write_frame(const struct observation *o, const struct movie_frame *f)
{
    enum err err = err_agree(o->comm, o->comm->rank == 0 ? write_texts(o, f) : OK);
    o->movie->ready |= err == OK;
    if (err == OK) err = err_agree(o->comm, write_maps(o, f));
    if (err != OK)
        log_line(-1, " Frame %d is not complete, the run continues: %s", f->number, err_message());
}

static void log_views(const struct movie_frame *f)
{
    for (int c = 0; c < f->movie->ncamera; c++) {
        const struct movie_view *v = paint_view(f->paint, c);
        char far[64] = "", phi[32] = "";
        if (v->ndim == 3) snprintf(phi, sizeof phi, " phi=%6.1f", v->phi * (180 / M_PI));
        if (v->law.perspective)
            snprintf(far, sizeof far, " d=%8.2f fov=%6.1f", v->dist, v->fov * (180 / M_PI));
        log_info(" Writing frame %05d los=%c theta=%6.1f%s%s", f->number, "xyz"[v->w],
                 v -> theta *(180 / M_PI), phi, far);
    }
}

static int finest_level(const struct mesh *m)
{
    int l = m->levelmax;
    while (l > m->levelmin && m->lev[l].total == 0) l--;
    return l;
}

static enum err run(struct observation *o)
{
    struct movie_run *m = o->movie;
    const int after = movie_next(&m->movie, m->next, o->head->t, o->head->aexp);
    const struct paint_par par = {.comm = o->comm,
                                  .movie = &m->movie,
                                  .head = o->head,
                                  .finest = finest_level(o->mesh),
                                  .proper_time = o->par->run.use_proper_time};
    struct movie_frame f = {o->dir, m->next, &m->movie, o->head, NULL};
    struct paint *p;
    TRY(paint_begin(&par, &p));
    paint_mesh(p, o->mesh);
    paint_parts(p, o->mesh, o->parts);
    paint_finish(p);
    f.paint = p;
    log_info(" Computing and dumping movie frame");
    log_views(&f);
    write_frame(o, &f);
    /* other frames of this time are left out, but for the last */
    f.number = m->movie.last;
    if (after > m->movie.last && m->next < m->movie.last) write_frame(o, &f);
    if (paint_left_out(p) > 0)
        log_line(-1, " Frame %d leaves out %ld cells and particles whose values are not finite",
                 m->next, (long)paint_left_out(p));
    paint_free(&p);
    m->next = after;
    return OK;
}

const struct observer observer_movies = {.name = "movies",
                                         .wanted = wanted,
                                         .when = OBSERVE_ENTRY,
                                         .due = due,
                                         .reads = GAS | PARTS,
                                         .table = FILES_KINDS,
                                         .run = run};
