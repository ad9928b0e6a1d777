/* ckpt/digest: a fingerprint of a snapshot's physical state that does not depend on ranks, domains, the order of octs and
 * particles, paths, dates, array sizes or refinement flags.
 *
 * Each value makes a 128-bit number from its bits, the name of its field and its place: level, key and cell, or the
 * particle's id and family. A field's digest is the sum of these mod 2^128, hence free of order; the state's digest joins those of the
 * fields with their names. Bits count: -0.0 and 0.0 differ. Not a defence against forgery. */
#pragma once
#include "ckpt/ramses_read.h"

typedef unsigned __int128 hash128;

enum { DIGEST_LINES = 2 * RAMSES_FIELDS + 2 };

struct digest {
    int n;
    struct {
        char name[64]; /* time, tree, density, …, phi, acc_x, …, particle.mass, … */
        hash128 hash;
    } line[DIGEST_LINES];
    hash128 state;
};

MUST_USE enum err digest_snapshot(struct ramses *r, struct digest *d); /* reads all files, checks the tree */
void digest_hex(hash128 h, char hex[33]);
