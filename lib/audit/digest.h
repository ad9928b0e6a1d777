/* audit/digest: a fingerprint of a snapshot's physical state that does not depend on ranks,
 * domains, the order of octs and particles, paths, dates, array sizes or refinement flags.
 *
 * Each value makes a 128-bit number from its bits, the name of its field and its place: level, key
 * and cell, or the particle's id and family. A field's digest is the sum of these mod 2^128, hence
 * free of order; the state's digest joins those of the fields with their names. Bits count: -0.0
 * and 0.0 differ. Not a defence against forgery. */
#pragma once
#include "ckpt/source.h"
#include "comm/comm.h"

typedef unsigned __int128 hash128;

enum { DIGEST_LINES = 2 * CKPT_FIELDS + 2 * CATALOG_COLUMNS + 2 };

struct digest {
    int n;
    struct {
        char name[64]; /* time, tree, density, …, phi, acc_x, …, particle.mass, …, sink.mass, … */
        hash128 hash;
    } line[DIGEST_LINES];
    hash128 state;
};

/* Reads all files, shared out over the ranks, and checks the tree. All ranks get the digest.
 * (collective, agreed) */
MUST_USE enum err digest_snapshot(struct source *r, const struct comm *c, struct digest *d);
void digest_hex(hash128 h, char hex[33]);
