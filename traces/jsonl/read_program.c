/* Programs and profiles, read. */
#include "traces/jsonl/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/program.h"
#include "traces/jsonl/program.h"
#include "traces/sass/control_guess.h"
#include "traces/sass/cubin.h"
#include "traces/sass/program_make.h"

enum { SHOWN = 60, CONTROL_LIMIT = 1 << 21, MOST_WARPS_PER_BLOCK = 32 };

struct raw_program {
    const struct gt_json_token *key, *sass, *control, *executions, *threads, *threads_on, *divergent, *access,
        *samples;
    uint64_t warps;
    uint32_t compute_capability, warps_per_block, registers, shared_bytes;
    bool warm_caches;
    struct gt_memory_use use;
};
/* clang-format off */
#define USE_FIELDS(type, use) \
    { "l1_load_hit", GT_FIELD_DOUBLE, offsetof(type, use.l1_load_hit), NULL, 0 }, \
    { "l1_store_hit", GT_FIELD_DOUBLE, offsetof(type, use.l1_store_hit), NULL, 0 }, \
    { "local_load_hit", GT_FIELD_DOUBLE, offsetof(type, use.local_load_hit), NULL, 0 }, \
    { "local_store_hit", GT_FIELD_DOUBLE, offsetof(type, use.local_store_hit), NULL, 0 }, \
    { "l2_read_hit", GT_FIELD_DOUBLE, offsetof(type, use.l2_read_hit), NULL, 0 }, \
    { "l2_write_hit", GT_FIELD_DOUBLE, offsetof(type, use.l2_write_hit), NULL, 0 }, \
    { "l2_atomic_hit", GT_FIELD_DOUBLE, offsetof(type, use.l2_atomic_hit), NULL, 0 }, \
    { "l2_atomic_slice_share", GT_FIELD_DOUBLE, offsetof(type, use.l2_atomic_slice_share), NULL, 0 }, \
    { "l2_read_sectors", GT_FIELD_U64, offsetof(type, use.l2_read_sectors), NULL, 0 }, \
    { "l2_write_sectors", GT_FIELD_U64, offsetof(type, use.l2_write_sectors), NULL, 0 }, \
    { "l2_atomic_sectors", GT_FIELD_U64, offsetof(type, use.l2_atomic_sectors), NULL, 0 }, \
    { "l2_fabric_sectors", GT_FIELD_U64, offsetof(type, use.l2_fabric_sectors), NULL, 0 }, \
    { "dram_read_bytes", GT_FIELD_U64, offsetof(type, use.dram_read_bytes), NULL, 0 }, \
    { "dram_write_bytes", GT_FIELD_U64, offsetof(type, use.dram_write_bytes), NULL, 0 }
/* clang-format on */

static const struct gt_field program_fields[] = {
    { "program", GT_FIELD_REF, offsetof(struct raw_program, key), NULL, 0 },
    { "compute_capability", GT_FIELD_U32, offsetof(struct raw_program, compute_capability), NULL, 0 },
    { "warps", GT_FIELD_U64, offsetof(struct raw_program, warps), NULL, 0 },
    { "warps_per_block", GT_FIELD_U32, offsetof(struct raw_program, warps_per_block), NULL, 0 },
    { "registers", GT_FIELD_U32, offsetof(struct raw_program, registers), NULL, 0 },
    { "shared_bytes", GT_FIELD_U32, offsetof(struct raw_program, shared_bytes), NULL, 0 },
    { "sass", GT_FIELD_ARRAY, offsetof(struct raw_program, sass), NULL, 0 },
    { "control", GT_FIELD_ARRAY, offsetof(struct raw_program, control), NULL, 0 },
    { "executions", GT_FIELD_ARRAY, offsetof(struct raw_program, executions), NULL, 0 },
    { "threads", GT_FIELD_ARRAY, offsetof(struct raw_program, threads), NULL, 0 },
    { "threads_on", GT_FIELD_ARRAY, offsetof(struct raw_program, threads_on), NULL, 0 },
    { "divergent", GT_FIELD_ARRAY, offsetof(struct raw_program, divergent), NULL, 0 },
    { "access", GT_FIELD_ARRAY, offsetof(struct raw_program, access), NULL, 0 },
    { "samples", GT_FIELD_ARRAY, offsetof(struct raw_program, samples), NULL, 0 },
    { "warm_caches", GT_FIELD_BOOL, offsetof(struct raw_program, warm_caches), NULL, 0 },
    USE_FIELDS(struct raw_program, use),
};
static const struct gt_field_table program_table = GT_FIELD_TABLE("a program", program_fields);

