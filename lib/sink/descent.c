#include "sink/descent.h"

#include <math.h>

double sink_descend(double fudge, double dt, double max, const double drift[3],
                    const double last[3], const double f[3], double x[3])
{
    double along = 0, change = 0, size = 0;
    for (int d = 0; d < 3; d++) {
        along += drift[d] * (f[d] - last[d]);
        change += (f[d] - last[d]) * (f[d] - last[d]);
        size += f[d] * f[d];
    }
    size = sqrt(size);
    if (!(along > 0) || !(size > 0)) return 0;
    double step = fmin(fudge * dt * sqrt(along / change) * size, max);
    for (int d = 0; d < 3; d++) x[d] += step * (f[d] / size);
    return step;
}
