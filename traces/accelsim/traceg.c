/* traceg.c - a kernel's file: the header, then for each thread block
 *
 *     #BEGIN_TB
 *     thread block = 0,0,0
 *     warp = 0
 *     insts = 2
 *     (two lines of instructions)
 *     #END_TB
 *
 * with blank lines anywhere.  What holds the same compressed by warp is tracez.c's.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/accelsim/internal.h"
#include "traces/io/lines.h"

enum { HEAD_BYTES = 64 << 10 };

struct gt_accelsim_file {
    char *path;
    struct gt_input *input;
    struct gt_lines lines;
    bool packed; /* a .tracez */
    uint32_t warps_per_block;
};

/* Where the instructions are. */
struct place {
    bool in_block, numbered, in_warp; /* numbered: the block has said which it is */
    uint64_t stated, seen;            /* instructions of the warp */
    bool counted;                     /* `stated` is known */
    uint64_t warps;                   /* of the block, so far */
};

/* A header, and its end by a NUL: a .tracez. */
static bool is_packed(struct gt_input *input)
{
    size_t bytes;
    const unsigned char *head = gt_input_head(input, HEAD_BYTES, &bytes);

    return bytes > 0 && head[0] == '-' && memchr(head, '\0', bytes) != NULL;
}

/* The next line with a NUL for its newline.  1; 0 at the end; -1. */
static int next_line(struct gt_accelsim_file *file, char **text, struct gt_error *error)
{
    size_t length;
    int status = gt_lines_next(&file->lines, text, &length, error);

    if (status != 1)
        return status;
    if (memchr(*text, '\0', length) != NULL)
        return gt_error_set(error, "a byte 0 in the text: the file is damaged");
    (*text)[length - 1] = '\0';
    return 1;
}

static int read_header(struct gt_accelsim_file *file, struct gt_accelsim_header *header, struct gt_error *error)
{
    char *text = NULL;
    int status;

    while ((status = next_line(file, &text, error)) == 1 && text[0] != '#')
        if (gt_accelsim_header_line(header, text, error) != 0)
            return -1;
    return status < 0 ? -1 : gt_accelsim_header_check(header, error);
}

/* What is said of a line, if it does not name the file already. */
static int at_line(const struct gt_accelsim_file *file, struct gt_error *error)
{
    if (!gt_error_names(error, file->path))
        gt_error_prefix(error, "%s:%" PRIu64 ": ", file->path, file->lines.number);
    return -1;
}

struct gt_accelsim_file *gt_accelsim_file_open(const char *path, struct gt_input *opened,
                                               struct gt_accelsim_header *header, struct gt_error *error)
{
    struct gt_accelsim_file *file = gt_calloc(1, sizeof *file);
    int status;

    file->path = strdup(path);
    file->input = gt_input_share(opened, path, error);
    if (file->input == NULL) {
        gt_accelsim_file_close(file);
        return NULL;
    }
    gt_lines_open(&file->lines, file->input);
    file->packed = is_packed(file->input);
    if (file->packed && !gt_input_is_plain_file(file->input))
        status =
            gt_error_set(error, "%s: a .tracez is read from its end and must be a file by itself: unpack it", path);
    else if (file->packed)
        status = gt_accelsim_tracez_header(path, header, error);
    else
        status = read_header(file, header, error) == 0 ? 0 : at_line(file, error);
    if (status == 0) {
        file->warps_per_block = gt_accelsim_warps(header);
        return file;
    }
    gt_accelsim_file_close(file);
    return NULL;
}

void gt_accelsim_file_close(struct gt_accelsim_file *file)
{
    if (file->input != NULL)
        gt_lines_close(&file->lines);
    gt_input_close(file->input);
    free(file->path);
    free(file);
}

/* "KEY = 3": the number; false where it is another line, or no number that fits. */
static bool read_key(const char *text, const char *key, uint64_t most, uint64_t *value)
{
    size_t length = strlen(key);
    char *end;

    if (strncmp(text, key, length) != 0)
        return false;
    text += length + strspn(text + length, " =");
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && end[strspn(end, " \r")] == '\0' && *value <= most;
}

static bool read_block(const char *text, uint32_t at[3])
{
    text += strlen("thread block");
    text += strspn(text, " =");
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long long value = strtoull(text, &end, 10);

        if (*text < '0' || *text > '9' || value > INT32_MAX || *end != (i < 2 ? ',' : *end))
            return false;
        at[i] = (uint32_t)value;
        text = end + (i < 2);
    }
    return text[strspn(text, " \r")] == '\0';
}

