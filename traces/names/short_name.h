/* short_name.h - names from traces made short enough for a table, a page or a plot. */
#ifndef GRIDTIDE_TRACES_NAMES_SHORT_NAME_H
#define GRIDTIDE_TRACES_NAMES_SHORT_NAME_H

#include <stddef.h>

#include "traces/names/clean_text.h"

/* A name of at most `columns` characters for people (malloced, clean).  Return type, parameters and
 * namespaces of a C++ function go first (of a mangled one always), then its template arguments lose their
 * middle. */
char *gt_short_name(const char *name, size_t columns);

/* Short names of names that stand together, in a table, a legend or a page: names that differ have short names
 * that differ.  Those that would come out alike show the part where they differ ("reduce<5…add<float>…"), and
 * where no part of them can be seen to, a number ("reduce#2"); the same name has the same short name each
 * time.  Nothing is cut without an ellipsis.  shorts[i] is names[i]'s, malloced, at most `columns` wide (16 or
 * more); NULL for a name that is NULL.  The work grows with the length of all names, and count log count. */
void gt_short_names_unique(const char *const names[], char *shorts[], size_t count, size_t columns);

#endif
