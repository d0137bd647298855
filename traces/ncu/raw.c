/* raw.c - the metrics of launches: one table, columns found by name, units by the row below. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/io/csv.h"
#include "traces/ncu/internal.h"

enum unit { PLAIN, BYTES, SECONDS, HERTZ };

#define MOST_BLOCKS (double)(GT_PROGRAM_MOST_EXECUTIONS / 32)
#define MOST_CYCLES 0x1p53
/* Of a thread, and blocks of a cluster, on any GPU; what is beyond is no such number. */
enum { WARP_THREADS = 32, MOST_REGISTERS = 255, MOST_REGISTERS_ALLOCATED = 256, MOST_CLUSTER = 64 };
#define MOST_HZ 1e12

/* How a column's value becomes one in bytes, seconds or 1/s.  What stands behind a slash ("Kbyte/block") does
 * not scale.  ncu counts in thousands: 1 Kbyte is 1000 bytes. */
/* clang-format off */
static const struct { const char *name; enum unit unit; double scale; } units[] = {
    { "byte", BYTES, 1 }, { "Kbyte", BYTES, 1e3 }, { "Mbyte", BYTES, 1e6 }, { "Gbyte", BYTES, 1e9 },
    { "Tbyte", BYTES, 1e12 },
    { "s", SECONDS, 1 }, { "ms", SECONDS, 1e-3 }, { "us", SECONDS, 1e-6 }, { "ns", SECONDS, 1e-9 },
    { "second", SECONDS, 1 }, { "msecond", SECONDS, 1e-3 }, { "usecond", SECONDS, 1e-6 },
    { "nsecond", SECONDS, 1e-9 },
    { "hz", HERTZ, 1 }, { "Khz", HERTZ, 1e3 }, { "Mhz", HERTZ, 1e6 }, { "Ghz", HERTZ, 1e9 },
    { "cycle/second", HERTZ, 1 }, { "cycle/usecond", HERTZ, 1e6 }, { "cycle/nsecond", HERTZ, 1e9 },
    { "cycle/s", HERTZ, 1 }, { "cycle/us", HERTZ, 1e6 }, { "cycle/ns", HERTZ, 1e9 },
};
/* clang-format on */

#define AT(field) offsetof(struct gt_ncu_launch, field)

/* The metrics that are read, all doubles; names as ncu 2020 to 2025 print them. */
/* clang-format off */
static const struct metric { const char *name; size_t offset; enum unit unit; bool needed; } metrics[] = {
    { "gpc__cycles_elapsed.max", AT(cycles), PLAIN, true },
    { "gpu__time_duration.sum", AT(seconds), SECONDS, true },
    { "gpc__cycles_elapsed.max.per_second", AT(sm_hz), HERTZ, false },
    { "smsp__inst_executed.sum", AT(warp_instructions), PLAIN, false },
    { "smsp__inst_executed.max", AT(busiest_warp_instructions), PLAIN, false },
    { "launch__shared_mem_per_block_static", AT(static_shared_bytes), BYTES, false },
    { "launch__shared_mem_per_block_dynamic", AT(dynamic_shared_bytes), BYTES, false },
    { "launch__shared_mem_per_block_allocated", AT(allocated_shared_bytes), BYTES, false },
    { "launch__shared_mem_config_size", AT(carveout_bytes), BYTES, false },
    { "launch__occupancy_limit_blocks", AT(blocks_limits[0]), PLAIN, false },
    { "launch__occupancy_limit_registers", AT(blocks_limits[1]), PLAIN, false },
    { "launch__occupancy_limit_shared_mem", AT(blocks_limits[2]), PLAIN, false },
    { "launch__occupancy_limit_warps", AT(blocks_limits[3]), PLAIN, false },
    { "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum", AT(bulk_load_bytes), BYTES, false },
    { "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum", AT(bulk_store_bytes), BYTES, false },
    { "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", AT(hit_percent[0]), PLAIN, false },
    { "l1tex__t_sector_pipe_lsu_mem_global_op_st_hit_rate.pct", AT(hit_percent[1]), PLAIN, false },
    { "l1tex__t_sector_pipe_lsu_mem_local_op_ld_hit_rate.pct", AT(hit_percent[2]), PLAIN, false },
    { "l1tex__t_sector_pipe_lsu_mem_local_op_st_hit_rate.pct", AT(hit_percent[3]), PLAIN, false },
    { "lts__t_sector_op_read_hit_rate.pct", AT(hit_percent[4]), PLAIN, false },
    { "lts__t_sector_op_write_hit_rate.pct", AT(hit_percent[5]), PLAIN, false },
    { "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum", AT(read_hit), PLAIN, false },
    { "lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum", AT(read_miss), PLAIN, false },
    { "lts__t_sectors_srcunit_tex_op_write_lookup_hit.sum", AT(write_hit), PLAIN, false },
    { "lts__t_sectors_srcunit_tex_op_write_lookup_miss.sum", AT(write_miss), PLAIN, false },
    { "lts__t_sectors_srcunit_tex_op_atom_dot_alu_lookup_hit.sum", AT(atomic_hit), PLAIN, false },
    { "lts__t_sectors_srcunit_tex_op_atom_dot_alu_lookup_miss.sum", AT(atomic_miss), PLAIN, false },
    { "lts__t_sectors_srcunit_tex_op_red_lookup_hit.sum", AT(reduce_hit), PLAIN, false },
    { "lts__t_sectors_srcunit_tex_op_red_lookup_miss.sum", AT(reduce_miss), PLAIN, false },
    { "lts__t_sectors_srcunit_tex_op_read.sum", AT(sectors[0]), PLAIN, false },
    { "lts__t_sectors_srcunit_tex_op_write.sum", AT(sectors[1]), PLAIN, false },
    { "lts__t_sectors_srcunit_tex_op_atom.sum", AT(sectors[2]), PLAIN, false },
    { "lts__t_sectors_srcunit_tex_op_red.sum", AT(sectors[3]), PLAIN, false },
    { "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed", AT(atomic_busy[0]), PLAIN,
      false },
    { "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed", AT(atomic_busy[1]), PLAIN,
      false },
    { "lts__t_sectors.avg", AT(l2_sectors[0]), PLAIN, false },
    { "lts__t_sectors.sum", AT(l2_sectors[1]), PLAIN, false },
    { "lts__t_sectors_srcunit_ltcfabric.sum", AT(fabric_sectors), PLAIN, false },
    { "dram__bytes_read.sum", AT(dram_read_bytes), BYTES, false },
    { "dram__bytes_write.sum", AT(dram_write_bytes), BYTES, false },
};
/* clang-format on */
enum { METRICS = sizeof metrics / sizeof metrics[0] };

