/* inspect: what is in a checkpoint: summary, digest, map. See man/inspect.1. */
#include "inspect.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/opt.h"
#include "ckpt/digest.h"

enum { DONE = 0, TROUBLE = 2, GO_ON = -1, PIXELS_MAX = 16384 };

static const struct opt ROWS[] = {
    {'j', "json", NULL, "JSON, one line a checkpoint"},
    {'d', "digest", NULL, "digest of the physical state, equal for any ranks and order (with -q: one line)"},
    {'m', "map", "FIELD", "map of a field as PNG, projected along the line of sight; dm, star: particles"},
    {'a', "axis", "AXIS", "line of sight of the map: x, y or z (default z)"},
    {'o', "output", "FILE", "the map's file, - for standard output (default FIELD_NNNNN.png)"},
    {'n', "pixels", "N", "pixels a side of the map (default 512)"},
    {'q', "quiet", NULL, "say less"},
    {'v', "verbose", NULL, "say more"},
    {'V', "version", NULL, "print the version"},
    {'h', "help", NULL, "print this help"},
    {0, NULL, NULL, NULL}};

static const char SYNOPSIS[] = "inspect [options] DIR…   (DIR - : paths from standard input, one a line)";
static const char PURPOSE[] =
    "Prints what is in checkpoints (RAMSES output directories): a summary, a digest or a map.";

static int parse(int argc, char **argv, struct options *o);
static int inspect_all(int n, char **paths, struct options *o);
static int flush_stdout(void);

int main(int argc, char **argv)
{
    struct options o = {.axis = 2, .pixels = 512};
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error that we report */
    int status = parse(argc, argv, &o);
    if (status == GO_ON) {
        log_init(true, o.quiet ? -1 : o.verbose);
        status = inspect_all(o.npath, o.paths, &o);
    }
    return flush_stdout() ? TROUBLE : status;
}

static int flush_stdout(void)
{
    if (!ferror(stdout) && fflush(stdout) == 0) return 0;
    fprintf(stderr, "inspect: standard output: %s\n", errno ? strerror(errno) : "cannot write");
    return 1;
}

static int usage(const char *what, const char *value)
{
    fprintf(stderr, "inspect: %s%s%s (see inspect -h)\n", what, value ? " " : "", value ? value : "");
    return TROUBLE;
}

static int set_pixels(const char *value, struct options *o)
{
    char *end;
    long n = strtol(value, &end, 10);
    if (end == value || *end || n < 1 || n > PIXELS_MAX) return usage("the pixels are 1 to 16384, not", value);
    o->pixels = (int)n;
    return GO_ON;
}

static int set_axis(const char *value, struct options *o)
{
    if (strlen(value) != 1 || !strchr("xyz", *value)) return usage("the axis is x, y or z, not", value);
    o->axis = *value - 'x';
    return GO_ON;
}

/* The status to end with, or GO_ON. */
static int set_option(int letter, const char *value, struct options *o)
{
    switch (letter) {
    case 'j':
        o->json = true;
        break;
    case 'd':
        o->digest = true;
        break;
    case 'm':
        o->field = value;
        break;
    case 'a':
        return set_axis(value, o);
    case 'o':
        o->out = value;
        break;
    case 'n':
        return set_pixels(value, o);
    case 'q':
        o->quiet = true;
        break;
    case 'v':
        o->verbose++;
        break;
    case 'h':
        opt_usage(stdout, SYNOPSIS, PURPOSE, ROWS);
        return DONE;
    case 'V':
        puts("ptah inspect 0.1");
        return DONE;
    default:
        fprintf(stderr, "%s\n", err_message());
        return TROUBLE;
    }
    return GO_ON;
}

static int parse(int argc, char **argv, struct options *o)
{
    struct opt_scan s;
    int status;
    opt_begin(&s, argc, argv, ROWS);
    for (int c; (c = opt_next(&s)) != 0;)
        if ((status = set_option(c, s.value, o)) != GO_ON) return status;
    o->paths = argv + s.index;
    o->npath = argc - s.index;
    if (o->npath == 0) return usage("no checkpoint named", NULL);
    if (o->digest && o->field) return usage("-d and -m exclude each other", NULL);
    if (o->json && o->field) return usage("-j and -m exclude each other", NULL);
    if (o->out && !o->field) return usage("-o needs -m", NULL);
    o->many = o->npath > 1 || strcmp(o->paths[0], "-") == 0;
    if (o->out && o->many) return usage("-o takes one checkpoint", NULL);
    return GO_ON;
}

static int inspect_one(const char *path, const struct options *o)
{
    struct ramses *r;
    enum err err = ramses_open(path, &r);
    if (err == OK)
        err = o->field ? map_draw(r, path, o) : o->digest ? digest_print(r, path, o) : summary_print(r, path, o);
    ramses_close(&r);
    log_live(NULL);
    if (err != OK) {
        fflush(stdout);
        fprintf(stderr, "inspect: %s\n", err_message());
        return TROUBLE;
    }
    return ferror(stdout) || fflush(stdout) != 0 ? TROUBLE : DONE;
}

static int inspect_stdin(const struct options *o)
{
    char *line = NULL;
    size_t room = 0;
    int status = DONE;
    for (ssize_t n; !ferror(stdout) && (n = getline(&line, &room, stdin)) >= 0;) {
        if (n > 0 && line[n - 1] == '\n') line[--n] = 0;
        if (n > 0 && inspect_one(line, o) != DONE) status = TROUBLE;
    }
    if (ferror(stdin)) status = usage("cannot read standard input", NULL);
    free(line);
    return status;
}

static int inspect_all(int n, char **paths, struct options *o)
{
    int status = DONE;
    for (int i = 0; i < n && !ferror(stdout); i++) {
        int s = strcmp(paths[i], "-") == 0 ? inspect_stdin(o) : inspect_one(paths[i], o);
        if (s != DONE) status = s;
    }
    return status;
}

enum err digest_print(struct ramses *r, const char *path, const struct options *o)
{
    struct digest d;
    char hex[33];
    TRY(digest_snapshot(r, &d));
    digest_hex(d.state, hex);
    if (o->json) {
        printf("{\"path\":");
        json_string(path);
        printf(",\"state\":\"%s\"", hex);
        for (int i = 0; i < d.n; i++) {
            digest_hex(d.line[i].hash, hex);
            printf(",\"%s\":\"%s\"", d.line[i].name, hex);
        }
        printf("}\n");
        return OK;
    }
    if (o->quiet) {
        printf("%s  %s\n", hex, path);
        return OK;
    }
    if (o->many) printf("%s:\n", path);
    printf("%s  state\n", hex);
    for (int i = 0; i < d.n; i++) {
        digest_hex(d.line[i].hash, hex);
        printf("%s  %s\n", hex, d.line[i].name);
    }
    return OK;
}

void json_string(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            printf("\\%c", *s);
        else if ((unsigned char)*s < 32)
            printf("\\u%04x", (unsigned char)*s);
        else
            putchar(*s);
    }
    putchar('"');
}
