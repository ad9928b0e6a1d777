/* out/leftover: clears the leftovers of killed processes in a directory of outputs. */
#pragma once

/* Removes unfinished checkpoints and tables, and older checkpoints whose removal was interrupted;
 * gives a checkpoint that was being replaced its name again. Files in use by another process stay,
 * and so does a directory with files that no Ptah program makes. Called by one rank; errors are
 * ignored, and each change is logged. */
void leftover_clear(const char *dir);
