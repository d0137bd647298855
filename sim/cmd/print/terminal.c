#include "sim/cmd/print/terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "sim/base/error.h"

/* Of a terminal that does not say, and bounds on what is believed. */
enum { COLUMNS_DEFAULT = 80, COLUMNS_LEAST = 40, COLUMNS_MOST = 10000 };

size_t gt_terminal_columns(FILE *out)
{
    const char *text = getenv("COLUMNS");
    struct winsize size = { .ws_col = 0 };
    long columns = 0;

    if (!isatty(fileno(out)))
        return SIZE_MAX;
    if (text != NULL)
        columns = strtol(text, NULL, 10);
    if (columns <= 0 && ioctl(fileno(out), TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns <= 0)
        columns = COLUMNS_DEFAULT;
    return (size_t)(columns < COLUMNS_LEAST ? COLUMNS_LEAST : columns > COLUMNS_MOST ? COLUMNS_MOST : columns);
}

size_t gt_terminal_width(const char *text)
{
    size_t length = mbstowcs(NULL, text, 0);
    wchar_t *wide;
    int width;

    if (length == (size_t)-1)
        return strlen(text);
    wide = gt_calloc(length + 1, sizeof *wide);
    mbstowcs(wide, text, length);
    width = wcswidth(wide, length);
    free(wide);
    return width < 0 ? strlen(text) : (size_t)width;
}
