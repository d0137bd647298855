#include "traces/io/path_stem.h"

#include <stdlib.h>
#include <string.h>

/* In the order in which they are taken off. */
static const char *const endings[] = {
    ".gz", ".zst", ".json", ".jsonl", ".sqlite", ".ncu-rep", ".nsys-rep", ".qdrep", ".pt.trace", ".trace",
};

char *gt_path_stem(const char *path)
{
    static const char *const descriptors[] = { "/dev/fd/", "/proc/self/fd/" };
    char *stem = strdup(strcmp(path, "-") == 0 ? "stdin" : path), *slash;
    size_t length = strlen(stem);

    for (size_t i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++)
        if (strncmp(path, descriptors[i], strlen(descriptors[i])) == 0) {
            free(stem); /* a number says nothing */
            return strdup("input");
        }
    while (length > 1 && stem[length - 1] == '/') /* of a folder */
        stem[--length] = '\0';
    slash = strrchr(stem, '/');
    if (slash != NULL)
        memmove(stem, slash + 1, strlen(slash + 1) + 1);
    length = strlen(stem);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);

        if (length > ending && strcmp(stem + length - ending, endings[i]) == 0)
            stem[length -= ending] = '\0';
    }
    return stem;
}
