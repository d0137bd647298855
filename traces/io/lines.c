#include "traces/io/lines.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM_BYTES = 256 * 1024 };

void gt_lines_open(struct gt_lines *lines, struct gt_input *input)
{
    *lines = (struct gt_lines){ .input = input, .room = FIRST_ROOM_BYTES };
    lines->buffer = gt_realloc(NULL, lines->room, 1);
}

void gt_lines_close(struct gt_lines *lines)
{
    free(lines->buffer);
    lines->buffer = NULL;
}

/* Make room for more bytes behind the ones that are waiting. */
static int make_room(struct gt_lines *lines, struct gt_error *error)
{
    size_t waiting = lines->end - lines->begin;

    if (lines->begin != 0) {
        memmove(lines->buffer, lines->buffer + lines->begin, waiting);
        lines->begin = 0;
        lines->end = waiting;
    }
    if (waiting < lines->room / 2)
        return 0;
    /* A long line: be sure that it is text before paying for it. */
    if (memchr(lines->buffer, '\0', waiting) != NULL)
        return gt_error_set(error, "not text: a NUL byte in the line");
    if (waiting >= GT_LINE_LIMIT_BYTES)
        return gt_error_set(error, "a line longer than %d MiB; is this the right file?", GT_LINE_LIMIT_BYTES >> 20);
    lines->room *= 2;
    lines->buffer = gt_realloc(lines->buffer, lines->room, 1);
    return 0;
}

/* Read on; the last line gets the newline that it may lack. */
static int refill(struct gt_lines *lines, struct gt_error *error)
{
    ssize_t got;

    if (make_room(lines, error) != 0)
        return -1;
    got = gt_input_read(lines->input, lines->buffer + lines->end, lines->room - lines->end - 1, error);
    if (got < 0)
        return -1;
    lines->end += (size_t)got;
    if (got == 0) {
        lines->ended = true;
        if (lines->end > lines->begin)
            lines->buffer[lines->end++] = '\n';
    }
    return 0;
}

int gt_lines_next(struct gt_lines *lines, char **text, size_t *length, struct gt_error *error)
{
    size_t searched = 0;

    for (;;) {
        char *start = lines->buffer + lines->begin;
        size_t waiting = lines->end - lines->begin;
        char *newline = memchr(start + searched, '\n', waiting - searched);

        if (newline != NULL) {
            *text = start;
            *length = (size_t)(newline - start) + 1;
            lines->begin += *length;
            lines->number++;
            return 1;
        }
        searched = waiting;
        if (lines->ended)
            return 0;
        if (refill(lines, error) != 0) {
            lines->number++; /* the line that could not be read */
            return -1;
        }
    }
}

bool gt_line_is_comment(const char *text, size_t length)
{
    size_t at = 0;

    while (at < length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n'))
        at++;
    return at == length || text[at] == '#' || (text[at] == '/' && at + 1 < length && text[at + 1] == '/');
}
