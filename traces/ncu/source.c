/* source.c - the instructions of a launch: a table whose columns differ from kernel to kernel. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/io/csv.h"
#include "traces/ncu/internal.h"

enum { WARP_THREADS = 32, TEXT_BLOCK_BYTES = 64 << 10, MOST_SAMPLES = 1 << 30, MOST_AN_EXECUTION = 1 << 16 };

enum column {
    ADDRESS,
    SOURCE,
    EXECUTED,
    THREADS,
    THREADS_ON,
    DIVERGENT,
    SPACE,
    TAG_REQUESTS,
    SECTORS,
    SECTORS_IDEAL,
    LOCAL_SECTORS,
    WAVEFRONTS,
    WAVEFRONTS_IDEAL,
    COLUMNS
};
/* clang-format off */
static const struct { const char *name; bool needed; } columns[COLUMNS] = {
    [ADDRESS] = { "Address", true },
    [SOURCE] = { "Source", true },
    [EXECUTED] = { "Instructions Executed", true },
    [THREADS] = { "Thread Instructions Executed", false },
    [THREADS_ON] = { "Predicated-On Thread Instructions Executed", false },
    [DIVERGENT] = { "Divergent Branches", false },
    [SPACE] = { "Address Space", false },
    [TAG_REQUESTS] = { "L1 Tag Requests Global", false },
    [SECTORS] = { "L2 Theoretical Sectors Global", false },
    [SECTORS_IDEAL] = { "L2 Theoretical Sectors Global Ideal", false },
    [LOCAL_SECTORS] = { "L2 Theoretical Sectors Local", false },
    [WAVEFRONTS] = { "L1 Wavefronts Shared", false },
    [WAVEFRONTS_IDEAL] = { "L1 Wavefronts Shared Ideal", false },
};
/* clang-format on */

/* The profiler's names of stall reasons. */
static const struct {
    const char *name;
    uint8_t stall;
} stalls[] = {
    { "stall_barrier", GT_STALL_BARRIER },
    { "stall_branch_resolving", GT_STALL_BRANCH_RESOLVING },
    { "stall_dispatch", GT_STALL_DISPATCH },
    { "stall_drain", GT_STALL_DRAIN },
    { "stall_gmma", GT_STALL_GMMA },
    { "stall_imc", GT_STALL_CONSTANT_MISS },
    { "stall_lg", GT_STALL_LG_THROTTLE },
    { "stall_long_sb", GT_STALL_LONG_SCOREBOARD },
    { "stall_math", GT_STALL_MATH_PIPE },
    { "stall_membar", GT_STALL_MEMBAR },
    { "stall_mio", GT_STALL_MIO_THROTTLE },
    { "stall_misc", GT_STALL_MISC },
    { "stall_no_inst", GT_STALL_NO_INSTRUCTION },
    { "stall_not_selected", GT_STALL_NOT_SELECTED },
    { "stall_selected", GT_STALL_SELECTED },
    { "stall_short_sb", GT_STALL_SHORT_SCOREBOARD },
    { "stall_sleep", GT_STALL_SLEEPING },
    { "stall_sleeping", GT_STALL_SLEEPING },
    { "stall_tex", GT_STALL_TEX_THROTTLE },
    { "stall_wait", GT_STALL_WAIT },
    { "stall_warpgroup_arrive", GT_STALL_WARPGROUP_ARRIVE },
};
enum { STALL_COLUMNS = sizeof stalls / sizeof stalls[0] };

struct reader {
    struct gt_csv csv;
    struct gt_ncu_source *source;
    uint32_t column[COLUMNS], stall[STALL_COLUMNS];
    uint64_t base;    /* address of the first instruction */
    size_t text_left; /* in the last block of texts */
    char *text_at;
};

static uint32_t find_column(const struct gt_csv *csv, const char *name)
{
    for (uint32_t i = 0; i < csv->count; i++)
        if (strcmp(gt_csv_field(csv, i), name) == 0)
            return i;
    return GT_NONE;
}

static int find_columns(struct reader *reader, struct gt_error *error)
{
    for (uint32_t c = 0; c < COLUMNS; c++) {
        reader->column[c] = find_column(&reader->csv, columns[c].name);
        if (reader->column[c] == GT_NONE && columns[c].needed)
            return gt_error_set(error,
                                "no column \"%s\"; export it with ncu --page source --print-source sass "
                                "--csv from a profile of --set full",
                                columns[c].name);
    }
    for (uint32_t s = 0; s < STALL_COLUMNS; s++)
        reader->stall[s] = find_column(&reader->csv, stalls[s].name);
    return 0;
}

/* A count; 0 where the column is not there, the field empty or a dash. */
static int read_count(const struct reader *reader, enum column column, uint64_t *value, struct gt_error *error)
{
    const char *text = gt_csv_field(&reader->csv, reader->column[column]);

    *value = 0;
    if (reader->column[column] == GT_NONE || ((text[0] == '\0' || strcmp(text, "-") == 0) && !columns[column].needed))
        return 0;
    if (!gt_csv_count(text, value) ||
        *value > (column == EXECUTED || column == DIVERGENT ? 1 : WARP_THREADS) * GT_PROGRAM_MOST_EXECUTIONS)
        return gt_error_set(error, "\"%s\" is \"%.40s\", not a count that a launch can have", columns[column].name,
                            text);
    return 0;
}

