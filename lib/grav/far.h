/* grav/far: all mass in the box, as it pulls from far away: for hosts and devices. */
#pragma once

struct far_field {
    double mass, com[3]; /* code units; com: centre of mass */
};
