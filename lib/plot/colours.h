/* plot/colours: colour maps. */
#pragma once

int colours_find(const char *name);                       /* its number, or -1 */
void colours_at(int map, double t, unsigned char rgb[3]); /* t from 0 to 1 */
