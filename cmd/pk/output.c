/* pk/output: see output.h. */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/stream.h"

struct content {
    const struct pk_table *table;
    const struct plot *plot; /* or a table */
    bool json, png;
};

enum err output_may_write(const char *path, bool force)
{
    if (!force && stream_would_replace(path))
        FAIL(ERR_FILE, "%s: exists; --force replaces it", path);
    return OK;
}

/* 0, or errno. */
static int write_content(FILE *out, const struct content *c)
{
    if (c->plot) return (c->png ? canvas_png : canvas_svg)(out, plot_draw, c->plot);
    (c->json ? pk_table_json : pk_table_tsv)(out, c->table);
    return 0;
}

static enum err save(const char *path, bool force, const struct content *c)
{
    TRY(output_may_write(path, force));
    struct stream s;
    TRY(stream_open(&s, path));
    return stream_close(&s, write_content(s.f, c));
}

enum err output_table(const char *dir, int number, bool json, bool force, const struct pk_table *t,
                      size_t size, char *path)
{
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        FAIL(ERR_FILE, "%s: cannot create the directory: %s", dir, strerror(errno));
    if (snprintf(path, size, "%s/pk_%05d.%s", dir, number, json ? "json" : "tsv") >= (int)size)
        FAIL(ERR_FILE, "%.80s…: path too long", dir);
    return save(path, force, &(struct content){.table = t, .json = json});
}

static bool ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

bool output_plot_kind(const char *path)
{
    return ends_with(path, ".svg") || ends_with(path, ".png");
}

enum err output_plot(const struct plot *p, const char *path, bool force)
{
    return save(path, force, &(struct content){.plot = p, .png = ends_with(path, ".png")});
}
