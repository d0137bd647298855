/* check_text.h - what `gridtide check` finds in a typed trace. */
#ifndef GRIDTIDE_TESTS_UNIT_CHECK_TEXT_H
#define GRIDTIDE_TESTS_UNIT_CHECK_TEXT_H

#include "sim/check/check.h"
#include "validate/random/draw.h"

static inline struct gt_check check_text(const char *text)
{
    struct gt_error error = { "" };
    struct gt_workload *w = gt_draw_read(text, &error);
    struct gt_check check;

    if (w == NULL)
        fail_msg("%s\n%s", error.text, text);
    gt_check_run(&check, w);
    gt_workload_free(w);
    return check;
}

static inline uint32_t races_in(const char *text)
{
    struct gt_check check = check_text(text);
    uint32_t count = check.certain.count;

    gt_check_free(&check);
    return count;
}

#define HEADER               "{\"gridtide\":1}\n{\"kernel\":\"k\",\"block_us\":1}\n"
#define LAUNCH(stream, what) "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":" stream "," what "}\n"
#define SIDE                                                                                                    \
    HEADER "{\"stream\":\"a\",\"flags\":[\"non_blocking\"]}\n{\"stream\":\"b\",\"flags\":[\"non_blocking\"]}\n" \
           "{\"stream\":\"c\"}\n{\"stream\":\"d\"}\n"

#endif
