#include "sim/base/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gt_error_set(struct gt_error *error, const char *format, ...)
{
    va_list arguments;

    if (error == NULL)
        return -1;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return -1;
}

int gt_error_prefix(struct gt_error *error, const char *format, ...)
{
    char text[GT_ERROR_TEXT_BYTES];
    va_list arguments;
    size_t used;

    if (error == NULL)
        return -1;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s", error->text);
    memcpy(error->text, text, sizeof text);
    return -1;
}

bool gt_error_names(const struct gt_error *error, const char *path)
{
    size_t length = strlen(path);

    return strncmp(error->text, path, length) == 0 && error->text[length] == ':';
}

void gt_bug(const char *format, ...)
{
    va_list arguments;

    fputs("gridtide: bug: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}

void gt_no_memory(const char *what)
{
    fprintf(stderr, "gridtide: out of memory asking for %s; use a smaller trace or a larger machine\n", what);
    exit(1);
}

void *gt_realloc(void *old, unsigned long long count, unsigned long long size)
{
    void *memory;

    if (size != 0 && count > SIZE_MAX / size)
        memory = NULL;
    else
        memory = realloc(old, count * size == 0 ? 1 : (size_t)(count * size));
    if (memory == NULL) {
        char what[64];

        snprintf(what, sizeof what, "%llu x %llu bytes", count, size);
        gt_no_memory(what);
    }
    return memory;
}

void *gt_calloc(unsigned long long count, unsigned long long size)
{
    void *memory = gt_realloc(NULL, count, size);

    memset(memory, 0, (size_t)(count * size));
    return memory;
}

char *gt_strndup(const char *text, unsigned long long length)
{
    size_t bytes;
    char *copy;

    if (text == NULL)
        return NULL;
    bytes = strnlen(text, (size_t)length);
    copy = gt_realloc(NULL, bytes + 1, 1);
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return copy;
}

char *gt_strdup(const char *text)
{
    return gt_strndup(text, PTRDIFF_MAX);
}

char *gt_vformat(const char *format, va_list arguments)
{
    char *text = NULL;

    if (vasprintf(&text, format, arguments) < 0)
        gt_no_memory("a text");
    return text;
}

char *gt_format(const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = gt_vformat(format, arguments);
    va_end(arguments);
    return text;
}

void gt_text_append(char *text, size_t bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, bytes - used, format, arguments);
    va_end(arguments);
}
