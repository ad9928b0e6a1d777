/* inspect: --campaign --html: one page about a run. Figures are inline SVG, so that the page is a
 * single file without references to others. */
#include "page.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "io/stream.h"
#include "progress/progress.h"

/* With &lt; and the like. */
static void page_text(FILE *out, const char *s)
{
    static const char special[] = "&<>\"'", *const name[] = {"amp", "lt", "gt", "quot", "#39"};
    for (; *s; s++) {
        const char *at = strchr(special, *s);
        if (at)
            fprintf(out, "&%s;", name[at - special]);
        else
            fputc((unsigned char)*s < 32 ? ' ' : *s, out);
    }
}

void page_note(struct page *p, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fputs("<p class=\"note\">", p->out);
    page_text(p->out, text);
    fputs("</p>\n", p->out);
}

/* Copies a drawing; the number of the figure is added to its ids, which would otherwise repeat in
 * other figures. */
static void put_svg(struct page *p, const char *s)
{
    static const char *const before[] = {" id=\"", "href=\"#", "url(#"};
    s = strstr(s, "<svg");
    while (s && *s) {
        size_t length = 0;
        for (int i = 0; i < 3 && !length; i++)
            if (strncmp(s, before[i], strlen(before[i])) == 0) length = strlen(before[i]);
        fwrite(s, 1, length ? length : 1, p->out);
        if (length) fprintf(p->out, "f%d-", p->figures);
        s += length ? length : 1;
    }
}

enum err page_figure(struct page *p, struct picture *q, const char *caption)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    q->format = PICTURE_SVG;
    enum err err = f ? picture_write(f, p->name, q)
                     : err_set(ERR_LIMIT, "out of memory for a figure");
    if (f) fclose(f);
    if (err == OK) {
        p->figures++;
        fputs("<figure>\n", p->out);
        put_svg(p, text);
        fputs("<figcaption>", p->out);
        page_text(p->out, caption);
        fputs("</figcaption>\n</figure>\n", p->out);
    }
    free(text);
    return err;
}

/* ---- the page ---- */

static const char STYLE[] =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:1240px;padding:0 1em;"
    "color:#222;background:#fff}\n"
    "h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em;border-bottom:1px solid #ccc}\n"
    ".figures{display:flex;flex-wrap:wrap;gap:1em}\n"
    "figure{margin:0;flex:1 1 360px;max-width:600px}figure svg{width:100%;height:auto}\n"
    "figcaption,.note{color:#555;font-size:.9em}\n"
    "table{border-collapse:collapse;font-size:.9em}td,th{padding:.15em .8em;text-align:right;"
    "border-bottom:1px solid #ddd}td.left,th.left{text-align:left}\n"
    ".bad{color:#b00020;font-weight:bold}\n";

/* The progress of the run, from its file, if it goes on. */
static void put_progress(struct page *p, const char *dir)
{
    struct progress q;
    bool there = false;
    double age;
    char line[PROGRESS_COLUMNS + 1], since[40];
    if (progress_read(dir, &q, &there, &age) != OK || !there || q.state > PROGRESS_RUNS) return;
    progress_line(&q, age, PROGRESS_COLUMNS, line, sizeof line);
    progress_duration(age, since, sizeof since);
    fputs(progress_is_gone(&q) ? "<b>The run has died at: " : "<b>The run goes on: ", p->out);
    page_text(p->out, line);
    fprintf(p->out, "</b> (last heard of %s ago). ", since);
}

static void put_head(struct page *p, const char *dir)
{
    char first[48], last[48];
    const struct entry *end = &p->e[p->n - 1];
    int bad = 0;
    for (int i = 0; i < p->n; i++) bad += !p->e[i].sound;
    entry_position(p->e, first, sizeof first);
    entry_position(end, last, sizeof last);
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
          p->out);
    page_text(p->out, dir);
    fprintf(p->out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", STYLE);
    page_text(p->out, dir);
    fprintf(p->out, "</h1>\n<p>%d checkpoints from %s to %s, %d coarse steps, ", p->n, first, last,
            end->coarse);
    if (p->o->quiet)
        fputs("not checked", p->out);
    else if (bad)
        fprintf(p->out, "<span class=\"bad\">%d not sound</span>", bad);
    else
        fputs("all sound", p->out);
    fputs(". ", p->out);
    put_progress(p, dir);
    fputs("Records of the run: ", p->out);
    for (int i = 0; i < p->r.nfile; i++) {
        if (i) fputs(", ", p->out);
        page_text(p->out, p->r.file[i]);
    }
    fputs(p->r.nfile ? ".</p>\n" : "none.</p>\n", p->out);
}

static void put_cell(struct page *p, const char *text, bool left)
{
    fputs(left ? "<td class=\"left\">" : "<td>", p->out);
    page_text(p->out, text);
    fputs("</td>", p->out);
}

static void put_table(struct page *p)
{
    fputs("<h2>Checkpoints</h2>\n<table>\n<tr><th>output</th><th>place</th><th>coarse</th>"
          "<th>fine</th><th>ranks</th><th>MiB</th><th>written</th><th>since the last, s</th>"
          "<th class=\"left\">job</th><th class=\"left\">verdict</th></tr>\n",
          p->out);
    for (int i = 0; i < p->n; i++) {
        const struct entry *e = &p->e[i];
        char when[32], location[48];
        entry_written(e, when, sizeof when);
        entry_position(e, location, sizeof location);
        fprintf(p->out, "<tr><td>%05d</td>", e->number);
        put_cell(p, location, false);
        fprintf(p->out, "<td>%d</td><td>%d</td><td>%d</td><td>%.1f</td><td>%s</td><td>%.0f</td>",
                e->coarse, e->fine, e->ranks, (double)e->bytes / 1048576, when, e->wall);
        put_cell(p, *e->job ? e->job : "-", true);
        put_cell(p, e->verdict, true);
        fputs("</tr>\n", p->out);
    }
    fputs("</table>\n", p->out);
}

static enum err put_all(struct page *p, const char *dir)
{
    static const struct {
        const char *title;
        enum err (*put)(struct page *p);
    } section[] = {{"Progress", page_progress},     {"Conservation", page_conservation},
                   {"Time and memory", page_costs}, {"Maps", page_maps},
                   {"Power spectra", page_spectra}, {"Star formation", page_stars}};
    put_head(p, dir);
    put_table(p);
    for (size_t i = 0; i < sizeof section / sizeof *section; i++) {
        fprintf(p->out, "<h2>%s</h2>\n<div class=\"figures\">\n", section[i].title);
        log_live("page: %s", section[i].title);
        TRY(section[i].put(p));
        fputs("</div>\n", p->out);
    }
    log_live(NULL);
    fprintf(p->out, "<p class=\"note\">Written by inspect --campaign --html.</p>\n</body>\n"
                    "</html>\n");
    return OK;
}

enum err page_write(const char *dir, const struct entry *e, int n, const struct options *o)
{
    struct page p = {.name = o->html, .o = o, .e = e, .n = n};
    char full[PATH_MAX];
    struct stream s;
    if (o->c.size > 1)
        FAIL(ERR_PARAM, "--html is written by one rank: start inspect without mpirun");
    enum err err = records_read(&p.r, dir);
    if (err == OK) err = stream_open(&s, o->html);
    if (err == OK) {
        p.out = s.f;
        err = put_all(&p, realpath(dir, full) ? full : dir);
        if (err == OK)
            err = stream_close(&s, 0);
        else
            stream_drop(&s);
    }
    records_free(&p.r);
    return err;
}
