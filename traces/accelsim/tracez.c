/* tracez.c - Accel-Sim 2.0's .tracez: the same lines, each warp's compressed by itself.
 *
 *     header's text, NUL; u32 bytes of a zstd dictionary, u32 instructions a piece; the dictionary
 *     each warp: u32 instructions, u32 pieces; each piece: u32 bytes, a zstd frame of lines
 *     index: u32 blocks; each: 11 u32 (block x y z, cluster x y z, place in it x y z, rank, warps);
 *            each warp: u32 instructions, u32 pieces, u64 offset in the file, u32 instructions of each piece
 *     u64 offset of the index, the file's last 8 bytes
 *
 * Numbers are little-endian.  (Accel-Sim 2.0, its tracer's header tracez_format.)  The index is read as it
 * is used, and a piece is unpacked by and by.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "traces/accelsim/internal.h"

enum {
    MOST_HEADER_BYTES = 1 << 20,
    MOST_DICTIONARY_BYTES = 16 << 20,
    MOST_WINDOW_LOG = 27, /* 128 MiB to unpack */
    MOST_LINE_BYTES = 1 << 20,
    CHUNK_BYTES = 64 << 10,
    BLOCK_WORDS = 11,
    RANK_WORD = 9
};

struct reader {
    const char *path;
    FILE *data, *index;
    ZSTD_DCtx *unpack;
    struct gt_accelsim_fold *fold;
    unsigned char packed[CHUNK_BYTES];
    char unpacked[CHUNK_BYTES], *line;
    size_t line_bytes;
    uint64_t instructions, block; /* of the warp: lines read; of the file: blocks read */
    uint32_t warp;
};

static int broken(const struct reader *reader, const char *why, struct gt_error *error)
{
    return gt_error_set(error, "%s: %s: the file is damaged, or no .tracez", reader->path, why);
}

static int in_warp(const struct reader *reader, struct gt_error *error)
{
    return gt_error_prefix(error, "%s: thread block %" PRIu64 ", warp %" PRIu32 ", instruction %" PRIu64 ": ",
                           reader->path, reader->block, reader->warp, reader->instructions);
}

static bool read_u32(FILE *file, uint32_t *value)
{
    unsigned char bytes[4];

    if (fread(bytes, 1, sizeof bytes, file) != sizeof bytes)
        return false;
    *value = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    return true;
}

static bool read_u64(FILE *file, uint64_t *value)
{
    uint32_t low, high;

    if (!read_u32(file, &low) || !read_u32(file, &high))
        return false;
    *value = low | (uint64_t)high << 32;
    return true;
}

static bool seek(FILE *file, uint64_t offset)
{
    return offset <= INT64_MAX && fseeko(file, (off_t)offset, SEEK_SET) == 0;
}

/* The header's text, the caller's; NULL with an error. */
static char *read_text(FILE *file, const char *path, struct gt_error *error)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t length = getdelim(&text, &room, '\0', file);

    if (length > 0 && length <= MOST_HEADER_BYTES && text[length - 1] == '\0')
        return text;
    free(text);
    gt_error_set(error, "%s: no header that ends with a byte 0", path);
    return NULL;
}

static int read_header(char *text, struct gt_accelsim_header *header, const char *path, struct gt_error *error)
{
    unsigned number = 0;

    for (char *line = text, *end; line != NULL && line[0] != '#'; line = end) {
        end = strchr(line, '\n');
        number++;
        if (end != NULL)
            *end++ = '\0';
        if (gt_accelsim_header_line(header, line, error) != 0)
            return gt_error_prefix(error, "%s:%u: ", path, number);
    }
    return gt_accelsim_header_check(header, error) == 0 ? 0 : gt_error_prefix(error, "%s:%u: ", path, number);
}

int gt_accelsim_tracez_header(const char *path, struct gt_accelsim_header *header, struct gt_error *error)
{
    FILE *file = fopen(path, "rbe");
    char *text;
    int status = -1;

    if (file == NULL)
        return gt_error_set(error, "%s: cannot open: %s", path, strerror(errno));
    text = read_text(file, path, error);
    if (text != NULL)
        status = read_header(text, header, path, error);
    free(text);
    fclose(file);
    return status;
}

/* The dictionary, behind the header. */
static int read_dictionary(struct reader *reader, struct gt_error *error)
{
    char *text = read_text(reader->data, reader->path, error);
    uint32_t bytes, unused;
    void *dictionary;
    size_t status = 0;

    if (text == NULL)
        return -1;
    free(text);
    if (!read_u32(reader->data, &bytes) || !read_u32(reader->data, &unused) || bytes > MOST_DICTIONARY_BYTES)
        return broken(reader, "no size of a dictionary up to 16 MiB", error);
    if (bytes == 0)
        return 0;
    dictionary = gt_realloc(NULL, bytes, 1);
    if (fread(dictionary, 1, bytes, reader->data) != bytes) {
        free(dictionary);
        return broken(reader, "the dictionary is cut off", error);
    }
    status = ZSTD_DCtx_loadDictionary(reader->unpack, dictionary, bytes);
    free(dictionary);
    return ZSTD_isError(status) ? broken(reader, ZSTD_getErrorName(status), error) : 0;
}

static int end_line(struct reader *reader, uint32_t most, struct gt_error *error)
{
    reader->line[reader->line_bytes] = '\0';
    reader->line_bytes = 0;
    if (reader->instructions == most)
        return gt_error_set(error, "more lines than the index says");
    if (strlen(reader->line) == 0)
        return gt_error_set(error, "an empty line");
    reader->instructions++;
    return gt_accelsim_fold_line(reader->fold, reader->line, error);
}

