#include "sim/cmd/print/fold.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "sim/base/error.h"
#include "sim/cmd/print/terminal.h"

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
