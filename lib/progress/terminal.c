/* progress/terminal: whether a person watches.
 *
 * Open MPI and MPICH give their programs a pipe as standard error. The program that reads this pipe
 * is an ancestor of this one; if its own standard error is a terminal, what goes into the pipe is
 * seen there. A pipe to another program (tee), and a log file, are no terminals. Linux only: the
 * files of /proc; elsewhere, and where ranks are started by a daemon of another machine, --live
 * decides. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/file.h"
#include "progress/progress.h"

enum {
    ANCESTORS = 6,
    PATH = 64,
    LINK = 128,
    STAT = 4096,
    COLUMNS_USUAL = 80,
    HANDED_ON_US = 50000 /* a launcher hands on what it reads in less, if it has a processor */
};

/* Terminal that is watched: descriptor, −1 if not known; process whose standard error it is, and
 * which the shell puts in the background. */
static int terminal = -1;
static int64_t owner;
static bool shows;

/* Fields 4 (parent), 5 (group) and 8 (group in the foreground of its terminal) of a process. */
static bool stat_of(int64_t pid, long *parent, long *group, long *front)
{
    char path[PATH], *text = NULL;
    size_t n;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    if (file_load_any(path, STAT, &text, &n) != OK) return false;
    const char *at = strrchr(text, ')');
    const bool got = at && sscanf(at, ") %*c %ld %ld %*d %*d %ld", parent, group, front) == 3;
    mem_free(text);
    return got;
}

static bool link_of(int64_t pid, const char *fd, char text[LINK])
{
    char path[PATH];
    snprintf(path, sizeof path, "/proc/%ld/fd/%.20s", (long)pid, fd);
    const ssize_t n = readlink(path, text, LINK - 1);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* Whether the process has this pipe open. */
static bool holds(int64_t pid, const char *pipe)
{
    char path[PATH], text[LINK];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    DIR *dir = opendir(path);
    for (struct dirent *d; dir && !found && (d = readdir(dir));)
        found = link_of(pid, d->d_name, text) && strcmp(text, pipe) == 0;
    if (dir) closedir(dir);
    return found;
}

/* The terminal at the end of pipes of launchers, which hand on what they read. */
static void find_by_pipes(void)
{
    char pipe[LINK];
    long parent, group, front;
    if (!link_of(getpid(), "2", pipe)) return;
    owner = getpid();
    for (int i = 0; i < ANCESTORS; i++) {
        if (strncmp(pipe, "pipe:", 5) != 0 && strncmp(pipe, "socket:", 7) != 0) break;
        if (!stat_of(owner, &parent, &group, &front) || parent <= 1) return;
        owner = parent;
        if (holds(owner, pipe) && !link_of(owner, "2", pipe)) return;
    }
    char path[PATH];
    if (strncmp(pipe, "/dev/pts/", 9) != 0 && strncmp(pipe, "/dev/tty", 8) != 0) return;
    snprintf(path, sizeof path, "/proc/%ld/fd/2", (long)owner);
    shows = file_open_any(path, &terminal) == OK && isatty(terminal);
}

void progress_watch(enum progress_wish wish)
{
    shows = false;
    if (isatty(STDERR_FILENO))
        terminal = STDERR_FILENO, owner = getpid(), shows = true;
    else if (wish != PROGRESS_NEVER)
        find_by_pipes();
    shows = wish == PROGRESS_ALWAYS || (wish == PROGRESS_AUTO && shows && log_live_able());
    log_live_to(shows, !log_live_able());
}

int progress_columns(void)
{
    struct winsize w = {0};
    long parent, group, front;
    if (!shows) return 0;
    if (terminal < 0 || ioctl(terminal, TIOCGWINSZ, &w) != 0 || w.ws_col < 2) return COLUMNS_USUAL;
    const bool behind = stat_of(owner, &parent, &group, &front) && front > 0 && group != front;
    return behind ? 0 : w.ws_col - 1;
}

void progress_step_aside(void)
{
    if (!shows) return;
    log_live(NULL);
    if (terminal != STDERR_FILENO) usleep(HANDED_ON_US);
}
