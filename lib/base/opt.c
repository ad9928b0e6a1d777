/* base/opt: getopt_long(3) underneath, fed from the rows. */
#include "base/opt.h"

#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

void opt_begin(struct opt_scan *s, int argc, char **argv, const struct opt *rows)
{
    *s = (struct opt_scan){.argc = argc, .argv = argv, .rows = rows, .index = 1};
    optind = 0; /* resets getopt_long in glibc */
    opterr = 0; /* suppresses messages of getopt_long in favour of complain() */
    /* a write beyond the file size limit returns an error instead of raising a signal */
    signal(SIGXFSZ, SIG_IGN);
}

static bool is_optional(const struct opt *o)
{
    return o->arg && o->arg[0] == '[';
}

/* The arguments of getopt_long: ":ab:c" and the long options. The leading colon makes it report
 * missing arguments. */
static void tables(const struct opt *rows, char letters[3 * OPT_MAX + 2],
                   struct option longs[OPT_MAX + 1])
{
    char *c = letters;
    int n = 0;
    *c++ = ':';
    for (int i = 0; rows[i].letter; i++) {
        BUG_ON(i == OPT_MAX);
        int letter = OPT_LETTER(&rows[i]);
        if (letter < 256) {
            *c++ = (char)letter;
            if (rows[i].arg) *c++ = ':';
            if (is_optional(&rows[i])) *c++ = ':';
        }
        if (rows[i].name)
            longs[n++] = (struct option){.name = rows[i].name,
                                         .has_arg = is_optional(&rows[i]) ? optional_argument
                                                    : rows[i].arg         ? required_argument
                                                                          : no_argument,
                                         .val = letter};
    }
    *c = 0;
    longs[n] = (struct option){.name = NULL};
}

/* The option whose name is the nearest to a word "--NAME" or "--NAME=VALUE", as the end of a
 * sentence, or "". */
static const char *meant(const struct opt *rows, const char *word, char hint[80])
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    int best = near_max(name) + 1;
    hint[0] = 0;
    for (const struct opt *o = rows; o->letter; o++) {
        int d = o->name ? near_distance(name, o->name) : best;
        if (d >= best) continue;
        best = d;
        snprintf(hint, 80, "; did you mean --%.60s?", o->name);
    }
    return hint;
}

static int complain(const struct opt_scan *s, int c)
{
    const char *program = s->argc > 0 ? s->argv[0] : "";
    const char *slash = strrchr(program, '/');
    const char *word = optind > 0 && optind <= s->argc ? s->argv[optind - 1] : "";
    bool is_long = strncmp(word, "--", 2) == 0;
    char see[120], hint[80];
    program = slash ? slash + 1 : program;
    snprintf(see, sizeof see, "(see %.40s%s%.40s -h)", program, s->mode ? " " : "",
             s->mode ? s->mode : "");
    if (c == ':')
        err_set(ERR_PARAM, "%s: option '%.80s' needs an argument %s", program, word, see);
    else if (optopt && optopt < 256 && !is_long)
        err_set(ERR_PARAM, "%s: there is no option '-%c' %s", program, optopt, see);
    else if (optopt)
        err_set(ERR_PARAM, "%s: option '%.80s' takes no argument %s", program, word, see);
    else
        err_set(ERR_PARAM, "%s: there is no option '%.80s'%s %s", program, word,
                meant(s->rows, word, hint), see);
    return OPT_BAD;
}

/* Removes trailing slashes, which shells append when they complete a directory name. */
static void drop_slashes(char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') path[--n] = 0;
}

int opt_next(struct opt_scan *s)
{
    char letters[3 * OPT_MAX + 2];
    struct option longs[OPT_MAX + 1];
    tables(s->rows, letters, longs);
    int which = -1, c = getopt_long(s->argc, s->argv, letters, longs, &which);
    s->is_long = which >= 0;
    if (c == 'o' && optarg) drop_slashes(optarg);
    s->value = optarg;
    s->index = optind;
    if (c == -1) return 0;
    return c == '?' || c == ':' ? complain(s, c) : c;
}

/* Number of columns of n bytes of UTF-8. */
static int columns(const char *s, size_t n)
{
    int k = 0;
    for (size_t i = 0; i < n; i++) k += ((unsigned char)s[i] & 0xc0) != 0x80;
    return k;
}

/* Number of bytes that stay on one line: a word and the option-like words after it. */
static size_t word_of(const char *text)
{
    size_t n = strcspn(text, " \n");
    while (text[n] == ' ' && text[n + 1] == '-') n += 1 + strcspn(text + n + 1, " \n");
    return n;
}

