#include "sim/cmd/input/common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "traces/names/clean_text.h"

int gt_fail(const struct gt_error *error)
{
    char *text = gt_clean_name(error->text); /* it may quote a name out of a file */

    fprintf(stderr, "gridtide: %s\n", text);
    free(text);
    return GT_EXIT_FAILED;
}

int gt_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    char text[GT_ERROR_TEXT_BYTES], *clean;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    clean = gt_clean_name(text); /* words as they were typed, which may steer a terminal */
    fprintf(stderr, "gridtide: %s; see 'gridtide%s%s --help'\n", clean, command[0] ? " " : "", command);
    free(clean);
    return GT_EXIT_USAGE;
}

int gt_with_store(const char *path, gt_store_work *work, const void *arguments)
{
    struct gt_error error;
    struct gt_store *store = gt_store_open(path, false, &error);
    int result;

    if (store == NULL)
        return gt_fail(&error);
    result = work(store, arguments, &error);
    gt_store_close(store);
    return result == 0 ? GT_EXIT_DONE : gt_fail(&error);
}
