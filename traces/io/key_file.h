/* key_file.h - INI files by a table of keys: [section] and name joined by a dot are a key, `; source: TEXT` comments say where
 * the values below them come from.
 *
 * Reading is strict: an unknown section or key, a key set twice, a line too long is an error that
 * names FILE:LINE.  A line that begins with a space goes on with the list of the line before.
 */
#ifndef GRIDTIDE_TRACES_IO_KEY_FILE_H
#define GRIDTIDE_TRACES_IO_KEY_FILE_H

#include <stdbool.h>

#include "sim/devices/keys.h"

/* Where a file's values come from. */
struct gt_key_notes {
    char *file;  /* the first source comment; "" when there is none */
    char **keys; /* one a row of the table: NULL where the file does not set it */
    size_t count;
};

/* Read what the file sets into *into, and its notes (NULL: nobody asks), which gt_key_notes_free ends.
 * Returns -1 with FILE:LINE and the reason; *into then holds some of it. */
int gt_key_file_read(const char *path, const struct gt_key_table *table, void *into, struct gt_key_notes *notes,
                     struct gt_error *error);
void gt_key_notes_free(struct gt_key_notes *notes);
/* Whether the source of a value says that it is a guess, neither measured nor documented; not where there is no source. */
bool gt_key_note_guesses(const char *source);

#endif
