/* sink/descent: a sink descends the potential after its drift (RAMSES, sink_descent). Method:
 * docs/method/sinks.md. */
#pragma once

/* Moves a sink at x, which has drifted by `drift` in dt, along its acceleration f; last: that of
 * the kick before. The step is fudge dt √(Δx·Δf)/|Δf| f, at most `max`, none unless Δx·Δf > 0.
 * Returns its length. Local. */
double sink_descend(double fudge, double dt, double max, const double drift[3],
                    const double last[3], const double f[3], double x[3]);
