/* base/json: text as a JSON value. */
#pragma once
#include <stdio.h>

/* Quoted; bytes that are not UTF-8 are replaced by U+FFFD. */
void json_quote(FILE *out, const char *s);
