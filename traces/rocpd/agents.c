/* agents.c - rocpd_info_agent: which agents are GPUs, their names, and most of a device file. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/import/device.h"
#include "traces/rocpd/internal.h"

/* Numbers in `extdata`, as the kernel driver's topology names them. */
enum number { UNITS, WAVE_THREADS, SIMDS_PER_UNIT, WAVES_PER_SIMD, LDS_KIB, GROUP_THREADS, CLOCK_MHZ, NUMBERS };
static const char *const number_names[NUMBERS] = {
    [UNITS] = "cu_count",
    [WAVE_THREADS] = "wave_front_size",
    [SIMDS_PER_UNIT] = "simd_per_cu",
    [WAVES_PER_SIMD] = "max_waves_per_simd",
    [LDS_KIB] = "lds_size_in_kb",
    [GROUP_THREADS] = "workgroup_max_size",
    [CLOCK_MHZ] = "max_engine_clk_fcompute",
};

struct rocpd_agent {
    uint32_t set;
    int64_t id;
    uint32_t gpu;  /* its number among the GPUs; GT_NONE: a CPU */
    uint32_t name; /* gt_name(); GT_NONE */
    int64_t numbers[NUMBERS];
};

enum { ID, NUMBER, TYPE, PRODUCT, MODEL, NAME, EXTRA, COLUMNS };
static const struct gt_db_column columns[COLUMNS] = {
    [ID] = { "id", GT_DB_VALUE, GT_DB_ANY },      [NUMBER] = { "type_index", GT_DB_MAY_LACK, 0, 65535 },
    [TYPE] = { "type", GT_DB_TEXT, 0, 0 },        [PRODUCT] = { "product_name", GT_DB_TEXT, 0, 0 },
    [MODEL] = { "model_name", GT_DB_TEXT, 0, 0 }, [NAME] = { "name", GT_DB_TEXT, 0, 0 },
    [EXTRA] = { "extdata", GT_DB_TEXT, 0, 0 },
};

/* Whole numbers of a JSON object, by name; 0 for those that it does not have. */
static void read_numbers(struct rocpd *rocpd, const char *text, int64_t numbers[NUMBERS])
{
    const struct gt_json_token *object = gt_json_line_parse(rocpd->json, text, strlen(text), NULL);

    for (const struct gt_json_token *key = object != NULL ? object + 1 : NULL;
         key != NULL && key < object + object->span; key += 1 + key[1].span) {
        for (int i = 0; i < NUMBERS; i++)
            if (key[1].type == GT_JSON_NUMBER && key->length == strlen(number_names[i]) &&
                memcmp(key->text, number_names[i], key->length) == 0)
                numbers[i] = strtoll(key[1].text, NULL, 10); /* ended by what follows it in the text */
    }
}

/* The product ("AMD Instinct MI300X"), or what else names it ("gfx942"). */
static uint32_t name_of(struct rocpd *rocpd, const struct gt_db_rows *rows)
{
    static const int choice[] = { PRODUCT, MODEL, NAME };

    for (size_t i = 0; i < sizeof choice / sizeof choice[0]; i++) {
        const char *text = gt_db_row_text(rows, choice[i]);

        if (text != NULL && *text != '\0')
            return gt_name(rocpd->import.workload, text, strlen(text));
    }
    return GT_NONE;
}

static int read_agent(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct rocpd *rocpd = user;
    const char *type = gt_db_row_text(rows, TYPE), *extra = gt_db_row_text(rows, EXTRA);
    struct rocpd_agent agent = { .set = rocpd->set, .id = rows->value[ID], .gpu = GT_NONE, .name = GT_NONE };

    (void)error;
    if (type != NULL && strcmp(type, "GPU") == 0) {
        agent.gpu = rows->value[NUMBER] == GT_DB_NULL ? (uint32_t)agent.id & 65535 : (uint32_t)rows->value[NUMBER];
        agent.name = name_of(rocpd, rows);
        if (extra != NULL)
            read_numbers(rocpd, extra, agent.numbers);
    }
    gt_array_grow(rocpd->agents, rocpd->agent_count, rocpd->agent_room);
    rocpd->agents[rocpd->agent_count++] = agent;
    return 0;
}