struct columns {
    uint32_t name, grid, block, capability, gpu, cluster[3], registers, registers_allocated;
    uint32_t metric[METRICS];
    double scale[METRICS];
};

static uint32_t find_column(const struct gt_csv *csv, const char *name)
{
    for (uint32_t i = 0; i < csv->count; i++)
        if (strcmp(gt_csv_field(csv, i), name) == 0)
            return i;
    return GT_NONE;
}

static int find_columns(const struct gt_csv *csv, struct columns *columns, struct gt_error *error)
{
    static const char hint[] = "export it with ncu --page raw --csv --print-kernel-base mangled";

    columns->name = find_column(csv, "Kernel Name");
    columns->grid = find_column(csv, "Grid Size");
    columns->block = find_column(csv, "Block Size");
    columns->capability = find_column(csv, "CC");
    columns->gpu = find_column(csv, "device__attribute_display_name");
    columns->cluster[0] = find_column(csv, "launch__cluster_dim_x");
    columns->cluster[1] = find_column(csv, "launch__cluster_dim_y");
    columns->cluster[2] = find_column(csv, "launch__cluster_dim_z");
    columns->registers = find_column(csv, "launch__registers_per_thread");
    columns->registers_allocated = find_column(csv, "launch__registers_per_thread_allocated");
    if (columns->name == GT_NONE || columns->grid == GT_NONE || columns->block == GT_NONE)
        return gt_error_set(error, "no column \"%s\"; %s",
                            columns->name == GT_NONE   ? "Kernel Name"
                            : columns->grid == GT_NONE ? "Grid Size"
                                                       : "Block Size",
                            hint);
    for (uint32_t m = 0; m < METRICS; m++) {
        columns->metric[m] = find_column(csv, metrics[m].name);
        columns->scale[m] = 1;
        if (metrics[m].needed && columns->metric[m] == GT_NONE)
            return gt_error_set(error, "no column \"%s\"; profile with ncu --set full", metrics[m].name);
    }
    return 0;
}

static int scale_of(const char *text, enum unit unit, double *scale)
{
    size_t length = strlen(text);

    if (unit == PLAIN)
        return 0;
    if (unit == BYTES)
        length = strcspn(text, "/");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (units[i].unit != unit || strlen(units[i].name) != length || strncmp(units[i].name, text, length) != 0)
            continue;
        *scale = units[i].scale;
        return 0;
    }
    return -1;
}

static int read_units(const struct gt_csv *csv, struct columns *columns, struct gt_error *error)
{
    for (uint32_t m = 0; m < METRICS; m++) {
        const char *unit = gt_csv_field(csv, columns->metric[m]);

        if (columns->metric[m] == GT_NONE || scale_of(unit, metrics[m].unit, &columns->scale[m]) == 0)
            continue;
        if (unit[0] == '\0' && !metrics[m].needed)
            columns->metric[m] = GT_NONE; /* no launch has it */
        else
            return gt_error_set(
                error, "column \"%s\" has unit \"%.40s\", which is unknown for it; is the row of units missing?",
                metrics[m].name, unit);
    }
    return 0;
}

