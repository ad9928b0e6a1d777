/* turb/waves: the table of a field of few waves (waves_kern.h), from its amplitudes. Every rank
 * makes the whole table, and all get the same bits. Private to turb. */
#pragma once
#include "turb/lattice.h"

/* Whether no mode has a higher wave number along an axis. k: as in turb_lattice_make. */
bool turb_waves_can(int n, const int (*k)[3]);
/* As turb_lattice_make; out->most is above the highest value. */
void turb_waves_make(int ndim, int n, const int (*k)[3], double (*const amp)[3][2], double factor,
                     bool half, struct turb_field *out);
int64_t turb_waves_numbers(int ndim);
