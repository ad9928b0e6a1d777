/* fuzz/replay: feeds a target with the files named, or with the files of a packed corpus on
 * standard input: length (8 bytes), bytes, and so on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

int main(int argc, char **argv)
{
    static uint8_t data[1 << 22];
    uint64_t n;
    long count = 0;
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++, count++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) return 3;
        n = fread(data, 1, sizeof data, f);
        fclose(f);
        LLVMFuzzerTestOneInput(data, n);
    }
    while (argc == 1 && fread(&n, sizeof n, 1, stdin) == 1) {
        if (n > sizeof data || fread(data, 1, n, stdin) != n) return 3;
        LLVMFuzzerTestOneInput(data, n);
        count++;
    }
    printf("%ld inputs\n", count);
    return 0;
}
