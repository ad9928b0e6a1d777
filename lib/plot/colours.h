/* plot/colours: colour maps. */
#pragma once

int colours_find(const char *name);                       /* index of the colour map, or -1 */
void colours_at(int map, double t, unsigned char rgb[3]); /* colour at t, 0 to 1 */
