#include "output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "ckpt/files.h"
#include "io/stream.h"
#include "plot/picture.h"

enum err output_table(const char *dir, int number, bool json, bool force, const struct pk_table *t,
                      char path[PATH_MAX])
{
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        FAIL(ERR_FILE, "%s: cannot create the directory: %s", dir, strerror(errno));
    TRY(files_path(dir, json ? FILES_PK_JSON : FILES_PK_TABLE, number, 0, path));
    TRY(temp_may_write(path, force));
    struct stream s;
    TRY(stream_open(&s, path));
    (json ? pk_table_json : pk_table_tsv)(s.f, t);
    return stream_close(&s, 0);
}

enum err output_plot(const struct spectra *p, const char *path, bool force)
{
    TRY(temp_may_write(path, force));
    struct picture q = {.format = picture_format_of(path), .draw = spectra_draw, .what = p};
    return picture_save(path, &q);
}
