#include "export/sink.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

enum err sink_open(struct sink *s, const char *path, bool force)
{
    *s = (struct sink){.standard = sink_is_standard(path)};
    if (!s->standard) {
        TRY(temp_may_write(path, force));
        TRY(stream_open(&s->stream, path));
        s->f = s->stream.f;
        return OK;
    }
    if (isatty(STDOUT_FILENO))
        FAIL(ERR_PARAM, "standard output is a terminal: redirect it, or give a file with -o");
    const int fd = dup(STDOUT_FILENO);
    s->f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!s->f) FAIL(ERR_FILE, "standard output cannot be written: %s", strerror(errno));
    return OK;
}

enum err sink_failed(const struct sink *s)
{
    FAIL(ERR_FILE, "%s: cannot write: %s", s->standard ? "standard output" : s->stream.temp.path,
         strerror(errno ? errno : EIO));
}

enum err sink_close(struct sink *s, enum err err)
{
    if (!s->f) return err;
    if (!s->standard && err == OK) return stream_close(&s->stream, 0);
    if (!s->standard) {
        stream_drop(&s->stream);
        return err;
    }
    errno = 0;
    const bool failed = fflush(s->f) != 0 || ferror(s->f);
    if (err == OK && failed) err = sink_failed(s);
    if (fclose(s->f) != 0 && err == OK) err = sink_failed(s);
    return err;
}
