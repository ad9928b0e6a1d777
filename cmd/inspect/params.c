/* inspect: -p, the origin of a checkpoint and the parameters of its run: compilation.txt and
 * namelist.txt next to the data. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ckpt/info.h"
#include "formats/formats.h"
#include "grid/grid.h"
#include "inspect.h"
#include "io/file.h"
#include "param/nml.h"
#include "param/param.h"
#include "sphfile/either.h"

static void print_text(const char *path, const char *from, const char *list,
                       const struct options *o);
static void print_json(const char *path, char *from, const char *list, size_t n);

/* Loads a text file; *text stays NULL if it does not exist. */
static enum err load(const struct source *r, enum files_kind k, char **text, size_t *n)
{
    char path[PATH_MAX];
    TRY(info_path(r, k, path));
    return file_exists(path) ? file_load(path, NML_BYTES_MAX, text, n) : OK;
}

/* The texts of smoothed particles; a dump of Phantom has none. */
static enum err load_particles(const char *path, char **from, size_t *nfrom, char **list, size_t *n)
{
    struct sphfile *f = NULL;
    if (!sphfile_is(path)) return OK;
    TRY(sphfile_open(path, &f));
    enum err err = sphfile_text(f, true, from, nfrom);
    if (err == OK) err = sphfile_text(f, false, list, n);
    sphfile_close(&f);
    return err;
}

/* The texts of a checkpoint of any kind. */
static enum err load_texts(const char *path, char **from, size_t *nfrom, char **list, size_t *n)
{
    struct source *r = NULL;
    struct grid *g = NULL;
    if (sphfile_either_is(path)) return load_particles(path, from, nfrom, list, n);
    enum err err = grid_is(path) ? grid_open(path, &g) : source_open(path, &r);
    if (err == OK && g) err = grid_text(g, true, from, nfrom);
    if (err == OK && g) err = grid_text(g, false, list, n);
    if (err == OK && r) err = load(r, FILES_HISTORY, from, nfrom);
    if (err == OK && r) err = load(r, FILES_NAMELIST, list, n);
    grid_close(&g);
    source_close(&r);
    return err;
}

enum err params_print(const char *path, const struct options *o, int *status)
{
    char *from = NULL, *list = NULL;
    size_t n = 0, m = 0;
    enum err err = load_texts(path, &from, &n, &list, &m);
    if (from) plain_text(from);
    if (list && !o->json) plain_text(list);
    if (err == OK && o->json)
        print_json(path, from, list, m);
    else if (err == OK)
        print_text(path, from, list, o);
    mem_free(from);
    mem_free(list);
    return err;
}

static void print_text(const char *path, const char *from, const char *list,
                       const struct options *o)
{
    if (!o->quiet) {
        printf("%s\n\nprovenance:\n%s", path, from ? from : "not kept\n");
        if (from && *from && from[strlen(from) - 1] != '\n') putchar('\n');
        printf("\nnamelist:\n");
    }
    printf("%s", list ? list : o->quiet ? "" : "not kept\n");
    if (list && *list && list[strlen(list) - 1] != '\n') putchar('\n');
    if (o->many && !o->quiet) putchar('\n');
}

static void print_item(const struct nml *list, const struct nml_item *it)
{
    printf("\"%s", it->name);
    for (int i = 0; i < it->rank; i++) {
        const struct nml_index *x = &it->index[i];
        printf("%s", i ? "," : "(");
        if (x->has_lo) printf("%ld", (long)x->lo);
        if (x->section) printf(":");
        if (x->section && x->has_hi) printf("%ld", (long)x->hi);
        if (x->step != 1) printf(":%ld", (long)x->step);
    }
    printf("%s\":[", it->rank ? ")" : "");
    for (size_t v = 0; v < it->count; v++) {
        const struct nml_value *x = &list->values[it->first + v];
        if (v) putchar(',');
        if (x->repeat > 1) printf("{\"repeat\":%ld,\"value\":", (long)x->repeat);
        if (x->kind == NML_NULL)
            printf("null");
        else
            json_string(x->text);
        if (x->repeat > 1) putchar('}');
    }
    printf("]");
}

/* Prints parameters. Values stay strings as they were written. A name that is set twice is printed
 * twice; as in Fortran, the last value counts. */
static void print_parameters(const struct nml *list)
{
    printf(",\"parameters\":{");
    for (size_t g = 0; g < list->ngroup; g++) {
        int n = 0;
        printf("%s\"%s\":{", g ? "," : "", list->groups[g].name);
        for (size_t i = 0; i < list->nitem; i++) {
            if (list->items[i].group != g) continue;
            if (n++) putchar(',');
            print_item(list, &list->items[i]);
        }
        printf("}");
    }
    printf("}");
}

static void print_json(const char *path, char *from, const char *list, size_t n)
{
    struct nml items;
    char *save = NULL;
    json_begin("params", path);
    printf(",\"provenance\":[");
    int k = 0;
    for (char *line = from ? strtok_r(from, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save)) {
        if (k++) putchar(',');
        json_string(line);
    }
    printf("]");
    json_text("namelist", list ? list : "");
    if (list && nml_parse(&items, list, n, "namelist.txt", &param_names) == OK) {
        print_parameters(&items);
        nml_free(&items);
    } else {
        printf(",\"parameters\":null");
    }
    json_end();
}
