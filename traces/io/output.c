#include "traces/io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "traces/io/overwrite.h"

enum { BUFFER_BYTES = 256 * 1024 };

struct codec;

struct gt_output {
    const struct codec *codec;
    char *path;      /* the final one; what messages name */
    char *temporary; /* the name until then; NULL: it has none, or is written in place */
    bool unnamed;    /* neither: in place is a pipe, a device, standard output */
    bool finished;   /* by gt_output_finish() */
    int fd;
    z_stream gzip;
    ZSTD_CStream *zstd;
    size_t used; /* bytes of `buffer` */
    unsigned char buffer[BUFFER_BYTES], coded[BUFFER_BYTES];
};

/* How an ending of the path wants the bytes. */
struct codec {
    const char *ending;
    int (*open)(struct gt_output *output);
    int (*encode)(struct gt_output *output, bool last, struct gt_error *error); /* all of `buffer` */
    void (*close)(struct gt_output *output);
};

static int cannot_write(const struct gt_output *output, struct gt_error *error)
{
    if (errno == ENOSPC || errno == EDQUOT)
        return gt_error_set(error, "%s: the disk is full; make room or write elsewhere", output->path);
    if (errno == EFBIG)
        return gt_error_set(error, "%s: cannot write: larger than a file may be (ulimit -f); raise the limit",
                            output->path);
    return gt_error_set(error, "%s: cannot write: %s", output->path, strerror(errno));
}

static int write_all(struct gt_output *output, const void *data, size_t bytes, struct gt_error *error)
{
    const char *next = data;

    while (bytes != 0) {
        ssize_t written = write(output->fd, next, bytes);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return cannot_write(output, error);
        next += written;
        bytes -= (size_t)written;
    }
    return 0;
}

static int plain_encode(struct gt_output *output, bool last, struct gt_error *error)
{
    (void)last;
    return write_all(output, output->buffer, output->used, error);
}

