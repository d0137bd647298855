#include "traces/io/csv_write.h"

#include <string.h>

#include "sim/base/error.h"

char *gt_csv_field_of(const char *text)
{
    char *field = gt_realloc(NULL, 2 * strlen(text) + 3ull, 1), *end = field;

    if (strpbrk(text, ",\"\r\n") == NULL)
        return strcpy(field, text);
    *end++ = '"';
    for (; *text != '\0'; text++) {
        if (*text == '"')
            *end++ = '"';
        *end++ = *text;
    }
    *end++ = '"';
    *end = '\0';
    return field;
}
