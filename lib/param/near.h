/* param/near: names that are alike, for suggestions. */
#pragma once

/* Edit distance (Damerau 1964, adjacent swaps), case-blind; names longer than 63 are cut. */
int near_distance(const char *a, const char *b);
/* The max distance from this name at which another is still suggested. */
int near_max(const char *name);
