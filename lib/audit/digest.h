/* audit/digest: a digest of the physical state in a snapshot that does not depend on ranks,
 * domains, the order of octs and particles, paths, dates, array sizes or refinement flags.
 *
 * Each value gives a 128-bit number from its bits, the name of its field and its position: level,
 * key and cell, or id and family of the particle. The digest of a field is the sum of these mod
 * 2^128, so it does not depend on order; the digest of the state combines the field digests with
 * the field names. Bits count: -0.0 and 0.0 differ. The digest is no protection against forgery. */
#pragma once
#include "ckpt/source.h"
#include "comm/comm.h"

typedef unsigned __int128 hash128;

enum { DIGEST_LINES = 2 * CKPT_FIELDS + 2 * CATALOG_COLUMNS + 2 };

struct digest_line {
    char name[64]; /* name of the line: time, tree, density, …, particle.mass, …, sink.mass, … */
    hash128 hash;
};

struct digest {
    int n;
    struct digest_line line[DIGEST_LINES];
    hash128 state;
};

/* Reads all files, divided among the ranks, and checks the tree. All ranks receive the digest.
 * (collective, agreed) */
MUST_USE enum err digest_snapshot(struct source *r, const struct comm *c, struct digest *d);
void digest_hex(hash128 h, char hex[33]);
