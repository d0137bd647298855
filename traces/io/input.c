#include "traces/io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "traces/io/overwrite.h"

enum { RAW_BYTES = 64 * 1024, XZ_MOST_BYTES = 256 << 20 /* to unpack: xz -9 needs 65 MiB */ };

struct format;

struct gt_input {
    const struct format *format;
    char *path; /* as people know it, for messages */
    unsigned holders;
    int fd;
    bool is_file;             /* a regular one, with a name */
    uint64_t size, read;      /* of the file: all of it, and what was read from it */
    bool ended;               /* the file has no more bytes */
    bool mid_stream;          /* a compressed stream has begun and not ended */
    size_t raw_next, raw_end; /* bytes of `raw` not yet decoded */
    unsigned char *head;      /* decoded bytes that were looked at and not yet handed on */
    size_t head_next, head_end;
    bool failed; /* nothing more can be decoded, because of: */
    struct gt_error failure;
    z_stream gzip;
    ZSTD_DStream *zstd;
    lzma_stream xz;
    unsigned char raw[RAW_BYTES];
};

/* One way in which a file holds its bytes. */
struct format {
    const char *name;
    unsigned char magic[6];
    size_t magic_bytes;
    unsigned char first_mask; /* bits of the first byte that count */
    int (*open)(struct gt_input *input);
    /* Turn raw bytes into up to `bytes` bytes; 0: more raw bytes are needed. */
    ssize_t (*decode)(struct gt_input *input, void *buffer, size_t bytes, struct gt_error *error);
    void (*close)(struct gt_input *input);
};

uint64_t gt_input_consumed(const struct gt_input *input)
{
    return input->read - (input->raw_end - input->raw_next);
}

uint64_t gt_input_size(const struct gt_input *input)
{
    return input->size;
}

static int broken(const struct gt_input *input, struct gt_error *error, const char *why)
{
    return gt_error_set(error, "%s: broken %s data at byte %llu of the file: %s", input->path, input->format->name,
                        (unsigned long long)gt_input_consumed(input), why);
}

static ssize_t plain_decode(struct gt_input *input, void *buffer, size_t bytes, struct gt_error *error)
{
    size_t ready = input->raw_end - input->raw_next;

    (void)error;
    if (bytes > ready)
        bytes = ready;
    memcpy(buffer, input->raw + input->raw_next, bytes);
    input->raw_next += bytes;
    return (ssize_t)bytes;
}

static int gzip_open(struct gt_input *input)
{
    return inflateInit2(&input->gzip, 15 + 16) == Z_OK ? 0 : -1;
}

static void gzip_close(struct gt_input *input)
{
    inflateEnd(&input->gzip);
}

/* Between members, and behind the last, zeros may fill a block of a tape or a disk. */
static bool skip_padding(struct gt_input *input)
{
    while (input->raw_next < input->raw_end && input->raw[input->raw_next] == 0)
        input->raw_next++;
    return input->raw_next == input->raw_end;
}

static ssize_t gzip_decode(struct gt_input *input, void *buffer, size_t bytes, struct gt_error *error)
{
    z_stream *stream = &input->gzip;
    int status;

    if (!input->mid_stream) { /* the next of several members */
        if (skip_padding(input))
            return 0;
        inflateReset(stream);
    }
    if (bytes > UINT32_MAX)
        bytes = UINT32_MAX;
    stream->next_in = input->raw + input->raw_next;
    stream->avail_in = (uInt)(input->raw_end - input->raw_next);
    stream->next_out = buffer;
    stream->avail_out = (uInt)bytes;
    input->mid_stream = true;
    status = inflate(stream, Z_NO_FLUSH);
    input->raw_next = input->raw_end - stream->avail_in;
    if (status == Z_STREAM_END)
        input->mid_stream = false;
    else if (status != Z_OK && status != Z_BUF_ERROR)
        return broken(input, error, stream->msg != NULL ? stream->msg : "zlib refuses it");
    return (ssize_t)(bytes - stream->avail_out);
}

static int zstd_open(struct gt_input *input)
{
    input->zstd = ZSTD_createDStream();
    return input->zstd != NULL ? 0 : -1;
}

static void zstd_close(struct gt_input *input)
{
    ZSTD_freeDStream(input->zstd);
}