struct raw_profile {
    uint64_t cycles, warp_instructions, busiest_warp_instructions;
    double sm_hz;
    uint32_t cluster[3], shared_carveout_bytes, blocks_per_sm;
    struct gt_memory_use use;
};
static const struct gt_field profile_fields[] = {
    { "cycles", GT_FIELD_U64, offsetof(struct raw_profile, cycles), NULL, 0 },
    { "warp_instructions", GT_FIELD_U64, offsetof(struct raw_profile, warp_instructions), NULL, 0 },
    { "busiest_warp_instructions", GT_FIELD_U64, offsetof(struct raw_profile, busiest_warp_instructions), NULL, 0 },
    { "sm_hz", GT_FIELD_DOUBLE, offsetof(struct raw_profile, sm_hz), NULL, 0 },
    { "cluster", GT_FIELD_SIZE3, offsetof(struct raw_profile, cluster), NULL, 0 },
    { "shared_carveout_bytes", GT_FIELD_U32, offsetof(struct raw_profile, shared_carveout_bytes), NULL, 0 },
    { "blocks_per_sm", GT_FIELD_U32, offsetof(struct raw_profile, blocks_per_sm), NULL, 0 },
    USE_FIELDS(struct raw_profile, use),
};
static const struct gt_field_table profile_table = GT_FIELD_TABLE("a profile", profile_fields);

/* clang-format off */
static const struct gt_memory_use use_unknown = {
    .l1_load_hit = -1, .l1_store_hit = -1, .local_load_hit = -1, .local_store_hit = -1, .l2_read_hit = -1,
    .l2_write_hit = -1, .l2_atomic_hit = -1, .l2_atomic_slice_share = -1,
};
/* clang-format on */

static int check_use(const struct gt_memory_use *use, struct gt_error *error)
{
    for (int i = 0; i < GT_USE_RATES; i++) {
        double rate = *(const double *)((const char *)use + gt_use_rates[i].offset);

        if (rate != -1 && (rate < 0 || rate > 1))
            return gt_error_set(error, "\"%s\" is %g; a hit rate is from 0 to 1", gt_use_rates[i].name, rate);
    }
    return 0;
}

static int read_count(const struct gt_json_token *value, const char *name, uint64_t limit, uint64_t *count,
                      struct gt_error *error)
{
    double number;

    if (gt_field_double(value, name, &number, error) != 0)
        return -1;
    if (number < 0 || number > (double)limit || number != floor(number))
        return gt_error_set(error, "\"%s\" has %.*s; it must contain whole numbers from 0 to %llu", name,
                            value->length < SHOWN ? (int)value->length : SHOWN, value->text,
                            (unsigned long long)limit);
    *count = (uint64_t)number;
    return 0;
}

static uint32_t length_of(const struct gt_json_token *list)
{
    uint32_t count = 0;

    for (const struct gt_json_token *value = list + 1; value < list + list->span; value += value->span)
        count++;
    return count;
}

/* Is the list there and as long as the code? */
static int check_length(const struct gt_json_token *list, const char *name, uint32_t count, struct gt_error *error)
{
    if (list == NULL)
        return gt_error_set(error, "a program needs \"%s\", a list", name);
    if (length_of(list) != count)
        return gt_error_set(error, "\"%s\" has %u values for %u instructions", name, length_of(list), count);
    return 0;
}

/* The texts of instructions, one behind the other; the caller frees the result. */
static char *read_sass(const struct gt_json_token *list, struct gt_program_row *rows, struct gt_error *error)
{
    size_t bytes = 0;
    char *texts, *at;
    uint32_t i = 0;

    for (const struct gt_json_token *value = list + 1; value < list + list->span; value += value->span)
        bytes += value->length + 1;
    at = texts = gt_realloc(NULL, bytes, 1);
    for (const struct gt_json_token *value = list + 1; value < list + list->span; value += value->span, i++) {
        if (value->type != GT_JSON_STRING) {
            gt_error_set(error, "\"sass\" must be a list of strings, one per instruction");
            free(texts);
            return NULL;
        }
        memcpy(at, value->text, value->length);
        at[value->length] = '\0';
        rows[i].text = at;
        at += value->length + 1;
    }
    return texts;
}

static int read_numbers(const struct raw_program *raw, struct gt_program_row *rows, uint32_t count,
                        struct gt_error *error)
{
    const struct gt_json_token *executions = raw->executions + 1;

    for (uint32_t i = 0; i < count; i++)
        if (read_count(executions + i, "executions", GT_PROGRAM_MOST_EXECUTIONS, &rows[i].executions, error) != 0)
            return -1;
    if (raw->control == NULL)
        gt_control_guess(rows, count);
    for (uint32_t i = 0; i < count && raw->control != NULL; i++) {
        uint64_t packed;

        if (read_count(raw->control + 1 + i, "control", CONTROL_LIMIT - 1, &packed, error) != 0)
            return -1;
        rows[i].control = (uint32_t)packed;
    }
    return 0;
}

