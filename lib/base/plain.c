/* base/plain: see plain.h. */
#include "base/plain.h"

void plain_text(char *s)
{
    for (unsigned char *c = (unsigned char *)s; *c; c++) {
        if ((*c < ' ' && *c != '\n' && *c != '\t') || *c == 0x7f) *c = '?';
        if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) c[0] = c[1] = '?';
    }
}
