/* out/leftover: what a killed process has left in a directory of outputs. */
#pragma once

/* Removes unfinished checkpoints and tables, and older checkpoints that were being removed; gives
 * one that was being replaced its name again. What another process is at work on stays, and so does
 * a directory with files that no program of ours makes. By one rank; nothing here is an error, and
 * each change is logged. */
void leftover_clear(const char *dir);