/* "(1024, 1, 1)" */
static bool read_size(const char *text, uint32_t size[3])
{
    unsigned x, y, z;
    int end = 0;

    if (sscanf(text, " ( %9u , %9u , %9u )%n", &x, &y, &z, &end) != 3 || end == 0 || text[end] != '\0' || x == 0 ||
        y == 0 || z == 0)
        return false;
    size[0] = x;
    size[1] = y;
    size[2] = z;
    return true;
}

/* A whole number, 0 where there is none up to `most`. */
static uint32_t small_number(const struct gt_csv *csv, uint32_t column, uint32_t most)
{
    double value;

    if (column == GT_NONE || !gt_csv_number(gt_csv_field(csv, column), &value) || value < 0 || value > most)
        return 0;
    return (uint32_t)value;
}

/* Of a thread; of blocks of one warp the profiler gives the warp's. */
static uint32_t registers_allocated(const struct gt_csv *csv, uint32_t column)
{
    uint32_t registers = small_number(csv, column, MOST_REGISTERS_ALLOCATED * WARP_THREADS);

    return registers > MOST_REGISTERS_ALLOCATED ? registers / WARP_THREADS : registers;
}

/* Could a launch have this much? */
static bool is_possible(double value, const struct metric *metric)
{
    return metric->unit == SECONDS ? value <= (double)GT_TIME_LIMIT_PS * 1e-12
           : metric->unit == HERTZ ? value <= MOST_HZ
                                   : !metric->needed || value <= MOST_CYCLES;
}

static int read_metrics(const struct gt_csv *csv, const struct columns *columns, struct gt_ncu_launch *launch,
                        struct gt_error *error)
{
    for (uint32_t m = 0; m < METRICS; m++) {
        double *into = (double *)((char *)launch + metrics[m].offset), value;
        const char *text = gt_csv_field(csv, columns->metric[m]);

        *into = -1;
        if (columns->metric[m] == GT_NONE)
            continue;
        if (gt_csv_number(text, &value) && value >= 0 && is_possible(value * columns->scale[m], &metrics[m]))
            *into = value * columns->scale[m];
        else if (metrics[m].needed)
            return gt_error_set(error, "\"%s\" is \"%.40s\", not a number that a launch can have", metrics[m].name,
                                text);
    }
    return 0;
}

static int read_launch(const struct gt_csv *csv, const struct columns *columns, struct gt_ncu_launch *launch,
                       struct gt_error *error)
{
    unsigned major, minor;

    if (!read_size(gt_csv_field(csv, columns->grid), launch->grid) ||
        !read_size(gt_csv_field(csv, columns->block), launch->block) || launch->grid[1] > UINT16_MAX ||
        launch->grid[2] > UINT16_MAX || (double)launch->grid[0] * launch->grid[1] * launch->grid[2] > MOST_BLOCKS ||
        launch->block[0] > 1024 || (uint64_t)launch->block[0] * launch->block[1] * launch->block[2] > 1024)
        return gt_error_set(
            error, "grid \"%.40s\", block \"%.40s\": three dimensions each are required, within the limits of a GPU",
            gt_csv_field(csv, columns->grid), gt_csv_field(csv, columns->block));
    for (int i = 0; i < 3; i++) {
        launch->cluster[i] = small_number(csv, columns->cluster[i], MOST_CLUSTER);
        launch->cluster[i] += launch->cluster[i] == 0;
    }
    launch->registers = small_number(csv, columns->registers, MOST_REGISTERS);
    launch->registers_allocated = registers_allocated(csv, columns->registers_allocated);
    if (sscanf(gt_csv_field(csv, columns->capability), "%u.%u", &major, &minor) == 2 && major < 100 && minor < 10)
        launch->compute_capability = major * 10 + minor;
    return read_metrics(csv, columns, launch, error);
}

static int read_head(struct gt_csv *csv, struct columns *columns, struct gt_error *error)
{
    int status = gt_csv_next(csv, error);

    if (status == 1)
        status = find_columns(csv, columns, error) == 0 ? gt_csv_next(csv, error) : -1;
    if (status == 1)
        status = read_units(csv, columns, error) == 0 ? 1 : -1;
    return status == 0 ? gt_error_set(error, "it contains no launch") : status;
}

