/* gpu_names.c - profilers' names of GPUs and our device files. */
#include "traces/names/gpu_names.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *model; /* a word of the name: no letter or digit on either side */
    const char *device;
} gpus[] = {
    { "H200", "h200" },
    { "H100", "h100" },
    { "A100", "a100" },
    { "V100", "v100" },
};

static int holds_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
            return 1;
    }
    return 0;
}

const char *gt_gpu_device_file(const char *name)
{
    for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++) {
        if (holds_word(name, gpus[i].model))
            return gpus[i].device;
    }
    return NULL;
}