static char *keep_text(struct reader *reader, const char *text, size_t length)
{
    struct gt_ncu_source *source = reader->source;
    char *kept;

    if (length + 1 > reader->text_left) {
        reader->text_left = length + 1 > TEXT_BLOCK_BYTES ? length + 1 : TEXT_BLOCK_BYTES;
        source->texts = gt_realloc(source->texts, source->text_count + 1ull, sizeof *source->texts);
        reader->text_at = source->texts[source->text_count++] = gt_realloc(NULL, reader->text_left, 1);
    }
    kept = reader->text_at;
    memcpy(kept, text, length);
    kept[length] = '\0';
    reader->text_at += length + 1;
    reader->text_left -= length + 1;
    return kept;
}

/* The instruction in plain ASCII with single spaces; rebase() makes offsets of addresses. */
static char *read_text(struct reader *reader, const char *text)
{
    size_t length = strlen(text), kept = 0;
    char *clean = keep_text(reader, text, length);

    for (const char *at = text; *at != '\0'; at++) {
        char next = *at == '\t' ? ' ' : *at < ' ' || *at > '~' ? '?' : *at;

        if (next != ' ' || (kept > 0 && clean[kept - 1] != ' '))
            clean[kept++] = next;
    }
    while (kept > 0 && (clean[kept - 1] == ' ' || clean[kept - 1] == ';'))
        kept--;
    clean[kept] = '\0';
    return clean;
}

static int read_address(struct reader *reader, struct gt_error *error)
{
    const char *text = gt_csv_field(&reader->csv, reader->column[ADDRESS]);
    uint32_t row = reader->source->count;
    uint64_t address;
    char *end;

    address = strtoull(text, &end, 16);
    if (end == text || *end != '\0')
        return gt_error_set(error, "the address is \"%.40s\", not a hexadecimal number", text);
    if (row == 0)
        reader->base = address;
    if (address != reader->base + (uint64_t)row * GT_SASS_BYTES)
        return gt_error_set(error, "address 0x%" PRIx64 " does not follow the previous one; rows are missing",
                            address);
    return 0;
}

static float mean(uint64_t count, uint64_t executions)
{
    return executions == 0 ? 0 : gt_program_mean((double)count / (double)executions);
}

/* Threads of a warp; counts of two passes may contradict each other a little. */
static int read_threads(const struct reader *reader, enum column column, uint64_t executions, float *threads,
                        struct gt_error *error)
{
    uint64_t count;

    if (read_count(reader, column, &count, error) != 0)
        return -1;
    if (count > executions * (WARP_THREADS + 1))
        return gt_error_set(error, "\"%s\" is %" PRIu64 " for %" PRIu64 " warps; a warp has %d threads",
                            columns[column].name, count, executions, WARP_THREADS);
    *threads = fminf(mean(count, executions), WARP_THREADS);
    return 0;
}

/* What memory instructions do in all; far more for one warp than an instruction can do is an error. */
static int read_work(const struct reader *reader, enum column column, uint64_t executions, uint64_t *value,
                     struct gt_error *error)
{
    if (read_count(reader, column, value, error) != 0)
        return -1;
    if (executions > 0 && *value / executions > MOST_AN_EXECUTION)
        return gt_error_set(error, "\"%s\" is %" PRIu64 " for %" PRIu64 " warps, which is more than possible",
                            columns[column].name, *value, executions);
    return 0;
}

static int read_access(struct reader *reader, struct gt_program_row *row, struct gt_error *error)
{
    /* clang-format off */
    static const struct { const char *name; uint8_t space; } spaces[] = {
        { "Global", GT_SPACE_GLOBAL }, { "Local", GT_SPACE_LOCAL }, { "Shared", GT_SPACE_SHARED },
    };
    /* clang-format on */
    const char *space = gt_csv_field(&reader->csv, reader->column[SPACE]);
    uint64_t tags, sectors, ideal, local, wavefronts, wavefronts_ideal;

    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (strcmp(space, spaces[i].name) == 0)
            row->space = spaces[i].space;
    if (read_work(reader, TAG_REQUESTS, row->executions, &tags, error) != 0 ||
        read_work(reader, SECTORS, row->executions, &sectors, error) != 0 ||
        read_work(reader, SECTORS_IDEAL, row->executions, &ideal, error) != 0 ||
        read_work(reader, LOCAL_SECTORS, row->executions, &local, error) != 0 ||
        read_work(reader, WAVEFRONTS, row->executions, &wavefronts, error) != 0 ||
        read_work(reader, WAVEFRONTS_IDEAL, row->executions, &wavefronts_ideal, error) != 0)
        return -1;
    row->access = (struct gt_access){
        .sectors = mean(sectors + local, row->executions),
        .sectors_ideal = mean(ideal, row->executions),
        .tag_requests = mean(tags, row->executions),
        .wavefronts = mean(wavefronts, row->executions),
        .wavefronts_ideal = mean(wavefronts_ideal, row->executions),
    };
    return 0;
}

