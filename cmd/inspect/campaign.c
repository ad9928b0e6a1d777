/* inspect: --campaign: a directory of checkpoints, one line each: position in time, duration, job,
 * and whether the checkpoint is sound. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/formats.h"
#include "io/dir.h"
#include "io/stream.h"
#include "page.h"

static int is_output(const struct dirent *d)
{
    const char *rest;
    return dir_output_number(d->d_name, &rest) >= 0 && !*rest;
}

static void keep_first(const struct damage *d, void *ctx)
{
    struct entry *e = ctx;
    if (!*e->verdict)
        snprintf(e->verdict, sizeof e->verdict, "damaged: %.60s: %.120s", d->file, d->what);
}

/* Size of all files of the checkpoint, and modification time of the newest one. */
static void weigh(struct entry *e)
{
    DIR *dir = opendir(e->path);
    struct stat st;
    for (struct dirent *d; dir && (d = readdir(dir));) {
        char file[4700];
        snprintf(file, sizeof file, "%s/%s", e->path, d->d_name);
        if (stat(file, &st) != 0 || !S_ISREG(st.st_mode)) continue;
        e->bytes += st.st_size;
        if (st.st_mtime > e->written) e->written = st.st_mtime;
    }
    if (dir) closedir(dir);
}

/* First line of the provenance with this key, which belongs to the newest run. */
static void find_line(const char *text, const char *key, char *value, size_t n)
{
    size_t k = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        /* the following lines belong to earlier runs */
        if (strncmp(line, "from: ", 6) == 0) return;
        if (strncmp(line, key, k) != 0) continue;
        snprintf(value, n, "%.*s", (int)strcspn(line + k, "\n"), line + k);
        plain_line(value);
        return;
    }
}

static void read_head(struct entry *e, struct source *s)
{
    size_t n;
    char *text = NULL;
    e->number = s->number, e->ranks = s->nwriter;
    e->t = s->head.t, e->a = s->head.aexp, e->cosmo = s->head.cosmo;
    e->coarse = s->head.nstep_coarse, e->fine = s->head.nstep;
    e->gas = s->head.hydro, e->parts = s->head.particles, e->levelmin = s->head.levelmin;
    e->readable = true;
    if (source_text(s, FILES_HISTORY, &text, &n) == OK && text) {
        char *lines = mem_zero(n + 1, "provenance");
        memcpy(lines, text, n);
        find_line(lines, "job: ", e->job, sizeof e->job);
        find_line(lines, "ptah ", e->version, sizeof e->version);
        mem_free(lines);
    }
    mem_free(text);
}

static void look_at(struct entry *e, const struct options *o)
{
    struct source *s = NULL;
    struct check_found f = {0};
    struct check_how how = {.depth = CHECK_WHOLE, .memory = o->memory, .fn = keep_first, .ctx = e};
    const char *name = strrchr(e->path, '/'), *rest;
    e->number = dir_output_number(name ? name + 1 : e->path, &rest);
    enum err err = source_open(e->path, &s);
    if (err == OK) read_head(e, s);
    source_close(&s);
    if (err == OK && !o->quiet) err = ckpt_check(e->path, &how, &f);
    e->octs = f.octs, e->particles = f.particles;
    e->sound = err == OK && f.damages == 0;
    if (err != OK)
        snprintf(e->verdict, sizeof e->verdict, "unreadable: %.180s", err_message());
    else if (o->quiet)
        snprintf(e->verdict, sizeof e->verdict, "not checked");
    else if (e->sound)
        snprintf(e->verdict, sizeof e->verdict, "sound");
    plain_line(e->verdict);
}

void entry_written(const struct entry *e, char *text, size_t n)
{
    struct tm utc;
    snprintf(text, n, "-");
    if (gmtime_r(&e->written, &utc)) strftime(text, n, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

void entry_position(const struct entry *e, char *text, size_t n)
{
    if (!e->readable)
        snprintf(text, n, "-");
    else
        snprintf(text, n, e->cosmo ? "z=%.4f" : "t=%.6g", e->cosmo ? 1 / e->a - 1 : e->t);
}

static void print_line(const struct entry *e, const struct options *o)
{
    char when[32], location[48];
    entry_written(e, when, sizeof when);
    entry_position(e, location, sizeof location);
    if (o->json) {
        json_begin("campaign", e->path);
        json_count("output", e->number);
        json_number("time", e->t);
        if (e->cosmo) json_number("aexp", e->a);
        json_count("coarse_steps", e->coarse);
        json_count("fine_steps", e->fine);
        json_count("ranks", e->ranks);
        json_count("bytes", e->bytes);
        json_text("written", when);
        json_number("wall_s", e->wall);
        json_text("job", e->job);
        json_text("version", e->version);
        json_bool("sound", e->sound);
        json_text("verdict", e->verdict);
        json_end();
        return;
    }
    printf("%05d\t%s\t%d\t%d\t%d\t%.1f\t%s\t%.0f\t%s\t%s\n", e->number, location, e->coarse,
           e->fine, e->ranks, (double)e->bytes / 1048576, when, e->wall, *e->job ? e->job : "-",
           e->verdict);
}

static struct entry *find_entry(const struct campaign *c, const char *path)
{
    for (int i = 0; i < c->n; i++)
        if (strcmp(c->all[i].path, path) == 0) return &c->all[i];
    return NULL;
}

/* Looks at a checkpoint, unless it is as it was. */
static bool renew(struct entry *e, const struct entry *was, const struct options *o)
{
    weigh(e);
    if (was && was->bytes == e->bytes && was->written == e->written) {
        *e = *was;
        return false;
    }
    look_at(e, o);
    return true;
}

enum err campaign_renew(struct campaign *c, const struct options *o, bool *news)
{
    struct dirent **list = NULL;
    int n = scandir(c->path, &list, is_output, alphasort);
    if (n < 0) FAIL(ERR_FILE, "%s: the directory cannot be read", c->path);
    struct entry *all = mem_zero(sizeof *all * (size_t)(n + 1), "campaign");
    *news = n != c->n;
    for (int i = 0; i < n; i++) {
        struct entry *e = &all[i];
        snprintf(e->path, sizeof e->path, "%.4000s/%s", c->path, list[i]->d_name);
        *news |= renew(e, find_entry(c, e->path), o);
        /* from the previous checkpoint on, pauses between jobs included */
        e->wall = i ? difftime(e->written, e[-1].written) : 0;
        free(list[i]);
    }
    free(list);
    FREE(c->all);
    c->all = all, c->n = n;
    return OK;
}

enum err campaign_show(const struct campaign *c, const struct options *o, int *status)
{
    if (!o->json && !o->quiet)
        puts("# output\tplace\tcoarse\tfine\tranks\tMiB\twritten\twall_s\tjob\tverdict");
    for (int i = 0; i < c->n; i++) {
        print_line(&c->all[i], o);
        if (!c->all[i].sound && !o->quiet) *status = NO;
    }
    return o->html && c->n > 0 ? page_write(c->path, c->all, c->n, o) : OK;
}

enum err campaign_print(const char *path, const struct options *o, int *status)
{
    struct campaign c = {.path = path};
    bool news;
    if (o->html) TRY(temp_may_write(o->html, o->force));
    TRY(campaign_renew(&c, o, &news));
    const int n = c.n;
    enum err err = n > 0 ? campaign_show(&c, o, status) : OK;
    FREE(c.all);
    if (n == 0) FAIL(ERR_FILE, "%s: there are no checkpoints output_NNNNN in this directory", path);
    return err;
}
