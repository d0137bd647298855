#include "sim/base/named_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t";

bool gt_named_is(const struct gt_named *row, const char *text)
{
    size_t length = strcspn(text, blanks);

    return strlen(row->name) == length && strncmp(row->name, text, length) == 0;
}

const void *gt_named_find(const void *table, size_t rows, size_t row_bytes, const char *key, const char *text,
                          struct gt_error *error)
{
    char known[512] = "";

    for (size_t i = 0; i < rows; i++) {
        const struct gt_named *row = (const void *)((const char *)table + i * row_bytes);
        size_t used = strlen(known);

        if (gt_named_is(row, text))
            return row;
        snprintf(known + used, sizeof known - used, "%s %s (%s)", i == 0 ? "" : ",", row->name, row->help);
    }
    gt_error_set(error, "%s: no policy '%.*s'; there are:%s", key, (int)strcspn(text, blanks), text, known);
    return NULL;
}

/* "NAME takes no parameter 'x'; there are: limit (blocks of a grid on an SM)". */
static int unknown_parameter(const struct gt_named *row, const char *key, const char *name, size_t length,
                             struct gt_error *error)
{
    char known[512] = "";

    for (int i = 0; i < GT_NAMED_PARAMETERS && row->parameters[i].name != NULL; i++) {
        size_t used = strlen(known);

        snprintf(known + used, sizeof known - used, "%s %s (%s)", i == 0 ? "; there are:" : ",",
                 row->parameters[i].name, row->parameters[i].help);
    }
    return gt_error_set(error, "%s: '%s' takes no parameter '%.*s'%s", key, row->name, (int)length, name, known);
}

/* One "PARAMETER=NUMBER" of `length` characters. */
static int read_parameter(const struct gt_named *row, const char *key, const char *word, size_t length,
                          double *values, struct gt_error *error)
{
    size_t name = strcspn(word, "=");
    int at = 0;
    char *end;

    if (name >= length)
        return gt_error_set(error, "%s: '%.*s' is not PARAMETER=NUMBER", key, (int)length, word);
    while (at < GT_NAMED_PARAMETERS && row->parameters[at].name != NULL &&
           (strlen(row->parameters[at].name) != name || strncmp(row->parameters[at].name, word, name) != 0))
        at++;
    if (at == GT_NAMED_PARAMETERS || row->parameters[at].name == NULL)
        return unknown_parameter(row, key, word, name, error);
    values[at] = strtod(word + name + 1, &end);
    if (end != word + length || name + 1 == length ||
        !(values[at] >= row->parameters[at].low && values[at] <= row->parameters[at].high))
        return gt_error_set(error, "%s: '%.*s' is not a number from %.15g to %.15g", key, (int)length, word,
                            row->parameters[at].low, row->parameters[at].high);
    return 0;
}

int gt_named_parameters(const struct gt_named *row, const char *key, const char *text, double *values,
                        struct gt_error *error)
{
    size_t length;

    for (int i = 0; i < GT_NAMED_PARAMETERS; i++)
        values[i] = row->parameters[i].fallback;
    for (text += strcspn(text, blanks); *(text += strspn(text, blanks)) != '\0'; text += length) {
        length = strcspn(text, blanks);
        if (read_parameter(row, key, text, length, values, error) != 0)
            return -1;
    }
    return 0;
}
