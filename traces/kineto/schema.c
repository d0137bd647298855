/* Operator schemas: which arguments are written, which results are new. */
#include <string.h>

#include "traces/kineto/execution_trace.h"

/* A list of arguments or results: text between brackets. */
struct span {
    const char *text;
    size_t length;
};

/* The item at that place, between commas outside of brackets; "*", which only parts them, is none.  Empty: there is none. */
static struct span item_at(struct span list, uint32_t place)
{
    size_t begin = 0;
    int depth = 0;

    for (size_t i = 0; i <= list.length; i++) {
        char c = i < list.length ? list.text[i] : ',';
        size_t from = begin;

        depth += c == '(' || c == '[';
        depth -= (c == ')' || c == ']') && i < list.length;
        if (c != ',' || (depth > 0 && i < list.length))
            continue;
        while (from < i && list.text[from] == ' ')
            from++;
        begin = i + 1;
        if (i - from == 1 && list.text[from] == '*')
            continue;
        if (place-- == 0)
            return (struct span){ list.text + from, i - from };
    }
    return (struct span){ NULL, 0 };
}

/* Just behind the bracket that ends the list which begins behind text[open]; `length` where none does. */
static size_t end_of_list(const char *text, size_t length, size_t open)
{
    int depth = 0;

    for (size_t i = open; i < length; i++) {
        depth += text[i] == '(';
        depth -= text[i] == ')';
        if (depth == 0)
            return i + 1;
    }
    return length;
}

static struct span arguments_of(const char *schema, size_t length, size_t *end)
{
    const char *open = memchr(schema, '(', length);
    size_t begin;

    *end = length;
    if (open == NULL)
        return (struct span){ NULL, 0 };
    begin = (size_t)(open - schema);
    *end = end_of_list(schema, length, begin);
    return (struct span){ open + 1, *end - begin > 1 ? *end - begin - 2 : 0 };
}

static struct span results_of(const char *schema, size_t length)
{
    struct span results;
    size_t end;

    arguments_of(schema, length, &end);
    while (end < length && (schema[end] == ' ' || schema[end] == '-' || schema[end] == '>'))
        end++;
    results = (struct span){ schema + end, length - end };
    if (results.length >= 2 && results.text[0] == '(' &&
        end_of_list(results.text, results.length, 0) == results.length)
        results = (struct span){ results.text + 1, results.length - 2 };
    return results;
}

bool et_schema_writes(const char *schema, size_t length, uint32_t argument)
{
    size_t end;
    struct span item = item_at(arguments_of(schema, length, &end), argument);

    return item.length > 0 && memchr(item.text, '(', item.length) != NULL &&
           memchr(item.text, '!', item.length) != NULL;
}

bool et_schema_makes(const char *schema, size_t length, uint32_t result)
{
    struct span item = item_at(results_of(schema, length), result);

    return item.length > 0 && memchr(item.text, '(', item.length) == NULL;
}
