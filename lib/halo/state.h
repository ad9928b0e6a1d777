/* halo/state: the bodies of a run: particles with mass, and leaf cells of gas. */
#pragma once
#include "halo/halo.h"
#include "oct/mesh.h"
#include "part/part.h"

/* A particle of a family that has mass; x in units of the box, wrapped where it is periodic. */
struct halo_point halo_particle(int family, int64_t id, double m, const double x[3],
                                const double v[3], const bool periodic[3]);
/* A cell of gas, of the oct with this key of level l. */
struct halo_point halo_cell(int l, okey key, int cell, double mass);

/* The bodies of this rank; owner: caller. Local. */
struct halo_points halo_state(const struct mesh *m, const struct parts *p, const bool periodic[3]);
