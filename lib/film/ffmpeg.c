/* film/ffmpeg: films of other formats, by the program ffmpeg, which reads pixels from a pipe. It is
 * started without a shell. It writes to the temporary file, or, where the film goes to standard
 * output or a pipe, in fragments. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "film/reel.h"

extern char **environ;

bool reel_ffmpeg(char path[PATH_MAX])
{
    const char *all = getenv("PATH");
    for (const char *p = all ? all : ""; *p;) {
        const size_t n = strcspn(p, ":");
        struct stat st;
        /* names relative to the working directory, which holds data, are left out */
        const bool fits = *p == '/' &&
                          snprintf(path, PATH_MAX, "%.*s/ffmpeg", (int)n, p) < PATH_MAX;
        if (fits && stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

/* ---- its command line ---- */

enum { WORDS = 48, WORD = PATH_MAX + 16 };
struct command {
    int n;
    char *argv[WORDS + 1];
    char size[32], rate[32], file[WORD];
};

static void add_words(struct command *c, const char *const *word)
{
    for (; *word && c->n < WORDS; word++)
        c->argv[c->n++] = (char *)(uintptr_t)*word; /* posix_spawn changes none */
}

static bool to_pipe(const struct reel *r)
{
    return r->out == stdout || !*r->s.temp.name;
}

/* H.264 of the colours of high definition; widths and heights must be even. */
static void add_format(struct command *c, const struct reel *r)
{
    static const char *const MP4[] = {"-vf",
                                      "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white,"
                                      "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p",
                                      "-colorspace",
                                      "bt709",
                                      "-color_primaries",
                                      "bt709",
                                      "-color_trc",
                                      "bt709",
                                      "-f",
                                      "mp4",
                                      "-movflags",
                                      NULL};
    static const char *const GIF[] = {
        "-vf", "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none", "-f", "gif", NULL};
    static const char *const WHOLE[] = {"+faststart", NULL}, *const PIECES[] = {
                                                                 "+frag_keyframe+empty_moov", NULL};
    const bool mp4 = r->how.format == FILM_MP4;
    add_words(c, mp4 ? MP4 : GIF);
    if (mp4) add_words(c, to_pipe(r) ? PIECES : WHOLE);
}

static void make_command(struct command *c, const struct reel *r, const char *program)
{
    const char *const input[] = {
        program, "-hide_banner", "-loglevel", "error",      "-y",    "-f", "rawvideo", "-pix_fmt",
        "rgb24", "-video_size",  c->size,     "-framerate", c->rate, "-i", "pipe:0",   NULL};
    const char *const output[] = {c->file, NULL};
    snprintf(c->size, sizeof c->size, "%dx%d", r->columns, r->rows);
    snprintf(c->rate, sizeof c->rate, "%.9g", r->how.rate);
    if (to_pipe(r))
        snprintf(c->file, sizeof c->file, "pipe:1");
    else
        snprintf(c->file, sizeof c->file, "file:%s", r->s.temp.name);
    c->n = 0;
    add_words(c, input);
    add_format(c, r);
    add_words(c, output);
    c->argv[c->n] = NULL;
}

/* ---- the process ---- */

/* Starts it: standard input is `in`, standard output the file or nothing. Returns 0 or an errno. */
static int spawn(struct reel *r, const struct command *c, int in)
{
    posix_spawn_file_actions_t to;
    posix_spawnattr_t how;
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE); /* which this program ignores */
    if (posix_spawn_file_actions_init(&to) != 0) return ENOMEM;
    if (posix_spawnattr_init(&how) != 0) {
        posix_spawn_file_actions_destroy(&to);
        return ENOMEM;
    }
    int why = posix_spawn_file_actions_adddup2(&to, in, 0);
    if (!why && r->out != stdout && to_pipe(r))
        why = posix_spawn_file_actions_adddup2(&to, r->s.temp.fd, 1);
    if (!why && !to_pipe(r))
        why = posix_spawn_file_actions_addopen(&to, 1, "/dev/null", O_WRONLY, 0);
    if (!why) why = posix_spawn_file_actions_adddup2(&to, r->errors, 2);
    if (!why) why = posix_spawnattr_setsigdefault(&how, &pipes);
    if (!why) why = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
    if (!why) why = posix_spawn(&r->pid, c->argv[0], &to, &how, c->argv, environ);
    posix_spawn_file_actions_destroy(&to);
    posix_spawnattr_destroy(&how);
    if (why) r->pid = 0;
    return why;
}

