/* base/plain: texts from files, before people see them. */
#pragma once

/* Control characters become '?', but for newline and tab: none may command a terminal. UTF-8 is
 * left as it is, its own control characters (C1) excepted. */
void plain_text(char *s);
