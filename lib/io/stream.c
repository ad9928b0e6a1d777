/* io/stream: see stream.h. */
#include "io/stream.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char PART[] = ".part";

/* NAME.part, or NAME.TAG.part with a tag of six letters and digits. */
size_t stream_is_part(const char *name)
{
    enum { TAG = 6 };
    size_t n = strlen(name), end = sizeof PART - 1, tag = 0;
    if (n <= end || strcmp(name + n - end, PART) != 0) return 0;
    n -= end;
    while (tag < TAG && tag < n && isalnum((unsigned char)name[n - 1 - tag])) tag++;
    return tag == TAG && n > TAG + 1 && name[n - 1 - TAG] == '.' ? n - 1 - TAG : n;
}

/* File systems without locks do not tell: there it stays. */
bool stream_clear(const char *part)
{
    int fd = open(part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    bool free = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                flock(fd, LOCK_EX | LOCK_NB) == 0;
    free = free && unlink(part) == 0;
    if (fd >= 0) close(fd);
    return free;
}

/* Is something there, and no device or the like? */
static bool would_replace(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

enum err stream_may_write(const char *path, bool force)
{
    if (!force && would_replace(path)) FAIL(ERR_FILE, "%s: exists; --force replaces it", path);
    return OK;
}

enum err stream_open(struct stream *s, const char *path)
{
    struct stat st;
    if (snprintf(s->path, sizeof s->path, "%s", path) >= (int)sizeof s->path ||
        snprintf(s->part, sizeof s->part, "%s%s", path, PART) >= (int)sizeof s->part)
        FAIL(ERR_FILE, "%.80s…: path too long", path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) s->part[0] = 0;
    s->f = fopen(s->part[0] ? s->part : path, "wb");
    if (!s->f) FAIL(ERR_FILE, "%s: cannot create: %s", path, strerror(errno));
    if (s->part[0]) (void)!flock(fileno(s->f), LOCK_EX | LOCK_NB); /* for stream_clear */
    return OK;
}

enum err stream_close(struct stream *s, int why)
{
    errno = 0;
    bool flushed = fflush(s->f) == 0; /* after an error before: once more, for its reason */
    if (!why && (ferror(s->f) || !flushed)) why = errno ? errno : EIO;
    if (!why && s->part[0] && fsync(fileno(s->f)) != 0) why = errno;
    if (fclose(s->f) != 0 && !why) why = errno;
    if (!why && s->part[0] && rename(s->part, s->path) != 0) why = errno;
    if (!why) return OK;
    if (s->part[0]) unlink(s->part);
    FAIL(ERR_FILE, "%s: cannot write: %s", s->path, strerror(why));
}

void stream_drop(struct stream *s)
{
    fclose(s->f);
    if (s->part[0]) unlink(s->part);
}
