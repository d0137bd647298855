#include "sim/cmd/print/terminal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
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

enum { BAR_CELLS = 40 };
static const double first_s = 1.0, every_s = 0.1;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void gt_progress_begin(struct gt_progress *progress, const char *what, bool quiet)
{
    *progress = (struct gt_progress){ .what = what, .enabled = !quiet && isatty(STDERR_FILENO) };
    if (progress->enabled)
        progress->began_s = progress->drawn_s = now_s();
}

static void draw(const struct gt_progress *progress, uint64_t done, uint64_t total)
{
    char bar[BAR_CELLS + 1];
    int full;

    if (total == 0) {
        fprintf(stderr, "\r%s %" PRIu64 "\033[K", progress->what, done);
        return;
    }
    if (done > total)
        done = total;
    full = (int)((double)done / (double)total * BAR_CELLS);
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR_CELLS] = '\0';
    fprintf(stderr, "\r%s [%s] %3.0f%%\033[K", progress->what, bar, (double)done / (double)total * 100.0);
}

void gt_progress_update(void *user, uint64_t done, uint64_t total)
{
    struct gt_progress *progress = user;
    double now;

    if (!progress->enabled)
        return;
    now = now_s();
    if (now - progress->began_s < first_s || now - progress->drawn_s < every_s)
        return;
    draw(progress, done, total);
    progress->drawn_s = now;
    progress->shown = true;
}

int gt_progress_probe(void *user, uint64_t done, uint64_t total, struct gt_error *error)
{
    (void)error;
    gt_progress_update(user, done, total);
    return 0;
}

void gt_progress_end(struct gt_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

char *gt_fold(const char *text, size_t width, const char *breaks)
{
    char *folded = gt_calloc(2 * strlen(text) + 1, 1), *out = folded, *may_break = NULL;
    size_t line = 0, since = 0; /* columns of the line, and of it behind the last place to break */

    if (gt_terminal_width(text) <= width)
        return strcpy(folded, text);
    for (size_t bytes; *text != '\0'; text += bytes) {
        char character[MB_LEN_MAX + 1] = "";
        size_t columns;

        bytes = mbrlen(text, MB_CUR_MAX, &(mbstate_t){ 0 });
        bytes = bytes == 0 || bytes > MB_LEN_MAX ? 1 : bytes;
        memcpy(character, text, bytes);
        columns = gt_terminal_width(character);
        if (line + columns > width && *text != ' ') {
            if (may_break == NULL) {
                *out++ = '\n';
                since = 0;
            } else if (may_break[-1] == ' ') {
                may_break[-1] = '\n';
            } else {
                memmove(may_break + 1, may_break, (size_t)(out - may_break));
                *may_break = '\n';
                out++;
            }
            line = since;
            may_break = NULL;
        }
        out = mempcpy(out, text, bytes);
        line += columns;
        since += columns;
        if (bytes == 1 && strchr(breaks, *text) != NULL) {
            may_break = out;
            since = 0;
        }
    }
    *out = '\0';
    return folded;
}

char *gt_fold_line(const char *text, size_t line)
{
    for (; line > 0 && *text != '\0'; line--)
        text = strchrnul(text, '\n') + (*strchrnul(text, '\n') != '\0');
    return strndup(text, strcspn(text, "\n"));
}

size_t gt_fold_lines(const char *text)
{
    size_t count = 1;

    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

void gt_fold_print(FILE *out, size_t indent, const char *text)
{
    size_t width = gt_terminal_columns(out);
    char *folded = gt_fold(text, width > indent ? width - indent : 1, " "), *line;

    for (size_t i = 0; i < gt_fold_lines(folded); i++) {
        line = gt_fold_line(folded, i);
        fprintf(out, "%*s%s\n", (int)indent, "", line);
        free(line);
    }
    free(folded);
}
