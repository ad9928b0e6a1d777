/* fuzz: targets that feed inputs to the readers. A target takes any bytes; it must neither crash,
 * hang nor allocate absurd amounts of memory. Linked with libFuzzer (mutate.c) or, to play a
 * corpus, with replay.c. The environment's FUZZ names the target, FUZZ_BASE a small checkpoint. */
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int fuzz_has_records(void); /* whether the target's files consist of Fortran records */
