/* header.c - the lines "-key = value" that a kernel's file begins with. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/accelsim/internal.h"

enum { SHOWN = 60, MOST_STORED = INT32_MAX, MOST_THREADS = GT_ACCELSIM_MOST_WARPS * GT_ACCELSIM_LANES };

/* A number of this base, all of the text but blanks at its end. */
static bool read_number(const char *text, int base, uint64_t *value)
{
    char *end;

    text += strspn(text, " ");
    if (*text < '0' || (*text > '9' && base == 10))
        return false;
    *value = strtoull(text, &end, base);
    return end > text && end[strspn(end, " \r\n")] == '\0';
}

static int refuse(const char *line, const char *what, struct gt_error *error)
{
    return gt_error_set(error, "\"%.*s\" has no %s",
                        (int)strcspn(line, "\r\n") < SHOWN ? (int)strcspn(line, "\r\n") : SHOWN, line, what);
}

/* "(55,1,1)": three sizes, at least 1. */
static int read_sizes(const char *line, const char *value, uint32_t sizes[3], struct gt_error *error)
{
    const char *at = value + strspn(value, " ");

    for (int i = 0; i < 3; i++) {
        char *end;
        uint64_t size;

        if (*at != (i == 0 ? '(' : ','))
            return refuse(line, "three sizes in brackets", error);
        size = strtoull(at + 1, &end, 10);
        if (end == at + 1 || size == 0 || size > MOST_STORED)
            return refuse(line, "three sizes from 1 to 2147483647", error);
        sizes[i] = (uint32_t)size;
        at = end;
    }
    return *at == ')' ? 0 : refuse(line, "three sizes in brackets", error);
}

static int read_name(struct gt_accelsim_header *header, const char *value)
{
    value += strspn(value, " ");
    free(header->name);
    header->name = strndup(value, strcspn(value, "\r\n"));
    return 0;
}

static int read_u32(const char *line, const char *value, uint32_t *number, struct gt_error *error)
{
    uint64_t wide;

    if (!read_number(value, 10, &wide) || wide > MOST_STORED)
        return refuse(line, "number from 0 to 2147483647", error);
    *number = (uint32_t)wide;
    return 0;
}

static int read_u64(const char *line, const char *value, int base, uint64_t *number, struct gt_error *error)
{
    return read_number(value, base, number) ? 0 : refuse(line, "number", error);
}

/* The text behind "-KEY = ", NULL where it has another key. */
static const char *value_of(const char *line, const char *key)
{
    size_t length = strlen(key);
    const char *at = line + 1 + length;

    if (strncmp(line + 1, key, length) != 0 || *(at += strspn(at, " ")) != '=')
        return NULL;
    return at + 1;
}

int gt_accelsim_header_line(struct gt_accelsim_header *header, const char *line, struct gt_error *error)
{
    const char *value;
    uint32_t flag;

    if (line[0] != '-')
        return 0;
    if ((value = value_of(line, "kernel name")) != NULL)
        return read_name(header, value);
    if ((value = value_of(line, "grid dim")) != NULL)
        return read_sizes(line, value, header->grid, error);
    if ((value = value_of(line, "block dim")) != NULL)
        return read_sizes(line, value, header->block, error);
    if ((value = value_of(line, "shmem")) != NULL)
        return read_u32(line, value, &header->shared_bytes, error);
    if ((value = value_of(line, "nregs")) != NULL)
        return read_u32(line, value, &header->registers, error);
    if ((value = value_of(line, "binary version")) != NULL)
        return read_u32(line, value, &header->binary_version, error);
    if ((value = value_of(line, "cuda stream id")) != NULL)
        return read_u64(line, value, 10, &header->stream, error);
    if ((value = value_of(line, "shmem base_addr")) != NULL)
        return read_u64(line, value, 16, &header->shared_base, error);
    if ((value = value_of(line, "local mem base_addr")) != NULL)
        return read_u64(line, value, 16, &header->local_base, error);
    if ((value = value_of(line, "accelsim tracer version")) != NULL)
        return read_u32(line, value, &header->version, error);
    if ((value = value_of(line, "enable lineinfo")) != NULL) {
        if (read_u32(line, value, &flag, error) != 0)
            return -1;
        header->line_info = flag != 0;
    }
    return 0;
}

int gt_accelsim_header_check(const struct gt_accelsim_header *header, struct gt_error *error)
{
    const char *missing = header->grid[0] == 0 ? "grid dim" : header->block[0] == 0 ? "block dim" : NULL;

    if (missing != NULL)
        return gt_error_set(error,
                            "no line \"-%s = (x,y,z)\" before the instructions: not a kernel of an Accel-Sim "
                            "trace",
                            missing);
    if ((uint64_t)header->block[0] * header->block[1] > MOST_THREADS ||
        (uint64_t)header->block[0] * header->block[1] * header->block[2] > MOST_THREADS)
        return gt_error_set(error,
                            "a block of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " threads; a block has at most %d",
                            header->block[0], header->block[1], header->block[2], MOST_THREADS);
    return 0;
}

uint32_t gt_accelsim_threads(const struct gt_accelsim_header *header)
{
    return header->block[0] * header->block[1] * header->block[2];
}

uint32_t gt_accelsim_warps(const struct gt_accelsim_header *header)
{
    return (gt_accelsim_threads(header) + GT_ACCELSIM_LANES - 1) / GT_ACCELSIM_LANES;
}

/* How instructions lie in the code, by compute capability.  Up to Pascal an instruction has 8 bytes, and the first 8 of a group
 * say how its instructions are scheduled; from Volta on each has 16 and says so itself.  (Maxwell's groups: maxas,
 * "Control Codes"; Kepler's: Zhang et al., "Understanding the GPU Microarchitecture", PPoPP 2017.) */
static const struct layout {
    uint32_t below; /* compute capability */
    uint32_t group_bytes, bytes, instructions;
} layouts[] = { { 40, 64, 8, 7 }, { 70, 32, 8, 3 }, { UINT32_MAX, 16, 16, 1 } };

/* Of Volta and later where the header does not say for which GPU the code is. */
static const struct layout *layout_of(const struct gt_accelsim_header *header)
{
    uint32_t capability = header->binary_version == 0 ? UINT32_MAX - 1 : header->binary_version;
    const struct layout *layout = layouts;

    while (capability >= layout->below)
        layout++;
    return layout;
}

uint64_t gt_accelsim_index(const struct gt_accelsim_header *header, uint64_t pc)
{
    const struct layout *layout = layout_of(header);
    uint64_t word = pc % layout->group_bytes / layout->bytes;
    uint64_t control = layout->group_bytes / layout->bytes - layout->instructions;

    if (pc % layout->bytes != 0)
        return UINT64_MAX;
    return pc / layout->group_bytes * layout->instructions + (word > control ? word - control : 0);
}

uint64_t gt_accelsim_offset(const struct gt_accelsim_header *header, uint64_t index)
{
    const struct layout *layout = layout_of(header);
    uint64_t control = layout->group_bytes / layout->bytes - layout->instructions;

    return index / layout->instructions * layout->group_bytes +
           (index % layout->instructions + control) * layout->bytes;
}

void gt_accelsim_header_free(struct gt_accelsim_header *header)
{
    free(header->name);
    header->name = NULL;
}
