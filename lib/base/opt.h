/* base/opt: command-line options as rows: scanning and usage text come from the same rows.
 *
 *   static const struct opt opts[] = {
 *       {'v', "verbose", NULL, "say more"}, {'o', "output", "DIR", "write to DIR"}, {0}};
 *   struct opt_scan s;
 *   opt_begin(&s, argc, argv, opts);
 *   for (int c; (c = opt_next(&s)) != 0;) switch (c) {
 *       case 'o': dir = s.value; break;
 *       case OPT_BAD: fprintf(stderr, "%s\n", err_message()); return 2;
 *       }
 *
 * The operands are then argv[s.index] … argv[argc-1]. Options and operands may be mixed; `--` ends
 * the options; `-` alone is an operand. Not for two threads at a time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct opt {
    /* what opt_next returns; > 255: no letter, long name only; 0 ends the table */
    int letter;
    const char *name; /* long name or NULL */
    const char *arg;  /* name of its argument, NULL if it takes none */
    const char *help; /* half a sentence; NULL: another name, which opt_usage does not tell */
};

enum { OPT_BAD = -1, OPT_MAX = 96, OPT_OLD_BIT = 1 << 16 };
/* The letter of a row that is no option: `help` and `arg`, if there is one, are a line of their own
 * in the usage text, above the rows that follow. */
enum { OPT_HEADING = 1 << 17 };
/* A letter of an older release, in a row: opt_next takes and returns it, but opt_usage does not
 * tell it, as it means another option in another tool (docs/decisions/0013). */
#define OPT_OLD(letter) (OPT_OLD_BIT | (letter))
/* The letter that opt_next returns for a row. */
#define OPT_LETTER(row) ((row)->letter & ~OPT_OLD_BIT)

struct opt_scan {
    int argc;
    char **argv;
    const struct opt *rows;
    const char *value; /* argument of the option just returned; of -o without slashes at its end */
    int index;         /* first operand, once opt_next has returned 0 */
};

void opt_begin(struct opt_scan *s, int argc, char **argv, const struct opt *rows);
/* The letter of the next option, 0 at the end, OPT_BAD after an unknown or incomplete one (then see
 * err_message). */
int opt_next(struct opt_scan *s);
/* "usage: SYNOPSIS", the purpose, and the options, in lines of 80 columns. No line begins with a
 * word that looks like an option and is none. */
void opt_usage(FILE *out, const char *synopsis, const char *purpose, const struct opt *rows);

/* The values of options: false, or -1, if the text is not such a value within its bounds. */
bool opt_int(const char *value, long min, long max, int *n);
/* a number, perhaps with K, M, G, T or k, m, g, t; from 1 */
bool opt_bytes(const char *value, int64_t *n);
int opt_reals(const char *value, int max,
              double x[/*most*/]); /* finite, with commas between; their count */
