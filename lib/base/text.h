/* base/text: texts of others made fit to print, or to stand in JSON. */
#pragma once
#include <stdio.h>

/* Control characters except newline and tab become '?', so that none can command a terminal. UTF-8
 * is kept, except for its own control characters (C1). */
void plain_text(char *s);
/* As a JSON value: quoted; bytes that are not UTF-8 are replaced by U+FFFD. */
void json_quote(FILE *out, const char *s);
