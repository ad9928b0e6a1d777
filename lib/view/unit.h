/* view/unit: the fields of a checkpoint in physical units. */
#pragma once
#include <stdbool.h>

#include "ckpt/source.h"
#include "phys/units.h"

/* A code unit is worth `worth` of the unit of this name. */
struct unit {
    double worth;
    const char *name;
};

/* physical false, or a field of unknown dimension: 1 and "code"; pure numbers have the name "". */
struct unit unit_of(const char *field, const struct units *u, bool physical);
/* Of masses: Msun/h with cosmology, else Msun. */
struct unit unit_mass(const struct ckpt_head *h);
/* Of lengths in units of the box, by the size of one of them: AU to Mpc; "box" if not physical,
 * "code units" if a code unit is 1 cm, which is that of a run without units. */
struct unit unit_length(const struct ckpt_head *h, double size, bool physical);
/* The name of an axis of such lengths, such as "x [kpc, proper]". */
void unit_axis(const struct ckpt_head *h, const char *what, struct unit u, char *text, size_t n);
/* "run, output 2, z = 1.2"; the run is the directory of the checkpoint. */
void unit_title(const struct source *r, bool physical, char *text, size_t n);
