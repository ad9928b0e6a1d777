/* grav/far: monopole of all mass in the box, for hosts and devices. */
#pragma once

struct far_field {
    double mass, com[3]; /* total mass and centre of mass, code units */
};
