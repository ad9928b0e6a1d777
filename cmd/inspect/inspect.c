/* inspect: what is in a checkpoint: summary, digest, map. See man/inspect.1. */
#include "inspect.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "ckpt/digest.h"

enum { DONE = 0, TROUBLE = 2, PIXELS_MAX = 16384 };

/* One row an option: the getopt string and the help come from it. */
static const struct {
    char letter;
    const char *name, *value, *help;
} OPTION[] = {
    {'j', "json", NULL, "JSON, one line a checkpoint"},
    {'d', "digest", NULL, "digest of the physical state, equal for any ranks and order (-q: the state's alone)"},
    {'m', "map", "FIELD", "map of a field along the line of sight, as PNG; dm and star: particles"},
    {'a', "axis", "AXIS", "line of sight of the map: x, y or z (default z)"},
    {'o', "output", "FILE", "the map's file, - for standard output (default FIELD_NNNNN.png)"},
    {'n', "pixels", "N", "pixels a side of the map (default 512)"},
    {'q', "quiet", NULL, "say less"},
    {'v', "verbose", NULL, "say more"},
    {'h', "help", NULL, "this text"},
    {'V', "version", NULL, "version"},
};

enum { OPTIONS = sizeof OPTION / sizeof *OPTION };

static int parse(int argc, char **argv, struct options *o);
static int inspect_all(int n, char **paths, struct options *o);
static int flush_stdout(void);

int main(int argc, char **argv)
{
    struct options o = {.axis = 2, .pixels = 512};
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error that we report */
    int status = parse(argc, argv, &o);
    if (status < 0) {
        log_init(true, o.quiet ? -1 : o.verbose);
        status = inspect_all(argc - optind, argv + optind, &o);
    }
    return flush_stdout() ? TROUBLE : status;
}

static int flush_stdout(void)
{
    if (!ferror(stdout) && fflush(stdout) == 0) return 0;
    fprintf(stderr, "inspect: standard output: %s\n", errno ? strerror(errno) : "cannot write");
    return 1;
}

static void print_help(void)
{
    printf(
        "usage: inspect [OPTION]… DIR…\n"
        "Prints what is in checkpoints (RAMSES output directories). DIR - : paths from standard input, one a line.\n\n"
        "  inspect output_00012              summary\n"
        "  inspect -d output_00012           digest of the physical state\n"
        "  inspect -m density output_00012   projected gas density as density_00012.png\n\n");
    for (int i = 0; i < OPTIONS; i++) {
        char left[64];
        snprintf(left, sizeof left, "-%c, --%s%s%s", OPTION[i].letter, OPTION[i].name, OPTION[i].value ? " " : "",
                 OPTION[i].value ? OPTION[i].value : "");
        printf("  %-20s %s\n", left, OPTION[i].help);
    }
    printf("\nExit status: 0 done, 2 trouble.\n");
}

static int usage(const char *what, const char *value)
{
    fprintf(stderr, "inspect: %s%s%s; see inspect -h\n", what, value ? " " : "", value ? value : "");
    return TROUBLE;
}

/* A whole status: the program ends with it; -1: go on. */
static int set_option(int letter, const char *value, struct options *o)
{
    char *end;
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
    case 'o':
        o->out = value;
        break;
    case 'q':
        o->quiet = true;
        break;
    case 'v':
        o->verbose++;
        break;
    case 'h':
        print_help();
        return DONE;
    case 'V':
        printf("inspect (Ptah)\n");
        return DONE;
    case 'a':
        if (strlen(value) != 1 || !strchr("xyz", *value)) return usage("the axis is x, y or z, not", value);
        o->axis = *value - 'x';
        break;
    case 'n':
        o->pixels = (int)strtol(value, &end, 10);
        if (*end || o->pixels < 1 || o->pixels > PIXELS_MAX) return usage("the pixels are 1 to 16384, not", value);
        break;
    default:
        return usage("unknown option or missing value", NULL);
    }
    return -1;
}

static int parse(int argc, char **argv, struct options *o)
{
    char letters[2 * OPTIONS + 1] = "", *s = letters;
    struct option longs[OPTIONS + 1] = {0};
    for (int i = 0; i < OPTIONS; i++) {
        *s++ = OPTION[i].letter;
        if (OPTION[i].value) *s++ = ':';
        longs[i] = (struct option){OPTION[i].name, OPTION[i].value ? required_argument : no_argument, NULL,
                                   OPTION[i].letter};
    }
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, letters, longs, NULL)) != -1;) {
        int status = set_option(c, optarg, o);
        if (status >= 0) return status;
    }
    if (optind == argc) return usage("no checkpoint named", NULL);
    if (o->digest && o->field) return usage("-d and -m exclude each other", NULL);
    if (o->out && !o->field) return usage("-o needs -m", NULL);
    bool many = argc - optind > 1 || strcmp(argv[optind], "-") == 0;
    if (o->out && many) return usage("-o takes one checkpoint", NULL);
    o->many = many;
    return -1;
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