/* Means of threads; all where a program does not say. */
static int read_threads(const struct gt_json_token *list, const char *name, struct gt_program_row *rows,
                        uint32_t count, size_t offset, struct gt_error *error)
{
    double mean = 32;

    if (list != NULL && check_length(list, name, count, error) != 0)
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        if (list != NULL && gt_field_double(list + 1 + i, name, &mean, error) != 0)
            return -1;
        if (mean < 0 || mean > 32)
            return gt_error_set(error, "\"%s\" has %g; a warp has 0 to 32 threads", name, mean);
        *(float *)((char *)&rows[i] + offset) = (float)mean;
    }
    return 0;
}

/* The instruction that an entry of a list begins with; entries have `least` to `most` values. */
static int read_entry(const struct gt_json_token *entry, const char *name, uint32_t count, uint32_t least,
                      uint32_t most, uint32_t *instruction, struct gt_error *error)
{
    uint64_t number;

    if (entry->type != GT_JSON_ARRAY || length_of(entry) != entry->span - 1 || entry->span - 1 < least ||
        entry->span - 1 > most)
        return gt_error_set(error,
                            "\"%s\" must be a list of lists of %u to %u values, the first the number of an "
                            "instruction",
                            name, least, most);
    if (read_count(entry + 1, name, count - 1, &number, error) != 0)
        return -1;
    *instruction = (uint32_t)number;
    return 0;
}

static int read_divergent(const struct gt_json_token *list, struct gt_program_row *rows, uint32_t count,
                          struct gt_error *error)
{
    uint32_t i;

    for (const struct gt_json_token *entry = list + 1; entry < list + list->span; entry += entry->span)
        if (read_entry(entry, "divergent", count, 2, 2, &i, error) != 0 ||
            read_count(entry + 2, "divergent", GT_PROGRAM_MOST_EXECUTIONS, &rows[i].divergent, error) != 0)
            return -1;
    return 0;
}

static int find_word(const struct gt_json_token *value, const char *const *words, int count, const char *name,
                     struct gt_error *error)
{
    for (int i = 0; i < count && value->type == GT_JSON_STRING; i++)
        if (strlen(words[i]) == value->length && memcmp(words[i], value->text, value->length) == 0)
            return i;
    return gt_error_set(error, "\"%s\" has an entry with %.*s, which is unknown", name,
                        value->length < SHOWN ? (int)value->length : SHOWN, value->text);
}

static int read_access(const struct gt_json_token *list, struct gt_program_row *rows, uint32_t count,
                       struct gt_error *error)
{
    for (const struct gt_json_token *entry = list + 1; entry < list + list->span; entry += entry->span) {
        uint32_t i;
        double mean;
        int space;

        if (read_entry(entry, "access", count, 2, 2 + GT_ACCESS_MEANS, &i, error) != 0)
            return -1;
        space = find_word(entry + 2, gt_space_names, GT_SPACES, "access", error);
        if (space < 0)
            return -1;
        rows[i].space = (uint8_t)space;
        for (uint32_t m = 0; m + 3 < entry->span; m++) {
            if (gt_field_double(entry + 3 + m, "access", &mean, error) != 0)
                return -1;
            if (mean < 0 || mean > UINT32_MAX)
                return gt_error_set(error, "\"access\" has %g; means are from 0 to 2^32", mean);
            *(float *)((char *)&rows[i].access + gt_access_means[m]) = (float)mean;
        }
    }
    return 0;
}

static int read_samples(const struct gt_json_token *list, uint32_t *samples, uint32_t count, struct gt_error *error)
{
    for (const struct gt_json_token *entry = list + 1; entry < list + list->span; entry += entry->span) {
        uint64_t number;
        uint32_t i;
        int stall;

        if (read_entry(entry, "samples", count, 3, 3, &i, error) != 0)
            return -1;
        stall = find_word(entry + 2, gt_stall_names, GT_STALLS, "samples", error);
        if (stall < 0 || read_count(entry + 3, "samples", INT32_MAX, &number, error) != 0)
            return -1;
        samples[(size_t)i * GT_STALLS + stall] = (uint32_t)number;
    }
    return 0;
}