static ssize_t zstd_decode(struct gt_input *input, void *buffer, size_t bytes, struct gt_error *error)
{
    ZSTD_inBuffer in = { input->raw, input->raw_end, input->raw_next };
    ZSTD_outBuffer out = { buffer, bytes, 0 };
    size_t hint = ZSTD_decompressStream(input->zstd, &out, &in);

    input->raw_next = in.pos;
    if (ZSTD_isError(hint))
        return broken(input, error, ZSTD_getErrorName(hint));
    input->mid_stream = hint != 0;
    return (ssize_t)out.pos;
}

static int xz_open(struct gt_input *input)
{
    input->xz = (lzma_stream)LZMA_STREAM_INIT;
    return lzma_stream_decoder(&input->xz, XZ_MOST_BYTES, 0) == LZMA_OK ? 0 : -1;
}

static void xz_close(struct gt_input *input)
{
    lzma_end(&input->xz);
}

static const char *xz_failure(lzma_ret status)
{
    switch (status) {
    case LZMA_MEMLIMIT_ERROR: return "it needs more than 256 MiB to unpack";
    case LZMA_MEM_ERROR: return "out of memory";
    case LZMA_FORMAT_ERROR: return "it is not a stream of xz";
    default: return "liblzma refuses it";
    }
}

static ssize_t xz_decode(struct gt_input *input, void *buffer, size_t bytes, struct gt_error *error)
{
    lzma_stream *stream = &input->xz;
    lzma_ret status;

    if (!input->mid_stream) { /* the next of several streams */
        if (skip_padding(input))
            return 0;
        if (lzma_stream_decoder(stream, XZ_MOST_BYTES, 0) != LZMA_OK)
            return broken(input, error, "out of memory");
    }
    stream->next_in = input->raw + input->raw_next;
    stream->avail_in = input->raw_end - input->raw_next;
    stream->next_out = buffer;
    stream->avail_out = bytes;
    input->mid_stream = true;
    status = lzma_code(stream, LZMA_RUN);
    input->raw_next = input->raw_end - stream->avail_in;
    if (status == LZMA_STREAM_END)
        input->mid_stream = false;
    else if (status != LZMA_OK && status != LZMA_BUF_ERROR)
        return broken(input, error, xz_failure(status));
    return (ssize_t)(bytes - stream->avail_out);
}

