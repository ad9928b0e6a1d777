/* base/plain: makes texts from files safe to print. */
#pragma once

/* Control characters except newline and tab become '?', so that none can command a terminal. UTF-8
 * is kept, except for its own control characters (C1). */
void plain_text(char *s);