static int by_id(const void *left, const void *right)
{
    const struct rocpd_agent *a = left, *b = right;

    GT_ORDER(a->set, b->set);
    GT_ORDER(a->id, b->id);
    return 0;
}

int rocpd_read_agents(struct rocpd *rocpd, struct gt_error *error)
{
    if (rocpd_each_row(rocpd, "rocpd_info_agent", columns, COLUMNS, read_agent, error) != 0)
        return -1;
    if (rocpd->agent_count > 1)
        qsort(rocpd->agents, rocpd->agent_count, sizeof *rocpd->agents, by_id);
    return 0;
}

uint32_t rocpd_gpu(const struct rocpd *rocpd, int64_t agent)
{
    const struct rocpd_agent key = { .set = rocpd->set, .id = agent }, *found = NULL;

    if (rocpd->agent_count > 0)
        found = bsearch(&key, rocpd->agents, rocpd->agent_count, sizeof key, by_id);
    return found != NULL ? found->gpu : GT_NONE;
}

/* As keys of a device file: a compute unit is what an SM is to CUDA, a wavefront what a warp is. */
static void set_keys(struct gt_import_device *draft, const int64_t numbers[NUMBERS])
{
    int64_t waves;
    const struct {
        const char *key;
        int64_t value;
    } keys[] = {
        { "chip.sms", numbers[UNITS] },
        { "chip.clock_mhz", numbers[CLOCK_MHZ] },
        { "block.threads", numbers[GROUP_THREADS] },
    };

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].value > 0)
            gt_import_device_set(draft, keys[i].key, keys[i].value);
    if (numbers[LDS_KIB] > 0 && numbers[LDS_KIB] < 1 << 20) {
        gt_import_device_set(draft, "sm.shared_bytes", numbers[LDS_KIB] * 1024);
        gt_import_device_set(draft, "block.shared_bytes", numbers[LDS_KIB] * 1024);
        gt_import_device_set(draft, "sm.shared_reserved_bytes", 0);
    }
    if (numbers[WAVES_PER_SIMD] <= 0 || numbers[WAVES_PER_SIMD] >= 1 << 10 || numbers[SIMDS_PER_UNIT] <= 0 ||
        numbers[SIMDS_PER_UNIT] >= 1 << 10 || numbers[WAVE_THREADS] <= 0 || numbers[WAVE_THREADS] >= 1 << 10)
        return;
    waves = numbers[WAVES_PER_SIMD] * numbers[SIMDS_PER_UNIT];
    gt_import_device_set(draft, "sm.warp_threads", numbers[WAVE_THREADS]);
    gt_import_device_set(draft, "sm.warps", waves);
    gt_import_device_set(draft, "sm.threads", waves * numbers[WAVE_THREADS]);
}

void rocpd_describe_gpus(struct rocpd *rocpd)
{
    struct gt_workload *workload = rocpd->import.workload;

    for (uint32_t i = 0; i < rocpd->agent_count; i++) {
        const struct rocpd_agent *agent = &rocpd->agents[i];

        for (uint32_t gpu = 0; gpu < workload->gpu_count && agent->gpu != GT_NONE; gpu++) {
            struct gt_import_device draft;

            if (workload->gpus[gpu].id != agent->gpu || workload->gpus[gpu].name != GT_NONE)
                continue;
            workload->gpus[gpu].name = agent->name;
            if (gpu > 0 || agent->name == GT_NONE)
                continue;
            gt_import_device_begin(&draft, workload, gt_name_text(workload, agent->name));
            set_keys(&draft, agent->numbers);
            gt_import_device_end(&draft);
        }
    }
    if (workload->setting_count == 0)
        gt_import_device_unknown(workload);
    gt_import_warn(workload, GT_WARNING_UNMODELLED, 1);
}