static enum err begin(struct reel *r)
{
    char program[PATH_MAX];
    struct command c;
    int ends[2];
    if (!reel_ffmpeg(program))
        FAIL(ERR_FILE,
             "%s: this format needs the program ffmpeg, which is in no directory of PATH; FILE.png "
             "is an animated PNG without it",
             r->path);
    make_command(&c, r, program);
    r->errors = memfd_create("ffmpeg", MFD_CLOEXEC);
    if (r->errors < 0 || pipe2(ends, O_CLOEXEC) != 0)
        FAIL(ERR_FILE, "%s: cannot be started: %s", program, strerror(errno));
    const int why = spawn(r, &c, ends[0]);
    close(ends[0]);
    r->to = why ? NULL : fdopen(ends[1], "wb");
    if (r->to) return OK;
    const int cause = why ? why : errno;
    close(ends[1]);
    FAIL(ERR_FILE, "%s: cannot be started: %s", program, strerror(cause));
}

/* Waits for its end. Returns its status as waitpid does. */
static int await(struct reel *r)
{
    int status = 0;
    if (r->to) fclose(r->to);
    r->to = NULL;
    while (r->pid && waitpid(r->pid, &status, 0) < 0 && errno == EINTR) continue;
    r->pid = 0;
    return status;
}

/* The first line of its messages. */
static void first_message(const struct reel *r, char *text, size_t room)
{
    const ssize_t n = pread(r->errors, text, room - 1, 0);
    text[n > 0 ? n : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ') *p = ' ';
}

static enum err tell(const struct reel *r, int status)
{
    char text[300];
    first_message(r, text, sizeof text);
    const char *colon = *text ? ": " : "";
    if (WIFSIGNALED(status))
        FAIL(ERR_FILE, "%s: ffmpeg was ended by signal %d (%s)%s%s", r->path, WTERMSIG(status),
             strsignal(WTERMSIG(status)), colon, text);
    FAIL(ERR_FILE, "%s: ffmpeg failed with exit status %d%s%s", r->path,
         WIFEXITED(status) ? WEXITSTATUS(status) : status, colon, text);
}

static enum err add(struct reel *r, const void *picture)
{
    errno = 0;
    if (fwrite(picture, r->bytes, 1, r->to) == 1) return OK;
    const int why = errno, status = await(r);
    if (status != 0) return tell(r, status);
    FAIL(ERR_FILE, "%s: ffmpeg takes no more pixels: %s", r->path, strerror(why));
}

static void drop(struct reel *r)
{
    if (r->pid) kill(r->pid, SIGKILL);
    await(r);
    if (r->errors >= 0) close(r->errors);
    r->errors = -1;
}

static enum err end(struct reel *r)
{
    errno = 0;
    const bool flushed = fflush(r->to) == 0;
    const int why = errno, status = await(r);
    struct stat st;
    if (status != 0) return tell(r, status);
    if (!flushed) FAIL(ERR_FILE, "%s: ffmpeg takes no more pixels: %s", r->path, strerror(why));
    if (!to_pipe(r) && (fstat(r->s.temp.fd, &st) != 0 || st.st_size == 0))
        FAIL(ERR_FILE, "%s: ffmpeg wrote nothing", r->path);
    drop(r);
    return OK;
}

const struct reel_kind reel_piped = {.begin = begin, .add = add, .end = end, .drop = drop};
