"""The exact solution of the Riemann problem of an ideal gas (Toro, chapter 4)."""
import numpy as np


def wave(p, rho, pk, gamma):
    """Velocity change across the wave that joins state (rho, pk) to pressure p."""
    if p > pk:
        return (p - pk) * np.sqrt(2 / ((gamma + 1) * rho) / (p + (gamma - 1) / (gamma + 1) * pk))
    c = np.sqrt(gamma * pk / rho)
    return 2 * c / (gamma - 1) * ((p / pk) ** ((gamma - 1) / (2 * gamma)) - 1)


def star(left, right, gamma):
    """(pressure, velocity) between the waves, by bisection."""
    (rl, ul, pl), (rr, ur, pr) = left, right
    low, high = 1e-14 * min(pl, pr), 1e3 * max(pl, pr)
    for _ in range(200):
        p = 0.5 * (low + high)
        if wave(p, rl, pl, gamma) + wave(p, rr, pr, gamma) + ur - ul > 0:
            high = p
        else:
            low = p
    return p, 0.5 * (ul + ur) + 0.5 * (wave(p, rr, pr, gamma) - wave(p, rl, pl, gamma))


def side(s, state, p, u, gamma):
    """Solution left of the contact at speeds s = x/t; the right side is its mirror image."""
    rho0, u0, p0 = state
    c0 = np.sqrt(gamma * p0 / rho0)
    g = (gamma - 1) / (gamma + 1)
    if p > p0:
        speed = u0 - c0 * np.sqrt((gamma + 1) / (2 * gamma) * p / p0 + (gamma - 1) / (2 * gamma))
        behind = s > speed
        rho = rho0 * (p / p0 + g) / (g * p / p0 + 1)
        return np.where(behind, rho, rho0), np.where(behind, u, u0), np.where(behind, p, p0)
    rho = rho0 * (p / p0) ** (1 / gamma)
    head, tail = u0 - c0, u - np.sqrt(gamma * p / rho)
    c = 2 / (gamma + 1) * c0 + g * (u0 - s)
    fan = (s > head) & (s < tail)
    ratio = np.where(fan, np.maximum(c, 1e-30) / c0, 1)
    return (np.where(s <= head, rho0, np.where(s >= tail, rho, rho0 * ratio ** (2 / (gamma - 1)))),
            np.where(s <= head, u0, np.where(s >= tail, u, s + c)),
            np.where(s <= head, p0,
                     np.where(s >= tail, p, p0 * ratio ** (2 * gamma / (gamma - 1)))))


def solve(x, t, left, right, gamma):
    """(rho, u, p) at positions x from a discontinuity at 0, at time t."""
    p, u = star(left, right, gamma)
    s = x / t
    l = side(s, left, p, u, gamma)
    m = side(-s, (right[0], -right[1], right[2]), p, -u, gamma)
    return tuple(np.where(s < u, a, b) for a, b in zip(l, (m[0], -m[1], m[2])))
