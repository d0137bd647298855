#include "traces/explain/run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"

static bool is(const char *text, size_t length, const char *option)
{
    return length == strlen(option) && memcmp(text, option, length) == 0;
}

static void take(struct gt_run_options *options, const char *text, size_t length)
{
    static const char seed[] = "seed=";

    if (gt_begins(text, length, seed))
        options->seed = strtoull(text + strlen(seed), NULL, 10);
    else if (is(text, length, "blocks=off"))
        options->bars = true;
    else if (!is(text, length, "blocks=on") && options->other[0] == '\0')
        snprintf(options->other, sizeof options->other, "%.*s", (int)length, text);
}

struct gt_run_options gt_run_options_read(const char *text)
{
    struct gt_run_options options = { .seed = 1 };
    size_t length;

    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        length = strcspn(text, " ");
        take(&options, text, length);
        text += length;
    }
    return options;
}