static int gzip_open(struct gt_output *output)
{
    return deflateInit2(&output->gzip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK ? 0 : -1;
}

static int gzip_encode(struct gt_output *output, bool last, struct gt_error *error)
{
    z_stream *stream = &output->gzip;

    stream->next_in = output->buffer;
    stream->avail_in = (uInt)output->used;
    do {
        stream->next_out = output->coded;
        stream->avail_out = BUFFER_BYTES;
        if (deflate(stream, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
            gt_bug("deflate: stream error");
        if (write_all(output, output->coded, BUFFER_BYTES - stream->avail_out, error) != 0)
            return -1;
    } while (stream->avail_out == 0);
    return 0;
}

static void gzip_close(struct gt_output *output)
{
    deflateEnd(&output->gzip);
}

static int zstd_open(struct gt_output *output)
{
    output->zstd = ZSTD_createCStream();
    return output->zstd != NULL && !ZSTD_isError(ZSTD_initCStream(output->zstd, 3)) ? 0 : -1;
}

static int zstd_encode(struct gt_output *output, bool last, struct gt_error *error)
{
    ZSTD_inBuffer in = { output->buffer, output->used, 0 };
    size_t left;

    do {
        ZSTD_outBuffer out = { output->coded, BUFFER_BYTES, 0 };

        left = ZSTD_compressStream2(output->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return gt_error_set(error, "%s: zstd: %s", output->path, ZSTD_getErrorName(left));
        if (write_all(output, output->coded, out.pos, error) != 0)
            return -1;
    } while (last ? left != 0 : in.pos < in.size);
    return 0;
}

static void zstd_close(struct gt_output *output)
{
    ZSTD_freeCStream(output->zstd);
}

static const struct codec codecs[] = {
    { ".gz", gzip_open, gzip_encode, gzip_close },
    { ".zst", zstd_open, zstd_encode, zstd_close },
    { "", NULL, plain_encode, NULL }, /* last: fits everything */
};

static const struct codec *codec_for(const char *path)
{
    const struct codec *codec = codecs;
    size_t length = strlen(path), ending;

    for (;; codec++) {
        ending = strlen(codec->ending);
        if (length >= ending && strcmp(path + length - ending, codec->ending) == 0)
            return codec;
    }
}

static bool is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/fd/1") == 0;
}

/* Open what is written in place: 1 done, 0 the path is for a temporary file, -1 error. */
static int open_in_place(struct gt_output *output, const char *path, struct gt_error *error)
{
    struct stat status;

    if (is_standard_output(path)) {
        fflush(stdout);
        output->fd = dup(STDOUT_FILENO);
        return output->fd < 0                                                ? cannot_write(output, error)
               : gt_writing_is_safe_to(output->fd, output->path, error) == 0 ? 1
                                                                             : -1;
    }
    if (stat(path, &status) != 0)
        return 0;
    if (S_ISDIR(status.st_mode))
        return gt_error_set(error, "%s: is a directory; give the name of a file", path);
    if (S_ISREG(status.st_mode) && strncmp(path, "/dev/fd/", 8) != 0)
        return access(path, W_OK) == 0 ? 0 : cannot_write(output, error);
    if (gt_writing_is_safe(path, error) != 0)
        return -1;
    output->fd = open(path, O_WRONLY | O_CLOEXEC);
    return output->fd >= 0 ? 1 : cannot_write(output, error);
}

static int open_file(struct gt_output *output, const char *path, struct gt_error *error)
{
    int in_place = open_in_place(output, path, error);

    if (in_place != 0)
        return in_place < 0 ? -1 : 0;
    if (gt_writing_is_safe(output->path, error) != 0)
        return -1;
    output->fd = gt_output_open_unnamed(output->path);
    output->unnamed = output->fd >= 0;
    if (output->unnamed)
        return 0;
    output->temporary = gt_output_reserve(output->path, error);
    if (output->temporary == NULL)
        return -1;
    output->fd = open(output->temporary, O_WRONLY | O_CLOEXEC);
    return output->fd >= 0 ? 0 : cannot_write(output, error);
}

/* The path to write to: through symbolic links, so that a link stays one. */
static char *final_path(const char *path)
{
    char *real = strcmp(path, "-") == 0 ? NULL : realpath(path, NULL);

    return real != NULL ? real : strdup(strcmp(path, "-") == 0 ? "standard output" : path);
}

struct gt_output *gt_output_open(const char *path, struct gt_error *error)
{
    struct gt_output *output = gt_calloc(1, sizeof *output);
    const struct codec *codec = codec_for(path);

    output->fd = -1;
    output->path = final_path(path);
    if (open_file(output, path, error) == 0) {
        if (codec->open == NULL || codec->open(output) == 0) {
            output->codec = codec;
            return output;
        }
        gt_error_set(error, "%s: out of memory for compression", path);
    }
    gt_output_abandon(output);
    return NULL;
}

int gt_output_write(struct gt_output *output, const void *data, size_t bytes, struct gt_error *error)
{
    const char *next = data;

    while (bytes != 0) {
        size_t room = BUFFER_BYTES - output->used, part = bytes < room ? bytes : room;

        memcpy(output->buffer + output->used, next, part);
        output->used += part;
        next += part;
        bytes -= part;
        if (output->used < BUFFER_BYTES)
            break;
        if (output->codec->encode(output, false, error) != 0)
            return -1;
        output->used = 0;
    }
    return 0;
}

int gt_output_printf(struct gt_output *output, struct gt_error *error, const char *format, ...)
{
    va_list arguments;
    char *text;
    int length, result;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return gt_error_set(error, "%s: out of memory", output->path);
    result = gt_output_write(output, text, (size_t)length, error);
    free(text);
    return result;
}

int gt_output_finish(struct gt_output *output, struct gt_error *error)
{
    if (output->codec->encode(output, true, error) != 0)
        return -1;
    /* Pipes and devices cannot be synced, and need not be. */
    if ((output->temporary != NULL || output->unnamed) && fsync(output->fd) != 0)
        return cannot_write(output, error);
    output->finished = true;
    return 0;
}

int gt_output_commit(struct gt_output *output, struct gt_error *error)
{
    char *temporary = output->temporary;
    int result = output->finished ? 0 : gt_output_finish(output, error);

    if (result == 0 && output->unnamed)
        result = gt_output_link(output->fd, output->path, error);
    if (result == 0 && close(output->fd) != 0)
        result = cannot_write(output, error);
    if (result == 0) {
        output->fd = -1;
        output->temporary = NULL;
        if (temporary != NULL)
            result = gt_output_rename(temporary, output->path, error);
    }
    gt_output_abandon(output);
    return result;
}

void gt_output_abandon(struct gt_output *output)
{
    if (output == NULL)
        return;
    if (output->codec != NULL && output->codec->close != NULL)
        output->codec->close(output);
    if (output->fd >= 0)
        close(output->fd);
    gt_output_discard(output->temporary);
    free(output->path);
    free(output);
}
