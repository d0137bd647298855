/* Kernel definitions. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/child_launches.h"
#include "sim/workload/collective.h"
#include "traces/jsonl/reader.h"
#include "traces/jsonl/task_lines.h"

/* What a kernel's line says of the collective that it is a part of. */

struct gt_raw_collective {
    const struct gt_json_token *group, *datatype, *reduction;
    uint64_t bytes;          /* UINT64_MAX: not given */
    uint32_t root, to, from; /* GT_NONE: not given, of to and from */
    uint8_t kind, algorithm, protocol;
};

/* Rows of the kernel's table of fields; `member` is the raw collective's name in `type`. */
/* clang-format off */
#define GT_COLLECTIVE_FIELDS(type, member) \
    { "collective", GT_FIELD_CHOICE, offsetof(type, member.kind), gt_collective_kind_names, GT_COLLECTIVE_KINDS }, \
    { "group", GT_FIELD_REF, offsetof(type, member.group), NULL, 0 }, \
    { "bytes", GT_FIELD_U64, offsetof(type, member.bytes), NULL, 0 }, \
    { "datatype", GT_FIELD_TEXT, offsetof(type, member.datatype), NULL, 0 }, \
    { "reduction", GT_FIELD_TEXT, offsetof(type, member.reduction), NULL, 0 }, \
    { "root", GT_FIELD_U32, offsetof(type, member.root), NULL, 0 }, \
    { "to", GT_FIELD_U32, offsetof(type, member.to), NULL, 0 }, \
    { "from", GT_FIELD_U32, offsetof(type, member.from), NULL, 0 }, \
    { "algorithm", GT_FIELD_CHOICE, offsetof(type, member.algorithm), gt_algorithm_names, GT_ALGORITHMS }, \
    { "protocol", GT_FIELD_CHOICE, offsetof(type, member.protocol), gt_protocol_names, GT_PROTOCOLS }
/* clang-format on */

/* What a kernel without these fields says. */
#define GT_RAW_COLLECTIVE_NONE                                         \
    {                                                                  \
        .bytes = UINT64_MAX, .to = GT_NONE, .from = GT_NONE, .root = 0 \
    }

/* Groups of GPUs, and what a kernel says of the collective that it is a part of. */

enum { SHOWN = 60 };

struct raw_group {
    const struct gt_json_token *key, *gpus;
};
static const struct gt_field group_fields[] = {
    { "group", GT_FIELD_REF, offsetof(struct raw_group, key), NULL, 0 },
    { "gpus", GT_FIELD_ARRAY, offsetof(struct raw_group, gpus), NULL, 0 },
};
static const struct gt_field_table group_table = GT_FIELD_TABLE("a group", group_fields);

