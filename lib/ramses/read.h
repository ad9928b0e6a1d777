/* ramses/read: RAMSES snapshots as sources (ckpt/source.h).
 *
 * The reader supports snapshots of any number of ranks, with or without physical boundaries, gas,
 * gravity and particles, in one to three dimensions and with any number of coarse cells inside the
 * box; files of either byte order and precision, in group_NNNNN/ directories or not, with 4- or
 * 8-byte ids and counts, 8- or 16-byte keys, from before and after the changes of 2010, 2015, 2017
 * and 2018. The layout is recognised from the files; `format` of the source describes it. A piece
 * is the file of one rank. Every count is compared with the records, records with the size of the
 * file, and the tree is checked for consistency. An error is one sentence with file, record and
 * byte. */
#pragma once
#include "ckpt/source.h"

extern const struct source_kind ramses_kind;
