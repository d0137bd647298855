#include "traces/names/shell_word.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/error.h"

char *gt_shell_word(const char *name)
{
    char *text;
    size_t bytes;
    FILE *out;

    if (name[0] != '\0' &&
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-") == strlen(name))
        return gt_strdup(name);
    out = open_memstream(&text, &bytes);
    if (out == NULL)
        gt_no_memory("a text");
    fputc('\'', out);
    for (; *name != '\0'; name++)
        fputs(*name == '\'' ? "'\\''" : (char[]){ *name, '\0' }, out);
    fputc('\'', out);
    fclose(out);
    return text;
}