void opt_wrap(FILE *out, const char *text, int at, int indent)
{
    enum { MAX = 80 };
    int blanks = 0; /* pending blanks before the next word; dropped at the start of a line */
    while (*text) {
        size_t n = word_of(text);
        int k = columns(text, n);
        if (blanks && at + blanks + k > MAX) {
            fprintf(out, "\n%*s", indent, "");
            at = indent, blanks = 0;
        }
        fprintf(out, "%*s%.*s", blanks, "", (int)n, text);
        at += blanks + k, text += n;
        bool ends = *text == '\n';
        if (ends) fputc(*text++, out);
        blanks = (int)strspn(text, " ");
        text += blanks;
        if (ends) fprintf(out, "%*s", blanks, "");
        if (ends) at = blanks, blanks = 0;
    }
    fputc('\n', out);
}

/* Number of bytes of a text for -h: the clauses that fit on one line, or else the first. Clauses
 * end before a semicolon, before a bracket and after one. */
static size_t first_clauses(const char *text)
{
    enum { ROOM = 51 };
    const size_t all = strlen(text);
    size_t end = 0;
    int depth = 0;
    for (size_t i = 1; i <= all; i++) {
        const bool ends = !text[i] || text[i] == ';' || (text[i] == ' ' && text[i + 1] == '(') ||
                          text[i - 1] == ')';
        depth += (text[i - 1] == '(') - (text[i - 1] == ')');
        if (!ends || depth || (end && columns(text, i) > ROOM)) continue;
        end = i;
    }
    return end ? end : all;
}

/* Prints a row; returns whether a part of its text was left out. */
static bool print_row(FILE *out, const struct opt *o, bool all)
{
    const size_t whole = strlen(o->help), n_help = all ? whole : first_clauses(o->help);
    char help[1024];
    BUG_ON(whole >= sizeof help);
    snprintf(help, sizeof help, "%.*s", (int)n_help, o->help);
    char left[80];
    const int c = o->letter & ~OPT_MORE_BIT;
    const bool letter = c < 256;
    int n = letter ? snprintf(left, sizeof left, "-%c", c) : snprintf(left, sizeof left, "   ");
    if (o->name)
        n += snprintf(left + n, sizeof left - (size_t)n, "%s--%s", letter ? ", " : " ", o->name);
    if (o->arg)
        snprintf(left + n, sizeof left - (size_t)n, is_optional(o) ? "[=%s" : " %s",
                 o->arg + is_optional(o));
    int blanks = 26 - columns(left, strlen(left)), at = 29 - (blanks < 0 ? blanks : 0);
    fprintf(out, "  %s%*s ", left, blanks > 0 ? blanks : 0, "");
    opt_wrap(out, help, at, 29);
    return n_help < whole;
}

bool opt_usage(FILE *out, const char *synopsis, const char *purpose, const struct opt *rows,
               bool all)
{
    const struct opt *heading = NULL;
    bool first = true, left_out = false;
    fputs("usage: ", out);
    opt_wrap(out, synopsis, 7, 11);
    opt_wrap(out, purpose, 0, 0);
    fputc('\n', out);
    for (const struct opt *o = rows; o->letter; o++) {
        const bool rare = !all && o->letter & OPT_MORE_BIT;
        left_out |= o->help && rare;
        if (!o->help || rare) continue;
        if (o->letter == OPT_HEADING) {
            heading = o;
            continue;
        }
        if (heading)
            fprintf(out, "%s%s%s%s:\n", first ? "" : "\n", heading->help, heading->arg ? " " : "",
                    heading->arg ? heading->arg : "");
        left_out |= print_row(out, o, all);
        heading = NULL, first = false;
    }
    return left_out;
}

bool opt_int(const char *value, long min, long max, int *n)
{
    char *end;
    long x = strtol(value, &end, 10);
    if (end == value || *end || x < min || x > max) return false;
    *n = (int)x;
    return true;
}

bool opt_bytes(const char *value, int64_t *n)
{
    static const char unit[] = "KMGT";
    char *end;
    double x = strtod(value, &end);
    const char *u = *end ? strchr(unit, toupper((unsigned char)*end)) : NULL;
    if (u) end++;
    for (const char *k = unit; u && k <= u; k++) x *= 1024;
    if (end == value || *end || !(x >= 1 && x < 1e18)) return false;
    *n = (int64_t)x;
    return true;
}

int opt_reals(const char *value, int max, double *x)
{
    for (int n = 0; n < max; n++) {
        if (!text_real(&value, &x[n]) || !isfinite(x[n])) return -1;
        if (!*value) return n + 1;
        if (*value++ != ',') return -1;
    }
    return -1;
}
