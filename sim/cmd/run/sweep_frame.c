#include "sim/cmd/run/sweep_frame.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/error.h"

enum { CHUNK_BYTES = 1 << 16 };

void gt_frame_begin(struct gt_frame *frame, const char *kind)
{
    *frame = (struct gt_frame){ .bytes = NULL };
    frame->out = open_memstream(&frame->bytes, &frame->size);
    if (frame->out == NULL)
        gt_no_memory("a text");
    gt_frame_text(frame, kind);
}

void gt_frame_text(struct gt_frame *frame, const char *text)
{
    fputs(text != NULL ? text : "", frame->out);
    putc('\0', frame->out);
}

void gt_frame_real(struct gt_frame *frame, double value)
{
    fprintf(frame->out, "%.17g%c", value, '\0');
}

void gt_frame_integer(struct gt_frame *frame, long long value)
{
    fprintf(frame->out, "%lld%c", value, '\0');
}

/* Its size, then its fields, each with a zero at its end. */
void gt_frame_send(struct gt_frame *frame, FILE *out)
{
    uint32_t size;

    fclose(frame->out);
    size = (uint32_t)frame->size;
    fwrite(&size, sizeof size, 1, out);
    fwrite(frame->bytes, 1, size, out);
    fflush(out);
    free(frame->bytes);
}

size_t gt_frame_take(struct gt_frame_reader *reader, int pipe)
{
    ssize_t got;

    if (reader->taken > 0)
        memmove(reader->bytes, reader->bytes + reader->taken, reader->count - reader->taken);
    reader->count -= reader->taken;
    reader->taken = 0;
    if (reader->room - reader->count < CHUNK_BYTES) {
        reader->room = reader->count + 2 * (size_t)CHUNK_BYTES;
        reader->bytes = gt_realloc(reader->bytes, reader->room, 1);
    }
    do
        got = read(pipe, reader->bytes + reader->count, reader->room - reader->count);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return 0;
    reader->count += (size_t)got;
    return (size_t)got;
}

unsigned gt_frame_next(struct gt_frame_reader *reader, const char *fields[GT_FRAME_FIELDS])
{
    unsigned count = 0;
    uint32_t size;
    const char *at, *end;

    if (reader->count - reader->taken < sizeof size)
        return 0;
    memcpy(&size, reader->bytes + reader->taken, sizeof size);
    if (reader->count - reader->taken - sizeof size < size)
        return 0;
    at = reader->bytes + reader->taken + sizeof size;
    end = at + size;
    reader->taken += sizeof size + size;
    for (; at < end && count < GT_FRAME_FIELDS; at += strlen(at) + 1)
        fields[count++] = at;
    return count;
}

void gt_frame_free(struct gt_frame_reader *reader)
{
    free(reader->bytes);
    *reader = (struct gt_frame_reader){ .bytes = NULL };
}
