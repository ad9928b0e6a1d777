#include "io/stream.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum err stream_open(struct stream *s, const char *path)
{
    TRY(temp_create(&s->temp, path));
    /* a duplicate descriptor keeps the file locked after stdio has closed its own */
    int fd = dup(s->temp.fd);
    s->f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (s->f) return OK;
    int why = errno;
    if (fd >= 0) close(fd);
    temp_drop(&s->temp);
    FAIL(ERR_FILE, "%s: cannot create: %s", path, strerror(why));
}

enum err stream_close(struct stream *s, int why)
{
    errno = 0;
    bool flushed = fflush(s->f) == 0; /* after an earlier error again, for errno */
    if (!why && (ferror(s->f) || !flushed)) why = errno ? errno : EIO;
    if (fclose(s->f) != 0 && !why) why = errno;
    enum err err = OK;
    if (why) err = err_set(ERR_FILE, "%s: cannot write: %s", s->temp.path, strerror(why));
    if (err == OK) err = temp_sync(&s->temp);
    if (err == OK) return temp_publish(&s->temp);
    temp_drop(&s->temp);
    return err;
}

void stream_drop(struct stream *s)
{
    fclose(s->f);
    temp_drop(&s->temp);
}