static const struct format formats[] = {
    { "gzip", { 0x1f, 0x8b }, 2, 0xff, gzip_open, gzip_decode, gzip_close },
    { "zstd", { 0x28, 0xb5, 0x2f, 0xfd }, 4, 0xff, zstd_open, zstd_decode, zstd_close },
    /* zstd behind a frame to be skipped, as parallel compressors put one at the start. */
    { "zstd", { 0x50, 0x2a, 0x4d, 0x18 }, 4, 0xf0, zstd_open, zstd_decode, zstd_close },
    { "xz", { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, 0xff, xz_open, xz_decode, xz_close },
    { "plain", { 0 }, 0, 0xff, NULL, plain_decode, NULL }, /* last: fits everything */
};

/* Append to `raw` what the file gives next. */
static int fill(struct gt_input *input, struct gt_error *error)
{
    ssize_t got;

    if (input->raw_next == input->raw_end)
        input->raw_next = input->raw_end = 0;
    do {
        got = read(input->fd, input->raw + input->raw_end, RAW_BYTES - input->raw_end);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return gt_error_set(error, "%s: cannot read: %s", input->path, strerror(errno));
    if (got == 0)
        input->ended = true;
    input->raw_end += (size_t)got;
    input->read += (uint64_t)got;
    return 0;
}

static bool begins_with_magic(const struct gt_input *input, const struct format *format)
{
    if (format->magic_bytes == 0)
        return true;
    return input->raw_end >= format->magic_bytes && (input->raw[0] & format->first_mask) == format->magic[0] &&
           memcmp(input->raw + 1, format->magic + 1, format->magic_bytes - 1) == 0;
}

static int recognise(struct gt_input *input, struct gt_error *error)
{
    while (!input->ended && input->raw_end < sizeof formats[0].magic)
        if (fill(input, error) != 0)
            return -1;
    for (const struct format *format = formats;; format++) {
        if (begins_with_magic(input, format)) {
            if (format->open != NULL && format->open(input) != 0)
                return gt_error_set(error, "%s: out of memory for %s", input->path, format->name);
            input->format = format;
            return 0;
        }
    }
}

static bool is_standard_input(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0;
}

static int open_file(struct gt_input *input, const char *path, struct gt_error *error)
{
    struct stat status;

    input->fd = is_standard_input(path) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    if (input->fd < 0)
        return gt_error_set(error, "%s: cannot open: %s", input->path, strerror(errno));
    if (fstat(input->fd, &status) != 0)
        return gt_error_set(error, "%s: cannot look at it: %s", input->path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return gt_error_set(error, "%s: is a directory; give a file in it", input->path);
    if (S_ISREG(status.st_mode))
        input->size = (uint64_t)status.st_size;
    input->is_file = S_ISREG(status.st_mode) && !is_standard_input(path);
    return gt_reading_begins(input->fd, input->path, error);
}

/* Decoded bytes of the file itself. */
static ssize_t decode(struct gt_input *input, void *buffer, size_t bytes, struct gt_error *error)
{
    while (bytes != 0) {
        /* A decoder may hold decoded bytes back though all raw ones are in: ask it mid-stream too. */
        if (input->raw_next < input->raw_end || input->mid_stream) {
            ssize_t got = input->format->decode(input, buffer, bytes, error);

            if (got != 0)
                return got;
        }
        if (input->raw_next < input->raw_end)
            continue;
        if (input->ended)
            break;
        if (fill(input, error) != 0)
            return -1;
    }
    if (bytes != 0 && input->mid_stream)
        return gt_error_set(error, "%s: the %s data is cut off at byte %llu of the file; get the file again",
                            input->path, input->format->name, (unsigned long long)input->read);
    return 0;
}

/* Have up to `most` bytes in the head. */
static void fill_head(struct gt_input *input, size_t most)
{
    ssize_t got = 1;

    if (input->head_end >= most)
        return;
    input->head = gt_realloc(input->head, most, 1);
    while (input->head_end < most && got > 0 && !input->failed) {
        got = decode(input, input->head + input->head_end, most - input->head_end, &input->failure);
        input->failed = got < 0;
        input->head_end += got > 0 ? (size_t)got : 0;
    }
}

static void skip_byte_order_mark(struct gt_input *input)
{
    static const unsigned char mark[] = { 0xef, 0xbb, 0xbf };

    fill_head(input, sizeof mark);
    if (input->head_end == sizeof mark && memcmp(input->head, mark, sizeof mark) == 0)
        input->head_end = 0;
}

struct gt_input *gt_input_open(const char *path, struct gt_error *error)
{
    struct gt_input *input = gt_calloc(1, sizeof *input);

    input->holders = 1;
    input->fd = -1;
    input->path = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
    if (open_file(input, path, error) != 0 || recognise(input, error) != 0) {
        gt_input_close(input);
        return NULL;
    }
    skip_byte_order_mark(input);
    return input;
}

struct gt_input *gt_input_share(struct gt_input *opened, const char *path, struct gt_error *error)
{
    if (opened == NULL)
        return gt_input_open(path, error);
    opened->holders++;
    return opened;
}

const unsigned char *gt_input_head(struct gt_input *input, size_t most, size_t *bytes)
{
    fill_head(input, most);
    *bytes = input->head_end < most ? input->head_end : most;
    return input->head;
}

bool gt_input_is_plain_file(const struct gt_input *input)
{
    return input->is_file && input->format->open == NULL;
}

ssize_t gt_input_read(struct gt_input *input, void *buffer, size_t bytes, struct gt_error *error)
{
    size_t ready = input->head_end - input->head_next;

    if (ready > 0) {
        ready = ready < bytes ? ready : bytes;
        memcpy(buffer, input->head + input->head_next, ready);
        input->head_next += ready;
        return (ssize_t)ready;
    }
    if (input->failed)
        return gt_error_set(error, "%s", input->failure.text);
    return decode(input, buffer, bytes, error);
}

void gt_input_close(struct gt_input *input)
{
    if (input == NULL || --input->holders > 0)
        return;
    if (input->format != NULL && input->format->close != NULL)
        input->format->close(input);
    if (input->fd >= 0)
        close(input->fd);
    free(input->head);
    free(input->path);
    free(input);
}