/* Unpacked bytes as lines. */
static int take(struct reader *reader, size_t bytes, uint32_t most, struct gt_error *error)
{
    for (size_t i = 0; i < bytes; i++) {
        if (reader->unpacked[i] == '\n') {
            if (end_line(reader, most, error) != 0)
                return -1;
            continue;
        }
        if (reader->line_bytes + 1 == MOST_LINE_BYTES)
            return gt_error_set(error, "a line of more than 1 MiB");
        reader->line[reader->line_bytes++] = reader->unpacked[i];
    }
    return 0;
}

/* Whole frames of so many bytes, at which the file stands. */
static int read_piece(struct reader *reader, uint32_t bytes, uint32_t most, struct gt_error *error)
{
    size_t status = 0; /* 0: a frame has ended */

    ZSTD_DCtx_reset(reader->unpack, ZSTD_reset_session_only);
    while (bytes > 0) {
        size_t want = bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES;
        ZSTD_inBuffer in = { reader->packed, want, 0 };
        bool full;

        if (fread(reader->packed, 1, want, reader->data) != want)
            return gt_error_set(error, "the file ends within its lines");
        bytes -= (uint32_t)want;
        do {
            ZSTD_outBuffer out = { reader->unpacked, CHUNK_BYTES, 0 };

            status = ZSTD_decompressStream(reader->unpack, &out, &in);
            if (ZSTD_isError(status))
                return gt_error_set(error, "broken zstd data: %s", ZSTD_getErrorName(status));
            if (take(reader, out.pos, most, error) != 0)
                return -1;
            full = out.pos == CHUNK_BYTES && status != 0;
        } while (in.pos < in.size || full);
    }
    if (status != 0)
        return gt_error_set(error, "its zstd data are cut off");
    return reader->line_bytes > 0 ? end_line(reader, most, error) : 0;
}

static int read_warp(struct reader *reader, uint32_t most, uint32_t pieces, uint64_t offset, struct gt_error *error)
{
    uint32_t there, there_pieces, bytes;

    if (!seek(reader->data, offset) || !read_u32(reader->data, &there) || !read_u32(reader->data, &there_pieces) ||
        there != most || there_pieces != pieces)
        return gt_error_set(error, "its head differs from what the index says of it");
    for (uint32_t i = 0; i < pieces; i++)
        if (!read_u32(reader->data, &bytes))
            return gt_error_set(error, "the file ends within its pieces");
        else if (read_piece(reader, bytes, most, error) != 0)
            return -1;
    if (reader->instructions != most)
        return gt_error_set(error, "fewer lines than the index says (%" PRIu32 ")", most);
    return 0;
}

/* A warp's row of the index, and the warp. */
static int read_index_warp(struct reader *reader, struct gt_error *error)
{
    uint32_t most, pieces, unused;
    uint64_t offset;

    if (!read_u32(reader->index, &most) || !read_u32(reader->index, &pieces) || !read_u64(reader->index, &offset))
        return broken(reader, "the index is cut off", error);
    for (uint32_t i = 0; i < pieces; i++)
        if (!read_u32(reader->index, &unused))
            return broken(reader, "the index is cut off", error);
    reader->instructions = 0;
    reader->line_bytes = 0;
    if (gt_accelsim_fold_warp(reader->fold, reader->warp, error) != 0 ||
        read_warp(reader, most, pieces, offset, error) != 0)
        return in_warp(reader, error);
    return 0;
}

static int read_blocks(struct reader *reader, struct gt_error *error)
{
    uint32_t blocks, words[BLOCK_WORDS];
    uint64_t offset;

    if (fseeko(reader->index, -8, SEEK_END) != 0 || !read_u64(reader->index, &offset) ||
        !seek(reader->index, offset) || !read_u32(reader->index, &blocks))
        return broken(reader, "its last bytes lead to no index", error);
    for (reader->block = 0; reader->block < blocks; reader->block++) {
        for (int i = 0; i < BLOCK_WORDS; i++)
            if (!read_u32(reader->index, &words[i]))
                return broken(reader, "the index is cut off", error);
        if (gt_accelsim_fold_block(reader->fold, words, error) != 0)
            return gt_error_prefix(error, "%s: ", reader->path);
        if (words[RANK_WORD] <= GT_ACCELSIM_MOST_RANK)
            gt_accelsim_fold_rank(reader->fold, words[RANK_WORD]);
        for (reader->warp = 0; reader->warp < words[BLOCK_WORDS - 1]; reader->warp++)
            if (read_index_warp(reader, error) != 0)
                return -1;
    }
    gt_accelsim_fold_block_end(reader->fold);
    return 0;
}

int gt_accelsim_tracez_fold(const char *path, struct gt_accelsim_fold *fold, struct gt_error *error)
{
    struct reader *reader = gt_calloc(1, sizeof *reader);
    int status = -1;

    reader->path = path;
    reader->fold = fold;
    reader->line = gt_realloc(NULL, MOST_LINE_BYTES, 1);
    reader->data = fopen(path, "rbe");
    reader->index = fopen(path, "rbe");
    reader->unpack = ZSTD_createDCtx();
    if (reader->data == NULL || reader->index == NULL)
        gt_error_set(error, "%s: cannot open: %s", path, strerror(errno));
    else if (reader->unpack == NULL)
        gt_no_memory("zstd");
    else if (ZSTD_isError(ZSTD_DCtx_setParameter(reader->unpack, ZSTD_d_windowLogMax, MOST_WINDOW_LOG)))
        gt_bug("zstd refuses a window");
    else if (read_dictionary(reader, error) == 0)
        status = read_blocks(reader, error);
    if (reader->data != NULL)
        fclose(reader->data);
    if (reader->index != NULL)
        fclose(reader->index);
    ZSTD_freeDCtx(reader->unpack);
    free(reader->line);
    free(reader);
    return status;
}
