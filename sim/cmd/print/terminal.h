/* terminal.h - how much room there is for what is printed. */
#ifndef GRIDTIDE_SIM_CMD_PRINT_TERMINAL_H
#define GRIDTIDE_SIM_CMD_PRINT_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* Columns that a line of `out` may have: of the terminal that it goes to, where the environment's COLUMNS comes
 * before what the terminal says.  SIZE_MAX where it goes to a file or a pipe: there nothing is cut. */
size_t gt_terminal_columns(FILE *out);

/* Columns that `text` takes; its bytes where the locale cannot tell. */
size_t gt_terminal_width(const char *text);

#endif
