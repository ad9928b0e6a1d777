/* param/near: similar names, for suggestions. */
#pragma once

/* Edit distance (Damerau 1964, adjacent swaps), case-insensitive; names longer than 63 are
 * truncated. */
int near_distance(const char *a, const char *b);
/* Maximum distance from this name at which another is still suggested. */
int near_max(const char *name);