int gt_jsonl_group(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_group raw = { .key = NULL };
    gt_gpu_index gpus[GT_MOST_GPUS];
    uint32_t size = 0, index, line;
    uint64_t given;

    if (gt_fields_read(object, &group_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return -1;
    if (raw.key->type != GT_JSON_STRING || raw.gpus == NULL)
        return gt_error_set(error,
                            "a group needs a name, a string, and \"gpus\", a list: the GPUs of rank 0, rank 1, ...");
    if (gt_refs_find(jsonl->groups, raw.key, &line) != GT_NONE)
        return gt_error_set(error, "group %.*s is defined already, on line %u",
                            raw.key->length < SHOWN ? (int)raw.key->length : SHOWN, raw.key->text, line);
    for (const struct gt_json_token *gpu = raw.gpus + 1; gpu < raw.gpus + raw.gpus->span; gpu += gpu->span) {
        if (size == GT_MOST_GPUS)
            return gt_error_set(error, "\"gpus\" lists more than %d", GT_MOST_GPUS);
        if (gpu->type != GT_JSON_STRING && gpu->type != GT_JSON_NUMBER)
            return gt_error_set(error, "\"gpus\" lists GPUs by their names or numbers");
        if (gt_jsonl_use_gpu(jsonl, gpu, &gpus[size++], error) != 0)
            return -1;
    }
    index =
        gt_workload_add_group(jsonl->workload, gt_name(jsonl->workload, raw.key->text, raw.key->length), gpus, size);
    gt_refs_add(jsonl->groups, raw.key, index, jsonl->line_number);
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_GROUP, index);
    return gt_group_check(jsonl->workload, &jsonl->workload->groups[index], error);
}

static int use_group(struct gt_jsonl *jsonl, const struct gt_json_token *ref, uint32_t *group, struct gt_error *error)
{
    if (ref == NULL || ref->type != GT_JSON_STRING)
        return gt_error_set(error,
                            "a collective needs a \"group\", defined above: {\"group\":\"world\",\"gpus\":[0,1]}");
    *group = gt_refs_find(jsonl->groups, ref, NULL);
    return *group != GT_NONE ? 0
                             : gt_error_set(error, "no group %.*s has been defined above this line",
                                            ref->length < SHOWN ? (int)ref->length : SHOWN, ref->text);
}

static uint32_t name_of(struct gt_jsonl *jsonl, const struct gt_json_token *text)
{
    return text == NULL || text->type != GT_JSON_STRING ? GT_NONE
                                                        : gt_name(jsonl->workload, text->text, text->length);
}

static int check_fields(const struct gt_raw_collective *raw, struct gt_error *error)
{
    bool none = raw->kind == GT_COLLECTIVE_NONE, message = raw->kind == GT_SEND_RECV;
    bool rooted = raw->kind == GT_BROADCAST || raw->kind == GT_REDUCE;

    if (none && (raw->group != NULL || raw->bytes != UINT64_MAX || raw->datatype != NULL || raw->reduction != NULL ||
                 raw->algorithm != 0 || raw->protocol != 0))
        return gt_error_set(error,
                            "\"group\", \"bytes\", \"datatype\", \"reduction\", \"algorithm\" and \"protocol\" are "
                            "for collectives only; add the collective, such as \"collective\":\"all_reduce\"");
    if (!none && raw->bytes == UINT64_MAX)
        return gt_error_set(error, "a collective needs \"bytes\", less than 2^63");
    if (!message && (raw->to != GT_NONE || raw->from != GT_NONE))
        return gt_error_set(error, "\"to\" and \"from\" are for \"collective\":\"send_recv\" only");
    if (!rooted && raw->root != 0)
        return gt_error_set(error, "\"root\" is for a broadcast or a reduce only");
    return 0;
}

/* Fill *collective from what the line says; `shaped`: it says the grid or the block too. */
static int jsonl_collective(struct gt_jsonl *jsonl, const struct gt_raw_collective *raw, bool shaped,
                            struct gt_collective *collective, struct gt_error *error)
{
    uint32_t group;

    if (check_fields(raw, error) != 0)
        return -1;
    if (raw->kind == GT_COLLECTIVE_NONE)
        return 0;
    if (use_group(jsonl, raw->group, &group, error) != 0)
        return -1;
    *collective = gt_collective_of(raw->kind, group, raw->bytes);
    collective->root = raw->root;
    collective->to = raw->to;
    collective->from = raw->from;
    collective->datatype = name_of(jsonl, raw->datatype);
    collective->reduction = name_of(jsonl, raw->reduction);
    collective->algorithm = raw->algorithm;
    collective->protocol = raw->protocol;
    collective->shaped = shaped;
    return 0;
}

struct raw_kernel {
    const struct gt_json_token *name, *id;
    uint32_t grid[3], block[3], cluster[3];
    GT_KERNEL_PLAIN(GT_PLAIN_MEMBER)
    struct gt_field_times block_cost, block_list, phases;
    gt_time_ps duration;
    uint32_t grid_barriers, trigger_pct;
    const struct gt_json_token *runs, *arguments, *program, *tasks, *policy, *launches;
    struct gt_raw_collective collective;
};
#define KERNEL_PLAIN(member, ctype, type, key, store) GT_FIELD_PLAIN(struct raw_kernel, member, type, key)
static const struct gt_field kernel_fields[] = {
    { "kernel", GT_FIELD_REF, offsetof(struct raw_kernel, name), NULL, 0 },
    { "id", GT_FIELD_REF, offsetof(struct raw_kernel, id), NULL, 0 },
    { "grid", GT_FIELD_SIZE3, offsetof(struct raw_kernel, grid), NULL, 0 },
    { "block", GT_FIELD_SIZE3, offsetof(struct raw_kernel, block), NULL, 0 },
    { "cluster", GT_FIELD_SIZE3, offsetof(struct raw_kernel, cluster), NULL, 0 },
    { "block", GT_FIELD_TIMES, offsetof(struct raw_kernel, block_cost), NULL, 0 },
    { "block_list", GT_FIELD_TIMES, offsetof(struct raw_kernel, block_list), NULL, 0 },
    { "phase", GT_FIELD_TIMES, offsetof(struct raw_kernel, phases), NULL, 0 },
    { "duration", GT_FIELD_TIME, offsetof(struct raw_kernel, duration), NULL, 0 },
    { "runs", GT_FIELD_TEXT, offsetof(struct raw_kernel, runs), NULL, 0 },
    { "arguments", GT_FIELD_OBJECT, offsetof(struct raw_kernel, arguments), NULL, 0 },
    { "program", GT_FIELD_REF, offsetof(struct raw_kernel, program), NULL, 0 },
    { "tasks", GT_FIELD_REF, offsetof(struct raw_kernel, tasks), NULL, 0 },
    { "policy", GT_FIELD_TEXT, offsetof(struct raw_kernel, policy), NULL, 0 },
    { "launches", GT_FIELD_ARRAY, offsetof(struct raw_kernel, launches), NULL, 0 },
    { "grid_barriers", GT_FIELD_U32, offsetof(struct raw_kernel, grid_barriers), NULL, 0 },
    { "trigger_pct", GT_FIELD_U32, offsetof(struct raw_kernel, trigger_pct), NULL, 0 },
    GT_COLLECTIVE_FIELDS(struct raw_kernel, collective),
    GT_KERNEL_PLAIN(KERNEL_PLAIN)
};
enum { SHAPE_GIVEN = 1 << 2 | 1 << 3 }; /* rows of this table */
static const struct gt_field_table kernel_table = GT_FIELD_TABLE("a kernel", kernel_fields);

/* One cost for every block, or [least, most]. */
static int read_block_cost(const struct gt_field_times *times, struct gt_kernel *kernel, struct gt_error *error)
{
    const struct gt_json_token *low = times->value, *high = times->value;

    kernel->cost = GT_COST_FIXED;
    if (times->value->type == GT_JSON_ARRAY) {
        if (times->value->span != 3)
            return gt_error_set(
                error, "\"block\" time: a range is [least, most]; for one time per block use \"block_list_us\"");
        kernel->cost = GT_COST_RANGE;
        low = times->value + 1;
        high = times->value + 2;
    }
    if (gt_field_time(low, times->exponent, "block", &kernel->block_min_ps, error) != 0 ||
        gt_field_time(high, times->exponent, "block", &kernel->block_max_ps, error) != 0)
        return -1;
    if (kernel->block_min_ps > kernel->block_max_ps)
        return gt_error_set(error, "\"block\" time: the minimum exceeds the maximum");
    return 0;
}

static int read_block_list(const struct gt_field_times *times, struct gt_kernel *kernel, struct gt_error *error)
{
    const struct gt_json_token *list = times->value;

    if (list->type != GT_JSON_ARRAY || list->span == 1)
        return gt_error_set(error, "\"block_list\" must be a list of times, one per block");
    kernel->cost = GT_COST_LIST;
    kernel->block_list_length = 0;
    kernel->block_list_ps = gt_realloc(NULL, list->span - 1, sizeof *kernel->block_list_ps);
    for (const struct gt_json_token *value = list + 1; value < list + list->span; value += value->span)
        if (gt_field_time(value, times->exponent, "block_list", &kernel->block_list_ps[kernel->block_list_length++],
                          error) != 0)
            return -1;
    return 0;
}

/* The parts of a block's time between barriers; and that time, where nothing else says it. */
static int read_phases(const struct raw_kernel *raw, struct gt_kernel *kernel, struct gt_error *error)
{
    const struct gt_json_token *list = raw->phases.value;
    gt_time_ps end_ps = 0;
    uint32_t count = 0;

    if (list->type != GT_JSON_ARRAY || list->span == 1 || list->span - 2 > GT_MOST_GRID_BARRIERS)
        return gt_error_set(error, "\"phase\" must be a list of times, one more than the number of grid barriers");
    kernel->phase_end_ps = gt_realloc(NULL, list->span - 1, sizeof *kernel->phase_end_ps);
    for (const struct gt_json_token *value = list + 1; value < list + list->span; value += value->span) {
        gt_time_ps phase_ps;

        if (gt_field_time(value, raw->phases.exponent, "phase", &phase_ps, error) != 0)
            return -1;
        end_ps += phase_ps;
        if (phase_ps > GT_TIME_LIMIT_PS || end_ps > GT_TIME_LIMIT_PS)
            return gt_error_set(error, "the phases of \"phase\" are too long");
        kernel->phase_end_ps[count++] = end_ps;
    }
    if (end_ps == 0 || (raw->grid_barriers > 0 && raw->grid_barriers != count - 1))
        return gt_error_set(
            error,
            "\"phase\" with %u times needs a time above 0 and %u grid barriers; \"grid_barriers\" may be omitted",
            count, count - 1);
    kernel->grid_barriers = count - 1;
    if (kernel->cost != GT_COST_NONE || kernel->duration_ps != GT_TIME_NONE)
        return 0;
    kernel->cost = GT_COST_FIXED;
    kernel->block_min_ps = kernel->block_max_ps = end_ps;
    return 0;
}

static int read_cost(const struct raw_kernel *raw, struct gt_kernel *kernel, struct gt_error *error)
{
    if (raw->block_cost.value != NULL && raw->block_list.value != NULL)
        return gt_error_set(error, "a block time and a list of block times exclude each other");
    if (raw->block_cost.value != NULL)
        return read_block_cost(&raw->block_cost, kernel, error);
    return raw->block_list.value != NULL ? read_block_list(&raw->block_list, kernel, error) : 0;
}

/* What its blocks do as workers. */
static int read_tasks(struct gt_jsonl *jsonl, const struct raw_kernel *raw, struct gt_kernel *kernel,
                      struct gt_error *error)
{
    if (raw->tasks == NULL && raw->policy != NULL)
        return gt_error_set(error, "\"policy\" selects how workers get tasks; it needs \"tasks\", a task graph");
    if (raw->tasks == NULL)
        return 0;
    if (raw->block_cost.value != NULL || raw->block_list.value != NULL)
        return gt_error_set(error,
                            "the blocks of a kernel with \"tasks\" take as long as their tasks; omit the block time");
    return gt_jsonl_use_task_graph(jsonl, raw->tasks, raw->policy, kernel, error);
}

static int check_kernel(struct gt_jsonl *jsonl, const struct raw_kernel *raw, const struct gt_json_token *key,
                        struct gt_error *error)
{
    int shown = key->length < SHOWN ? (int)key->length : SHOWN;
    uint32_t line;

    if (raw->name->type != GT_JSON_STRING)
        return gt_error_set(error, "a kernel needs a name; give its number as \"id\"");
    if (key->type == GT_JSON_NULL)
        return gt_error_set(error, "a kernel's \"id\" is a name or a number, not null");
    if (raw->trigger_pct > 100)
        return gt_error_set(error, "\"trigger_pct\" is the percentage of a block's time, 0 to 100, after which the "
                                   "next kernel may start (programmatic launch)");
    if (gt_refs_find(jsonl->kernels, key, &line) != GT_NONE)
        return gt_error_set(error,
                            "kernel %.*s is defined already, on line %u; give kernels of the same "
                            "name an \"id\" each",
                            shown, key->text, line);
    return 0;
}

static void free_lists(struct gt_kernel *kernel)
{
    free(kernel->block_list_ps);
    free(kernel->phase_end_ps);
    gt_launch_rules_free(kernel->launches, kernel->launch_count);
}

static void copy_fields(struct gt_kernel *to, const struct raw_kernel *from)
{
    GT_KERNEL_PLAIN(GT_PLAIN_COPY)
}

int gt_jsonl_kernel(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_kernel raw = {
        .grid = { 1, 1, 1 },
        .block = { 1, 1, 1 },
        .cluster = { 1, 1, 1 },
        .duration = GT_TIME_NONE,
        .trigger_pct = 100,
        .collective = GT_RAW_COLLECTIVE_NONE,
    };
    struct gt_kernel kernel = { .line = jsonl->line_number, .runs = GT_NONE, .arguments = GT_NONE };
    const struct gt_json_token *key;
    uint32_t index, before = jsonl->workload->kernel_count;
    uint64_t given;

    if (gt_fields_read(object, &kernel_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return -1;
    key = raw.id != NULL ? raw.id : raw.name;
    if (check_kernel(jsonl, &raw, key, error) != 0)
        return -1;
    memcpy(kernel.grid, raw.grid, sizeof kernel.grid);
    memcpy(kernel.block, raw.block, sizeof kernel.block);
    memcpy(kernel.cluster, raw.cluster, sizeof kernel.cluster);
    copy_fields(&kernel, &raw);
    kernel.duration_ps = raw.duration;
    kernel.grid_barriers = raw.grid_barriers;
    kernel.early_pct = 100 - raw.trigger_pct;
    if (read_cost(&raw, &kernel, error) != 0 ||
        (raw.phases.value != NULL && read_phases(&raw, &kernel, error) != 0) ||
        gt_jsonl_library(jsonl, raw.runs, raw.arguments, &kernel.runs, &kernel.arguments, error) != 0 ||
        gt_jsonl_use_program(jsonl, raw.program, &kernel.program, error) != 0 ||
        read_tasks(jsonl, &raw, &kernel, error) != 0 ||
        jsonl_collective(jsonl, &raw.collective, given & SHAPE_GIVEN, &kernel.collective, error) != 0 ||
        (raw.launches != NULL && gt_jsonl_launches(jsonl, raw.launches, key, &kernel, error) != 0)) {
        free_lists(&kernel);
        return -1;
    }
    kernel.name = gt_name(jsonl->workload, raw.name->text, raw.name->length);
    index = gt_workload_kernel(jsonl->workload, &kernel);
    free_lists(&kernel);
    gt_refs_add(jsonl->kernels, key, index, jsonl->line_number);
    if (index == before) /* of kernels that are the same, the first one's unknown fields stay */
        gt_jsonl_keep_unknown(jsonl, GT_EXTRA_KERNEL, index);
    return 0;
}

int gt_jsonl_use_kernel(struct gt_jsonl *jsonl, const struct gt_json_token *ref, uint32_t *kernel,
                        struct gt_error *error)
{
    const char *none = jsonl->workload->kernel_count > 0 ? " numbers only" : " none";
    char valid[400];

    *kernel = ref->type == GT_JSON_NULL ? GT_NONE : gt_refs_find(jsonl->kernels, ref, NULL);
    if (*kernel != GT_NONE)
        return 0;
    gt_refs_list(jsonl->kernels, valid, sizeof valid);
    return gt_error_set(error, "no kernel %.*s has been defined above this line; defined so far:%s",
                        ref->length < SHOWN ? (int)ref->length : SHOWN, ref->text, valid[0] != '\0' ? valid : none);
}
