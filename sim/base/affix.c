#include "sim/base/affix.h"

#include <string.h>

bool gt_begins(const char *text, size_t length, const char *with)
{
    size_t part = strlen(with);

    return length >= part && memcmp(text, with, part) == 0;
}

bool gt_ends(const char *text, size_t length, const char *with)
{
    size_t part = strlen(with);

    return length >= part && memcmp(text + length - part, with, part) == 0;
}
