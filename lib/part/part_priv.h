/* part/priv: what the CPU and the device share beside formulas. Private to part. */
#pragma once
#include "part/part.h"

/* The beginnings of pieces stay true, or at least ordered and in range, when particles are added
 * and removed: all from level l on are again of level l. */
void part_runs_tidy(struct parts *p, const struct mesh *m, int l);

struct deposit_rule part_deposit_rule(const struct parts *p, int l, double quantum, double mass_cut,
                                      int cic_levelmax);