static void read_stalls(struct reader *reader)
{
    struct gt_ncu_source *source = reader->source;
    uint32_t *samples = source->samples + (size_t)source->count * GT_STALLS;
    uint64_t value;

    memset(samples, 0, GT_STALLS * sizeof *samples);
    for (uint32_t s = 0; s < STALL_COLUMNS; s++) {
        if (reader->stall[s] == GT_NONE || !gt_csv_count(gt_csv_field(&reader->csv, reader->stall[s]), &value) ||
            value > MOST_SAMPLES)
            continue;
        samples[stalls[s].stall] = (uint32_t)value;
        source->sampled += value;
    }
}

static int read_row(struct reader *reader, struct gt_error *error)
{
    struct gt_ncu_source *source = reader->source;
    struct gt_program_row *row;

    if (source->count == GT_PROGRAM_MOST_INSTRUCTIONS)
        return gt_error_set(error, "more than %d instructions", GT_PROGRAM_MOST_INSTRUCTIONS);
    if (source->count == source->room) {
        source->room = source->room == 0 ? 512 : source->room * 2;
        source->rows = gt_realloc(source->rows, source->room, sizeof *source->rows);
        source->samples = gt_realloc(source->samples, (uint64_t)source->room * GT_STALLS, sizeof *source->samples);
    }
    row = &source->rows[source->count];
    *row = (struct gt_program_row){ .text = NULL };
    if (read_address(reader, error) != 0 || read_count(reader, EXECUTED, &row->executions, error) != 0 ||
        read_threads(reader, THREADS, row->executions, &row->threads, error) != 0 ||
        read_threads(reader, THREADS_ON, row->executions, &row->threads_on, error) != 0 ||
        read_count(reader, DIVERGENT, &row->divergent, error) != 0 || read_access(reader, row, error) != 0)
        return -1;
    row->text = read_text(reader, gt_csv_field(&reader->csv, reader->column[SOURCE]));
    if (reader->column[THREADS] == GT_NONE)
        row->threads = WARP_THREADS;
    if (reader->column[THREADS_ON] == GT_NONE)
        row->threads_on = row->threads;
    read_stalls(reader);
    source->count++;
    return 0;
}

/* Addresses within the kernel's own code become offsets in it, so that the same code reads the same wherever
 * it was loaded. */
static void rebase(struct reader *reader)
{
    uint64_t length = (uint64_t)reader->source->count * GT_SASS_BYTES;

    for (uint32_t i = 0; i < reader->source->count; i++) {
        /* The texts are this reader's own, and an offset is never longer than the address. */
        char *text = (char *)(uintptr_t)reader->source->rows[i].text, *at = strstr(text, "0x"), *end, rest[64];
        uint64_t value;

        for (; at != NULL; at = strstr(at + 2, "0x")) {
            value = strtoull(at, &end, 16);
            if (value < reader->base || value - reader->base >= length || strlen(end) >= sizeof rest)
                continue;
            strcpy(rest, end);
            sprintf(at, "0x%" PRIx64 "%s", value - reader->base, rest);
        }
    }
}

static int read_table(struct reader *reader, struct gt_error *error)
{
    struct gt_csv *csv = &reader->csv;
    int status = gt_csv_next(csv, error);

    if (status == 1 && strcmp(gt_csv_field(csv, 0), "Kernel Name") == 0) {
        reader->source->kernel = strdup(gt_csv_field(csv, 1));
        status = gt_csv_next(csv, error);
    }
    if (status == 1)
        status = find_columns(reader, error) == 0 ? gt_csv_next(csv, error) : -1;
    /* ncu may print the same table twice. */
    for (; status == 1 && strcmp(gt_csv_field(csv, 0), "Kernel Name") != 0; status = gt_csv_next(csv, error))
        if (read_row(reader, error) != 0)
            return -1;
    if (status >= 0 && reader->source->count == 0)
        return gt_error_set(error, "it contains no instruction");
    return status < 0 ? -1 : 0;
}

int gt_ncu_source_read(const char *path, struct gt_ncu_source *source, struct gt_error *error)
{
    struct gt_input *input = gt_input_open(path, error);
    struct reader reader = { .source = source };
    int status;

    *source = (struct gt_ncu_source){ 0 };
    if (input == NULL)
        return -1;
    gt_csv_open(&reader.csv, input);
    status = read_table(&reader, error);
    if (status != 0)
        gt_error_prefix(error, "%s:%" PRIu64 ": ", path, reader.csv.line);
    else
        rebase(&reader);
    gt_csv_close(&reader.csv);
    gt_input_close(input);
    return status;
}

void gt_ncu_source_free(struct gt_ncu_source *source)
{
    for (uint32_t i = 0; i < source->text_count; i++)
        free(source->texts[i]);
    free(source->texts);
    free(source->kernel);
    free(source->rows);
    free(source->samples);
}
