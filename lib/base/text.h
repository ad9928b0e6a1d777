/* base/text: foreign text made safe for printing or for JSON, and number parsing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Replaces control characters except newline and tab by '?', so that the text cannot control a
 * terminal. UTF-8 is kept, except for its own control characters (C1). */
void plain_text(char *s);
/* Like plain_text, but also replaces newlines and tabs, to keep the text in one line. */
void plain_line(char *s);
/* Replaces the word "-nan" by "nan". */
void plain_nan(char *s);
/* Returns x, or a NaN without sign: printf prints the sign of a NaN, which depends on operation,
 * compiler and machine and has no meaning. */
double plain_number(double x);
/* Prints a number with this many digits; all tables print numbers through this function. */
void put_number(FILE *out, int digits, double x);
/* Prints a JSON number, or null if x is not finite. */
void json_real(FILE *out, double x);
/* Prints a quoted JSON string; bytes that are not UTF-8 become U+FFFD. */
void json_quote(FILE *out, const char *s);

/* Parses the number at *s, after blanks, and moves *s behind it. The number must end at a blank, a
 * comma, or the end of the text or line. False, with *s unchanged, if there is no number ("",
 * "3e24cm", "0x1p3") or the value is beyond the range of the type.
 *
 * Reals may be written as in Fortran: exponent with E or D, or no letter before the sign of an
 * exponent of three digits (0.5-103); NaN and Infinity are accepted. */
bool text_real(const char **s, double *x);
bool text_whole(const char **s, int64_t *x);
/* Edit distance of two names (Damerau 1964, adjacent swaps), case-insensitive; names longer than 63
 * are truncated. */
int near_distance(const char *a, const char *b);
/* Maximum distance from this name at which another is still suggested. */
int near_max(const char *name);
/* Whether only blanks remain up to the end of the line. */
bool text_line_ends(const char *s);
