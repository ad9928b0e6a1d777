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
 * the options; `-` alone is an operand. Not thread-safe. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct opt {
    /* result of opt_next; > 255: no letter, long name only; 0 ends the table */
    int letter;
    const char *name; /* long name, or NULL */
    /* name of the argument, NULL if the option takes none; [NAME] may be left out: --name=VALUE */
    const char *arg;
    const char *help; /* half a sentence; NULL: an alias omitted by opt_usage */
};

enum { OPT_BAD = -1, OPT_MAX = 160, OPT_OLD_BIT = 1 << 16, OPT_MORE_BIT = 1 << 18 };
/* Letter of a row that is no option: `help` and, if present, `arg` form a line of the usage text
 * above the rows that follow. */
enum { OPT_HEADING = 1 << 17 };
/* Letter of an older release: opt_next accepts and returns it, but opt_usage omits it, as the
 * letter means another option in another tool (docs/decisions/0013). */
#define OPT_OLD(letter) (OPT_OLD_BIT | (letter))
/* Letter of a row for rare use: --help has it, -h omits it. */
#define OPT_MORE(letter) (OPT_MORE_BIT | (letter))
/* The letter that opt_next returns for a row. */
#define OPT_LETTER(row) ((row)->letter & ~(OPT_OLD_BIT | OPT_MORE_BIT))

struct opt_scan {
    int argc;
    char **argv;
    const struct opt *rows;
    const char *mode; /* of the program, for messages that name its help; NULL: none */
    /* argument of the option just returned, or NULL; no trailing slashes for -o */
    const char *value;
    bool is_long; /* the option just returned was given by its long name */
    int index;    /* index of the first operand, once opt_next has returned 0 */
};

void opt_begin(struct opt_scan *s, int argc, char **argv, const struct opt *rows);
/* Returns the letter of the next option, 0 at the end, or OPT_BAD for an unknown or incomplete
 * option; err_message() then holds the message. */
int opt_next(struct opt_scan *s);
/* Prints "usage: SYNOPSIS", the purpose, and the options: all in whole, or without those for rare
 * use and with the first clauses of their texts only. Lines have 80 columns, and none begins with
 * an option-like word that is no option row. Returns whether something was left out. */
bool opt_usage(FILE *out, const char *synopsis, const char *purpose, const struct opt *rows,
               bool all);
/* Prints words in lines of 80 columns from column `at` on; further lines are indented. */
void opt_wrap(FILE *out, const char *text, int at, int indent);

/* Parsers of option values: false, or -1, if the text is not a valid value within its bounds. */
bool opt_int(const char *value, long min, long max, int *n);
/* Parses a positive number with an optional suffix K, M, G, T or k, m, g, t. */
bool opt_bytes(const char *value, int64_t *n);
/* Parses at most max finite numbers separated by commas; returns their count. */
int opt_reals(const char *value, int max, double x[/*max*/]);