/* Count a row that cannot be read; what is wrong with the first is kept. */
static void leave_out(struct gt_ncu_raw *raw, const char *path, const struct gt_csv *csv,
                      const struct gt_error *wrong)
{
    if (raw->unreadable++ == 0)
        gt_error_set(&raw->wrong, "%s:%" PRIu64 ": %s", path, csv->line, wrong->text);
}

/* The launches of the rows; those after a row that is no CSV are lost. */
static void read_rows(struct gt_csv *csv, const struct columns *columns, const char *path, struct gt_ncu_raw *raw)
{
    struct gt_error wrong;
    int status;

    while ((status = gt_csv_next(csv, &wrong)) == 1) {
        struct gt_ncu_launch launch = { .number = raw->rows++ };

        if (raw->gpu == NULL && columns->gpu != GT_NONE)
            raw->gpu = strdup(gt_csv_field(csv, columns->gpu));
        if (read_launch(csv, columns, &launch, &wrong) != 0) {
            leave_out(raw, path, csv, &wrong);
            continue;
        }
        gt_array_grow(raw->launches, raw->count, raw->room);
        launch.name = strdup(gt_csv_field(csv, columns->name));
        raw->launches[raw->count++] = launch;
    }
    if (status < 0)
        leave_out(raw, path, csv, &wrong);
}

int gt_ncu_raw_read(const char *path, struct gt_ncu_raw *raw, struct gt_error *error)
{
    struct gt_input *input = gt_input_open(path, error);
    struct columns columns = { 0 };
    struct gt_csv csv;
    int status;

    *raw = (struct gt_ncu_raw){ 0 };
    if (input == NULL)
        return -1;
    gt_csv_open(&csv, input);
    status = read_head(&csv, &columns, error) == 1 ? 0 : -1;
    if (status == 0)
        read_rows(&csv, &columns, path, raw);
    if (status == 0 && raw->count == 0)
        status = raw->unreadable > 0 ? gt_error_set(error, "%s", raw->wrong.text)
                                     : gt_error_set(error, "%s: contains no launch", path);
    else if (status != 0)
        gt_error_prefix(error, "%s:%" PRIu64 ": ", path, csv.line);
    gt_csv_close(&csv);
    gt_input_close(input);
    return status;
}

void gt_ncu_raw_free(struct gt_ncu_raw *raw)
{
    for (uint32_t i = 0; i < raw->count; i++)
        free(raw->launches[i].name);
    free(raw->launches);
    free(raw->gpu);
}

/* The share of hits, or the report's percentage, or -1. */
static double rate(double hit, double miss, double percent)
{
    double value = hit >= 0 && miss >= 0 && hit + miss > 0 ? hit / (hit + miss) : percent >= 0 ? percent / 100 : -1;

    return value > 1 ? 1 : value; /* counters of different passes may say a little more */
}

static uint64_t count_of(double value)
{
    return value > 0 && value < 0x1p63 ? (uint64_t)llround(value) : 0;
}

/* The part of all atomics that the busiest L2 slice had; -1: no atomics, or no such counters. */
static double slice_share(const struct gt_ncu_launch *launch)
{
    double slices = launch->l2_sectors[0] > 0 ? launch->l2_sectors[1] / launch->l2_sectors[0] : 0;

    if (slices < 1 || launch->atomic_busy[0] <= 0 || launch->atomic_busy[1] <= 0)
        return -1;
    return fmin(1, launch->atomic_busy[1] / (launch->atomic_busy[0] * slices));
}

void gt_ncu_memory_use(const struct gt_ncu_launch *launch, struct gt_memory_use *use)
{
    *use = (struct gt_memory_use){
        .l1_load_hit = rate(-1, -1, launch->hit_percent[0]),
        .l1_store_hit = rate(-1, -1, launch->hit_percent[1]),
        .local_load_hit = rate(-1, -1, launch->hit_percent[2]),
        .local_store_hit = rate(-1, -1, launch->hit_percent[3]),
        .l2_read_hit = rate(launch->read_hit, launch->read_miss, launch->hit_percent[4]),
        .l2_write_hit = rate(launch->write_hit, launch->write_miss, launch->hit_percent[5]),
        .l2_atomic_hit = rate(fmax(0, launch->atomic_hit) + fmax(0, launch->reduce_hit),
                              fmax(0, launch->atomic_miss) + fmax(0, launch->reduce_miss), -1),
        .l2_atomic_slice_share = slice_share(launch),
        .l2_read_sectors = count_of(launch->sectors[0]),
        .l2_write_sectors = count_of(launch->sectors[1]),
        .l2_atomic_sectors = count_of(launch->sectors[2]) + count_of(launch->sectors[3]),
        .l2_fabric_sectors = count_of(launch->fabric_sectors),
        .dram_read_bytes = count_of(launch->dram_read_bytes),
        .dram_write_bytes = count_of(launch->dram_write_bytes),
    };
}