static int check_program(struct gt_jsonl *jsonl, const struct raw_program *raw, struct gt_error *error)
{
    uint32_t line, count = raw->sass != NULL ? length_of(raw->sass) : 0;

    if (raw->key->type != GT_JSON_STRING)
        return gt_error_set(error, "the key of a program must be a string");
    if (gt_refs_find(jsonl->programs, raw->key, &line) != GT_NONE)
        return gt_error_set(error, "program %.*s is defined already, on line %u",
                            raw->key->length < SHOWN ? (int)raw->key->length : SHOWN, raw->key->text, line);
    if (count == 0 || count > GT_PROGRAM_MOST_INSTRUCTIONS)
        return gt_error_set(error, "a program needs \"sass\", a list of 1 to %d instructions",
                            GT_PROGRAM_MOST_INSTRUCTIONS);
    if (raw->warps == 0 || raw->warps > GT_PROGRAM_MOST_EXECUTIONS || raw->warps_per_block == 0 ||
        raw->warps_per_block > MOST_WARPS_PER_BLOCK)
        return gt_error_set(
            error,
            "a program needs \"warps\", the number of warps of the profiled launch, and \"warps_per_block\", 1 to %d",
            MOST_WARPS_PER_BLOCK);
    if ((raw->control != NULL && check_length(raw->control, "control", count, error) != 0) ||
        check_length(raw->executions, "executions", count, error) != 0)
        return -1;
    return check_use(&raw->use, error);
}

/* Make the program of rows that have their texts. */
static int add_program(struct gt_jsonl *jsonl, const struct raw_program *raw, struct gt_program_row *rows,
                       uint32_t count, struct gt_error *error)
{
    uint32_t *samples = raw->samples == NULL ? NULL : gt_calloc((uint64_t)count * GT_STALLS, sizeof *samples);
    struct gt_program head = {
        .warps = raw->warps, .warps_per_block = raw->warps_per_block, .registers_per_thread = raw->registers,
        .shared_bytes = raw->shared_bytes, .compute_capability = raw->compute_capability, .use = raw->use,
        .warm_caches = raw->warm_caches,
    }, *program;
    struct gt_flow_report report;
    uint32_t unknown, first_unknown;

    if (read_numbers(raw, rows, count, error) != 0 ||
        read_threads(raw->threads, "threads", rows, count, offsetof(struct gt_program_row, threads), error) != 0 ||
        read_threads(raw->threads_on, "threads_on", rows, count, offsetof(struct gt_program_row, threads_on),
                     error) != 0 ||
        (raw->divergent != NULL && read_divergent(raw->divergent, rows, count, error) != 0) ||
        (raw->access != NULL && read_access(raw->access, rows, count, error) != 0) ||
        (samples != NULL && read_samples(raw->samples, samples, count, error) != 0)) {
        free(samples);
        return -1;
    }
    head.key = strndup(raw->key->text, raw->key->length);
    program = gt_program_make(&head, rows, count, &report, &unknown, &first_unknown);
    program->samples = samples;
    free(head.key);
    gt_refs_add(jsonl->programs, raw->key, jsonl->workload->program_count, jsonl->line_number);
    gt_workload_add_program(jsonl->workload, program);
    return 0;
}

int gt_jsonl_program(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_program raw = { .use = use_unknown };
    struct gt_program_row *rows;
    uint64_t given;
    uint32_t count;
    char *texts;
    int status = -1;

    if (gt_fields_read(object, &program_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0 ||
        check_program(jsonl, &raw, error) != 0)
        return -1;
    count = length_of(raw.sass);
    rows = gt_calloc(count, sizeof *rows);
    texts = read_sass(raw.sass, rows, error);
    if (texts != NULL)
        status = add_program(jsonl, &raw, rows, count, error);
    free(texts);
    free(rows);
    if (status == 0)
        gt_jsonl_keep_unknown(jsonl, GT_EXTRA_PROGRAM, jsonl->workload->program_count - 1);
    return status;
}

int gt_jsonl_profile(struct gt_jsonl *jsonl, const struct gt_json_token *object, uint32_t op, struct gt_error *error)
{
    struct raw_profile raw = { .cluster = { 1, 1, 1 }, .use = use_unknown };
    struct gt_profile profile = { .op = op };
    uint64_t given;

    if (jsonl->workload->ops[op].kind != GT_OP_KERNEL)
        return gt_error_set(error, "\"profile\" is for kernels only");
    if (gt_fields_read(object, &profile_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0 ||
        check_use(&raw.use, error) != 0)
        return gt_error_prefix(error, "\"profile\": ");
    if (raw.sm_hz < 0 || raw.sm_hz > 1e12)
        return gt_error_set(error, "\"profile\": \"sm_hz\" is %g; a clock is from 0 to 1e12 Hz", raw.sm_hz);
    profile.cycles = raw.cycles;
    profile.warp_instructions = raw.warp_instructions;
    profile.busiest_warp_instructions = raw.busiest_warp_instructions;
    profile.sm_hz = raw.sm_hz;
    memcpy(profile.cluster, raw.cluster, sizeof profile.cluster);
    profile.shared_carveout_bytes = raw.shared_carveout_bytes;
    profile.blocks_per_sm = raw.blocks_per_sm;
    profile.use = raw.use;
    gt_workload_add_profile(jsonl->workload, &profile);
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_PROFILE, op);
    return 0;
}