static int end_warp(struct place *place, struct gt_error *error)
{
    if (place->in_warp && place->seen != place->stated)
        return gt_error_set(error, "the warp before has %" PRIu64 " instructions, and says it has %" PRIu64,
                            place->seen, place->stated);
    place->in_warp = place->counted = false;
    place->seen = place->stated = 0;
    return 0;
}

/* A line that begins with a word, no instruction: 1 where it was one, 0, or -1. */
static int read_mark(const char *text, struct place *place, struct gt_accelsim_fold *fold, struct gt_error *error)
{
    uint32_t at[3];
    uint64_t number;

    if (strncmp(text, "thread block", strlen("thread block")) == 0) {
        if (place->numbered || !read_block(text, at))
            return gt_error_set(error, "a thread block without three numbers, or with more of them");
        place->numbered = true;
        return gt_accelsim_fold_block(fold, at, error) == 0 ? 1 : -1;
    }
    if (strncmp(text, "warp", strlen("warp")) == 0) {
        if (!place->numbered || !read_key(text, "warp", UINT32_MAX, &number))
            return gt_error_set(error, "a warp without its number, or before the line \"thread block = x,y,z\"");
        if (end_warp(place, error) != 0 || gt_accelsim_fold_warp(fold, (uint32_t)number, error) != 0)
            return -1;
        place->in_warp = true;
        place->warps++;
        return 1;
    }
    if (strncmp(text, "insts", strlen("insts")) == 0) {
        if (!place->in_warp || place->counted || !read_key(text, "insts", INT32_MAX, &place->stated))
            return gt_error_set(error, "a number of instructions that is none, or of no warp");
        place->counted = true;
        return 1;
    }
    if (read_key(text, "cluster rank", GT_ACCELSIM_MOST_RANK, &number))
        gt_accelsim_fold_rank(fold, (uint32_t)number);
    return strncmp(text, "cluster", strlen("cluster")) == 0;
}

static int read_line(const char *text, struct place *place, struct gt_accelsim_fold *fold, struct gt_error *error)
{
    int marked;

    if (text[strspn(text, " \t\r")] == '\0')
        return 0;
    if (strncmp(text, "#BEGIN_TB", strlen("#BEGIN_TB")) == 0) {
        if (place->in_block)
            return gt_error_set(error, "a thread block begins before the one before it ends");
        place->in_block = true;
        place->warps = 0;
        return 0;
    }
    if (strncmp(text, "#END_TB", strlen("#END_TB")) == 0) {
        if (!place->in_block)
            return gt_error_set(error, "a thread block ends that has not begun");
        place->in_block = place->numbered = false;
        return end_warp(place, error);
    }
    if (!place->in_block)
        return gt_error_set(error, "neither blank nor #BEGIN_TB, outside of thread blocks");
    marked = read_mark(text, place, fold, error);
    if (marked != 0)
        return marked < 0 ? -1 : 0;
    if (!place->in_warp || !place->counted || place->seen == place->stated)
        return gt_error_set(error, "an instruction more than the warp says it has (%" PRIu64 ")", place->stated);
    place->seen++;
    return gt_accelsim_fold_line(fold, text, error);
}

/* Does the block lack its mark of the end alone?  Traces that a program wrote may, and Accel-Sim reads them. */
static bool is_whole(const struct gt_accelsim_file *file, const struct place *place)
{
    return place->warps == file->warps_per_block && place->counted && place->seen == place->stated;
}

int gt_accelsim_file_fold(struct gt_accelsim_file *file, struct gt_accelsim_fold *fold, struct gt_error *error)
{
    struct place place = { 0 };
    char *text;
    int status;

    if (file->packed)
        return gt_accelsim_tracez_fold(file->path, fold, error);
    while ((status = next_line(file, &text, error)) == 1)
        if (read_line(text, &place, fold, error) != 0)
            return at_line(file, error);
    if (status == 0 && place.in_block && !is_whole(file, &place))
        status = gt_error_set(error, "the file ends within a thread block: it was cut off");
    if (status != 0)
        return at_line(file, error);
    gt_accelsim_fold_block_end(fold);
    return 0;
}
