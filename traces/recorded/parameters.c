#include "traces/recorded/parameters.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

static bool opens(char c)
{
    return c == '(' || c == '<' || c == '[' || c == '{';
}

static bool closes(char c)
{
    return c == ')' || c == '>' || c == ']' || c == '}';
}

/* Where the list of parameters begins: behind the '(' that goes with the last ')'. NULL: there is no list. */
static const char *list_begin(const char *name, const char *end)
{
    int depth = 0;

    for (const char *at = end; at > name; at--) {
        char c = at[-1];

        if (c == ')')
            depth++;
        else if (c == '(' && --depth == 0)
            return at;
    }
    return NULL;
}

static bool ends_with(const char *text, const char **end, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(*end - text) < length || memcmp(*end - length, word, length) != 0)
        return false;
    *end -= length;
    return true;
}

static void skip_back(const char *text, const char **end)
{
    while (*end > text && (*end)[-1] == ' ')
        (*end)--;
}

static enum gt_parameter_type type_of(const char *text, const char *end)
{
    skip_back(text, &end);
    while (ends_with(text, &end, "__restrict__") || ends_with(text, &end, "__restrict") ||
           ends_with(text, &end, "const"))
        skip_back(text, &end);
    if (!ends_with(text, &end, "*"))
        return GT_PARAMETER_OTHER;
    skip_back(text, &end);
    return ends_with(text, &end, "const") ? GT_PARAMETER_CONST_POINTER : GT_PARAMETER_POINTER;
}

static void add(struct gt_parameter_types *types, uint32_t *room, const char *text, const char *end)
{
    gt_array_grow(types->type, types->count, *room);
    types->type[types->count++] = (uint8_t)type_of(text, end);
}

void gt_parameter_types_read(const char *name, struct gt_parameter_types *types)
{
    const char *end = strrchr(name, ')'), *begin = end == NULL ? NULL : list_begin(name, end + 1), *from;
    uint32_t room = 0;
    int depth = 0;

    *types = (struct gt_parameter_types){ .type = NULL };
    if (begin == NULL || begin == end || (end - begin == 4 && memcmp(begin, "void", 4) == 0))
        return;
    from = begin;
    for (const char *at = begin; at < end; at++) {
        if (opens(*at))
            depth++;
        else if (closes(*at) && !(*at == '>' && at > begin && at[-1] == '-'))
            depth--;
        else if (*at == ',' && depth == 0) {
            add(types, &room, from, at);
            from = at + 1;
        }
    }
    add(types, &room, from, end);
}
