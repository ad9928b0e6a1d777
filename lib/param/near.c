#include "param/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

int near_distance(const char *a, const char *b)
{
    int d[64][64], n = (int)strnlen(a, 63), m = (int)strnlen(b, 63);
    for (int i = 0; i <= n; i++) d[i][0] = i;
    for (int j = 0; j <= m; j++) d[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
            int v = d[i - 1][j - 1] + (ca != cb);
            if (d[i - 1][j] + 1 < v) v = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < v) v = d[i][j - 1] + 1;
            bool swap = i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
                        cb == tolower((unsigned char)a[i - 2]);
            if (swap && d[i - 2][j - 2] + 1 < v) v = d[i - 2][j - 2] + 1;
            d[i][j] = v;
        }
    return d[n][m];
}

int near_max(const char *name)
{
    int n = (int)strnlen(name, 63);
    return n < 4 ? 1 : n < 8 ? 2 : 3;
}
