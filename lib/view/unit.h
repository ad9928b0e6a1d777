/* view/unit: the fields of a checkpoint in physical units. */
#pragma once
#include <stdbool.h>

#include "ckpt/source.h"
#include "phys/units.h"

/* A code unit equals `worth` units of this name. */
struct unit {
    double worth;
    const char *name;
};

/* Unit of a field; if not physical, or of unknown dimension: 1 and "code"; pure numbers have the
 * name "". */
struct unit unit_of(const char *field, const struct units *u, bool physical);
/* Unit of masses: Msun/h with cosmology, else Msun. */
struct unit unit_mass(const struct ckpt_head *h);
/* Unit for lengths given in units of the box, chosen to fit `size`: AU to Mpc; "box" if not
 * physical, "code units" if a code unit is 1 cm, as in a run without units. */
struct unit unit_length(const struct ckpt_head *h, double size, bool physical);
/* Axis label for such lengths, e.g. "x [kpc, proper]". */
void unit_axis(const struct ckpt_head *h, const char *what, struct unit u, char *text, size_t n);
/* Text "z = 1.2", or "t = 3.4 Gyr" (in code units if not physical). */
void unit_when(const struct ckpt_head *h, bool physical, char *text, size_t n);
/* Title such as "run, output 2, z = 1.2"; run: directory of the checkpoint. */
void unit_title(const struct source *r, bool physical, char *text, size_t n);
