/* plot/letters: the letters of the labels of plots, as strokes. */
#pragma once

/* units for the height of a font; capitals are 9 high, small letters 6 */
enum { LETTER_SIZE = 12 };

typedef void letter_stroke(void *ctx, const double a[2], const double b[2]);

/* Draws the letter at s; a position is right of where it begins and above the line, in units. Adds
 * its width to *along, for a font of this size. draw NULL: only that. Returns the next letter. An
 * unknown one is a space. */
const char *letter_draw(const char *s, letter_stroke *draw, void *ctx, double *along, double size);
