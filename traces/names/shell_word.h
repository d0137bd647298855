/* shell_word.h - a name as a shell takes it for one word. */
#ifndef GRIDTIDE_TRACES_NAMES_SHELL_WORD_H
#define GRIDTIDE_TRACES_NAMES_SHELL_WORD_H

/* In single quotes where it needs them.  Malloced. */
char *gt_shell_word(const char *name);

#endif
