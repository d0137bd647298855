/* stored.h - what a store has measured, in place of a GPU that would measure it again. */
#ifndef GRIDTIDE_VALIDATE_PLAYER_STORED_H
#define GRIDTIDE_VALIDATE_PLAYER_STORED_H

#include "validate/validate.h"

/* Give the measured runs of the store `path` again: traces are found by their names, repetitions come as
 * they were. One store at a time, until gt_stored_close(). Returns 0 or -1. */
int gt_stored_open(const char *path, struct gt_error *error);
void gt_stored_close(void);

/* Put into `device` what the host's calls cost in the process that measured the trace, if it measured that:
 * *calls then is how many calls are behind it, else 0. Returns 0 or -1. */
int gt_stored_host(const char *trace, struct gt_device *device, uint64_t *calls, struct gt_error *error);

/* Plays what is open. A trace that is not in the store, or is another one there, is refused. */
extern const struct gt_players gt_stored_players;

#endif
