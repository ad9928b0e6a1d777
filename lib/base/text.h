/* base/text: texts of others made fit to print, or to stand in JSON; and the numbers in them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Control characters except newline and tab become '?', so that none can command a terminal. UTF-8
 * is kept, except for its own control characters (C1). */
void plain_text(char *s);
/* As plain_text, and newlines and tabs become '?', too: the text stays one line, and one column. */
void plain_line(char *s);
/* "-nan" as a word becomes "nan". */
void plain_nan(char *s);
/* x, or a NaN without sign: C prints the sign, which depends on the operation that made it, the
 * compiler and the machine, and says nothing. */
double plain_number(double x);
/* A number of a table, with so many digits: all tables print theirs here. */
void put_number(FILE *out, int digits, double x);
/* As a JSON value: null if it is not finite. */
void json_real(FILE *out, double x);
/* As a JSON value: quoted; bytes that are not UTF-8 are replaced by U+FFFD. */
void json_quote(FILE *out, const char *s);

/* The number at *s, after blanks; *s is then behind it. It is read to its end: a blank, a comma, or
 * the end of the text or line follows. False: there is none ("", "3e24cm", "0x1p3"), or one beyond
 * the range of its type; *s is as it was.
 *
 * Reals are as Fortran writes and reads them: with E or D, or no letter before the sign of an
 * exponent of three digits (0.5-103); NaN and Infinity are numbers, too. */
bool text_real(const char **s, double *x);
bool text_whole(const char **s, int64_t *x);
/* Is there nothing but blanks up to the end of the line? */
bool text_line_ends(const char *s);
