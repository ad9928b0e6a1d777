/* base/text: texts of others made fit to print, or to stand in JSON. */
#pragma once
#include <stdio.h>

/* Control characters except newline and tab become '?', so that none can command a terminal. UTF-8
 * is kept, except for its own control characters (C1). */
void plain_text(char *s);
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
