/* observe/series: a table that grows, and is cut where a run resumes. */
#include "observe/series.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "io/temp.h"

/* Copies the rows before step `it` of an earlier file. */
static void put_earlier(FILE *f, const char *text, int64_t it)
{
    for (const char *line = text, *end; line && *line; line = end) {
        int64_t step;
        const char *at = line;
        end = strchr(line, '\n');
        if (!end) return; /* a row that was not written to its end */
        end++;
        if (text_whole(&at, &step) && step < it) fwrite(line, 1, (size_t)(end - line), f);
    }
}

static enum err replace(const char *path, const char *text, size_t bytes)
{
    struct temp f;
    TRY(temp_create(&f, path));
    enum err err = file_write_at(f.fd, f.name, text, bytes, 0);
    if (err == OK) return temp_publish(&f);
    temp_drop(&f);
    return err;
}

enum err series_begin(const char *path, const char *names, int64_t it)
{
    enum { MAX = 1 << 30 };
    char *text = NULL, *made = NULL;
    size_t bytes = 0, n = 0;
    if (it > 0 && file_exists(path)) TRY(file_load(path, MAX, &text, &bytes));
    FILE *f = open_memstream(&made, &n);
    fputs(names, f);
    put_earlier(f, text, it);
    made = mem_close_text(f, &made, &n, "time series");
    enum err err = replace(path, made, strlen(made));
    mem_free(made);
    mem_free(text);
    return err;
}

enum err series_append(const char *path, int64_t it, int n, const double *x)
{
    FILE *f;
    TRY(file_append(path, &f));
    fprintf(f, "%ld", (long)it);
    for (int i = 0; i < n; i++) {
        fputc(' ', f);
        put_number(f, 10, x[i]);
    }
    fputc('\n', f);
    const bool bad = ferror(f);
    if (fclose(f) != 0 || bad) FAIL(ERR_FILE, "%s: %s", path, strerror(errno));
    return OK;
}
