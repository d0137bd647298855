/* Task graphs at random, each done by the blocks of one persistent kernel, by all policies. */
#include <inttypes.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "validate/random/script.h"

enum {
    NONE = UINT32_MAX,
    TASKS_LEAST = 10,
    TASKS_MOST = 4000,
    GROUPS_MOST = 3,
    KINDS_MOST = 3,
    SPAN_MOST_US = 3000, /* that a graph may take, as far as can be told beforehand */
    REGISTERS = 48
};

/* Tasks that stand together, all of which end before another begins. */
struct group {
    uint32_t first, count;
};

struct draft_task {
    struct group after[GROUPS_MOST];
    uint32_t groups;
    struct group makes;
    uint32_t level;    /* tasks on the longest way to it, with itself */
    uint32_t own, all; /* counters that it signals: alone, and with its group; or NONE */
};

struct draft {
    struct gt_chance *chance;
    struct draft_task *tasks;
    uint32_t count, counters, levels;
    uint32_t kinds, mean_tenths, workers;
};

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void after(struct draft *draft, uint32_t task, uint32_t first, uint32_t count)
{
    struct draft_task *t = &draft->tasks[task];

    t->after[t->groups++] = (struct group){ first, count };
    for (uint32_t i = first; i < first + count; i++)
        if (draft->tasks[i].level >= t->level)
            t->level = draft->tasks[i].level + 1;
    if (t->level > draft->levels)
        draft->levels = t->level;
}

#define PICK(draft, ...)                                               \
    gt_chance_pick((draft)->chance, (const uint32_t[]){ __VA_ARGS__ }, \
                   sizeof(const uint32_t[]){ __VA_ARGS__ } / sizeof(uint32_t))

static void shape_independent(struct draft *draft)
{
    (void)draft;
}

static void shape_chains(struct draft *draft)
{
    uint32_t chains = PICK(draft, 1, 2, 3, 8, 20, 64);

    for (uint32_t i = chains; i < draft->count; i++)
        after(draft, i, i - chains, 1);
}

static void shape_layers(struct draft *draft)
{
    uint32_t width = PICK(draft, 2, 5, 16, 40, 100, 132, 264, 300);

    for (uint32_t i = width; i < draft->count; i++)
        after(draft, i, (i / width - 1) * width, width);
}

static void shape_tree(struct draft *draft)
{
    uint32_t fan = PICK(draft, 2, 2, 4, 8), first = 0, next = draft->count * (fan - 1) / fan;

    for (uint32_t end = next; end - first > 1 && next < draft->count; first = end, end = next)
        for (uint32_t i = first; i < end && next < draft->count; i += fan)
            after(draft, next++, i, least_of(fan, end - i));
}

static void shape_grid(struct draft *draft)
{
    uint32_t columns = PICK(draft, 3, 10, 25, 60);

    for (uint32_t i = 1; i < draft->count; i++) {
        if (i >= columns)
            after(draft, i, i - columns, 1);
        if (i % columns > 0)
            after(draft, i, i - 1, 1);
    }
}

/* One, then many that wait for it, then one that waits for them, and so on. */
static void shape_fan(struct draft *draft)
{
    uint32_t width = PICK(draft, 4, 20, 100, 250), first = 0;

    for (uint32_t i = 0; i < draft->count;) {
        uint32_t head = i++;

        if (head > first)
            after(draft, head, first, head - first);
        for (first = i; i < draft->count && i - first < width; i++)
            after(draft, i, head, 1);
    }
}

static void shape_any(struct draft *draft)
{
    uint32_t reach = PICK(draft, 5, 30, 200);

    for (uint32_t i = 1; i < draft->count; i++) {
        struct draft_task *task = &draft->tasks[i];

        for (uint32_t tries = PICK(draft, 0, 1, 1, 2, 3); tries > 0; tries--) {
            uint32_t before = gt_chance_between(draft->chance, i > reach ? i - reach : 0, i - 1), known = 0;

            while (known < task->groups && task->after[known].first != before)
                known++;
            if (known == task->groups)
                after(draft, i, before, 1);
        }
    }
}

/* Tasks that make tasks, from one root or some. */
static void shape_made(struct draft *draft)
{
    uint32_t fan = gt_chance_between(draft->chance, 1, 4), next = least_of(PICK(draft, 1, 1, 4, 16), draft->count);

    for (uint32_t i = 0; i < draft->count; i++) {
        struct draft_task *task = &draft->tasks[i];
        uint32_t count = gt_chance_in(draft->chance, 9, 10) ? fan : gt_chance_between(draft->chance, 0, fan);

        next = next > i ? next : i + 1;
        task->makes = (struct group){ next, least_of(count, draft->count - next) };
        for (; next < task->makes.first + task->makes.count; next++)
            draft->tasks[next].level = task->level + 1;
        if (task->level > draft->levels)
            draft->levels = task->level;
    }
}

static const struct shape {
    void (*draw)(struct draft *draft);
    bool makes;
} shapes[] = {
    { shape_independent, false }, { shape_chains, false }, { shape_layers, false }, { shape_tree, false },
    { shape_grid, false },        { shape_fan, false },    { shape_any, false },    { shape_made, true },
};

/* How workers get their tasks: the share of tasks, in quarters, that are in lists; and may tasks make tasks? */
static const struct policy {
    const char *name;
    uint32_t listed;
    bool makes;
} policies[] = {
    { "shared", 0, false }, { "static", 4, false }, { "mixed", 2, false }, { "ready", 0, true }, { "steal", 0, true },
};

/* A time, a range, a heavy tail, or a list; the mean goes to draft->mean_tenths, of so many kinds. */
static void write_kind(struct gt_script *script, struct draft *draft, uint32_t number)
{
    uint32_t least = PICK(draft, 10, 15, 20, 30, 40, 60, 80, 120, 200, 350), mean = least;

    fprintf(script->out, "%s{\"kind\":\"kind%" PRIu32 "\"", number > 0 ? "," : "", number);
    switch (gt_chance_between(draft->chance, 0, 5)) {
    case 0:
    case 1: gt_script_us(script, "task_us", least); break;
    case 2:
        fprintf(script->out, ",\"task_heavy_us\":[%" PRIu32 ",%" PRIu32 "],\"tail\":%s", (least + 9) / 10, least * 3,
                gt_chance_in(draft->chance, 1, 2) ? "1.5" : "2.5");
        mean = least * 3;
        break;
    case 3:
        mean = least + least / 2;
        fprintf(script->out, ",\"task_list_us\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", (least + 9) / 10,
                (mean + 9) / 10, (least * 2 + 9) / 10);
        break;
    default: {
        uint32_t most = least * gt_chance_between(draft->chance, 12, 40) / 10;

        fprintf(script->out, ",\"task_us\":[%" PRIu32 ".%" PRIu32 ",%" PRIu32 ".%" PRIu32 "]", least / 10, least % 10,
                most / 10, most % 10);
        mean = (least + most) / 2;
    }
    }
    fputs("}", script->out);
    draft->mean_tenths += mean / draft->kinds;
}

/* The time that it takes at least: all its work on all workers, the longest way through it. */
static uint64_t span_us(const struct draft *draft)
{
    uint64_t work = (uint64_t)draft->count * draft->mean_tenths / least_of(draft->workers, draft->count);
    uint64_t way = (uint64_t)draft->levels * draft->mean_tenths;

    return (work > way ? work : way) / 10;
}

static void draw_shape(struct draft *draft, const struct shape *shape)
{
    draft->levels = 1;
    for (uint32_t i = 0; i < draft->count; i++)
        draft->tasks[i] = (struct draft_task){ .level = 1, .own = NONE, .all = NONE };
    shape->draw(draft);
}

/* A counter of its own for a task that is waited for alone, one for all of a group. */
static void deal_counters(struct draft *draft)
{
    for (uint32_t i = 0; i < draft->count; i++) {
        for (uint32_t j = 0; j < draft->tasks[i].groups; j++) {
            const struct group *group = &draft->tasks[i].after[j];
            struct draft_task *first = &draft->tasks[group->first];

            if (group->count == 1 && first->own == NONE)
                first->own = draft->counters++;
            if (group->count == 1 || first->all != NONE)
                continue;
            for (uint32_t k = 0; k < group->count; k++)
                first[k].all = draft->counters;
            draft->counters++;
        }
    }
}

/* `count` numbers with brackets; null for none. */
static void write_numbers(FILE *out, const uint32_t *numbers, uint32_t count)
{
    if (count == 0)
        fputs("null", out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s%" PRIu32 "%s", i == 0 ? "[" : ",", numbers[i], i == count - 1 ? "]" : "");
}

static void write_waits(FILE *out, const struct draft *draft, uint32_t task)
{
    uint32_t numbers[2 * GROUPS_MOST], count = 0;

    for (uint32_t i = 0; i < draft->tasks[task].groups; i++) {
        const struct group *group = &draft->tasks[task].after[i];
        const struct draft_task *first = &draft->tasks[group->first];

        numbers[count++] = group->count == 1 ? first->own : first->all;
        numbers[count++] = group->count;
    }
    write_numbers(out, numbers, count);
}

static void write_signals(FILE *out, const struct draft *draft, uint32_t task)
{
    const struct draft_task *t = &draft->tasks[task];
    uint32_t numbers[2], count = 0;

    if (t->own != NONE)
        numbers[count++] = t->own;
    if (t->all != NONE)
        numbers[count++] = t->all;
    write_numbers(out, numbers, count);
}

static void write_makes(FILE *out, const struct draft *draft, uint32_t task)
{
    const struct group *makes = &draft->tasks[task].makes;

    if (makes->count == 0)
        fputs("null", out);
    for (uint32_t i = 0; i < makes->count; i++)
        fprintf(out, "%s%" PRIu32 "%s", i == 0 ? "[" : ",", makes->first + i, i == makes->count - 1 ? "]" : "");
}

static void write_column(const struct gt_script *script, const struct draft *draft, const char *name,
                         void (*write)(FILE *out, const struct draft *draft, uint32_t task))
{
    fprintf(script->out, ",\"%s\":[", name);
    for (uint32_t i = 0; i < draft->count; i++) {
        fputs(i > 0 ? "," : "", script->out);
        write(script->out, draft, i);
    }
    fputs("]", script->out);
}

/* Tasks are dealt in turn, at random, or by stretches; those behind the listed share are anybody's. */
static void write_workers(struct gt_script *script, const struct draft *draft, uint32_t quarters)
{
    uint32_t how = gt_chance_between(draft->chance, 0, 3), each = (draft->count - 1) / draft->workers + 1;
    uint32_t listed = (uint32_t)((uint64_t)draft->count * quarters / 4);

    fputs(",\"worker\":[", script->out);
    for (uint32_t i = 0; i < draft->count; i++) {
        uint32_t worker = how == 0   ? gt_chance_between(draft->chance, 0, draft->workers - 1)
                          : how == 1 ? i / each
                                     : i % draft->workers;

        if (i < listed)
            fprintf(script->out, "%s%" PRIu32, i > 0 ? "," : "", worker);
        else
            fputs(",null", script->out);
    }
    fputs("]", script->out);
}

static void write_graph(struct gt_script *script, struct draft *draft, const struct policy *policy, bool makes)
{
    fprintf(script->out, "{\"tasks_of\":\"graph\",\"counters\":%" PRIu32 ",\"columns\":{\"count\":%" PRIu32,
            draft->counters, draft->count);
    fputs(",\"kind\":[", script->out);
    for (uint32_t i = 0; i < draft->count; i++)
        fprintf(script->out, "%s%" PRIu32, i > 0 ? "," : "", gt_chance_between(draft->chance, 0, draft->kinds - 1));
    fputs("]", script->out);
    if (policy->listed > 0)
        write_workers(script, draft, policy->listed);
    if (draft->counters > 0) {
        write_column(script, draft, "waits", write_waits);
        write_column(script, draft, "signals", write_signals);
    }
    if (makes)
        write_column(script, draft, "makes", write_makes);
    fputs("}}\n", script->out);
}

/* Workers that are all resident at once, as many threads as that allows. */
static void write_kernel(struct gt_script *script, struct draft *draft, const struct policy *policy)
{
    uint32_t threads = PICK(draft, 32, 64, 128, 256, 512, 1024);

    while (draft->workers > GT_SCRIPT_SMS * gt_script_blocks_per_sm(threads, REGISTERS, 0))
        threads /= 2;
    script->work_us[script->kernels] = span_us(draft);
    fprintf(script->out,
            "{\"kernel\":\"k%" PRIu32 "\",\"grid\":%" PRIu32 ",\"block\":%" PRIu32
            ",\"registers\":%d,\"tasks\":\"graph\",\"policy\":\"%s\"}\n",
            script->kernels++, draft->workers, threads, REGISTERS, policy->name);
}

/* The persistent kernel alone, some times in a row, or beside plain kernels in other streams.  Only one at a time: two whose
 * workers are resident in part would wait for each other. */
static void write_calls(struct gt_script *script, uint32_t plain)
{
    uint32_t times = gt_chance_in(&script->chance, 1, 4) ? gt_chance_between(&script->chance, 2, 3) : 1;

    if (plain > 0 && gt_chance_in(&script->chance, 1, 2))
        gt_script_launch_of(script, 0, 1, 1, "");
    while (times-- > 0)
        gt_script_launch_of(script, 0, 0, 0, "");
    for (uint32_t i = 0; i < plain; i++)
        gt_script_launch_of(script, 0, gt_chance_between(&script->chance, 0, script->streams - 1), 1 + i, "");
}

void gt_script_write_tasks(struct gt_script *script)
{
    struct gt_chance *chance = &script->chance;
    const struct policy *policy = &policies[gt_chance_between(chance, 0, sizeof policies / sizeof *policies - 1)];
    const struct shape *shape = &shapes[gt_chance_between(chance, 0, sizeof shapes / sizeof *shapes - 1)];
    struct draft draft = { .chance = chance, .count = gt_chance_scale(chance, TASKS_LEAST, TASKS_MOST) };
    uint32_t plain = gt_chance_in(chance, 1, 4) ? gt_chance_between(chance, 1, 2) : 0;

    while (shape->makes && !policy->makes)
        policy = &policies[gt_chance_between(chance, 0, sizeof policies / sizeof *policies - 1)];
    draft.workers = PICK(&draft, 1, 2, 4, 8, 16, 32, 64, 100, 132, 132, 200, 264);
    draft.kinds = PICK(&draft, 1, 1, 2, KINDS_MOST);
    draft.tasks = gt_calloc(draft.count, sizeof *draft.tasks);
    gt_script_streams(script, plain > 0 ? 2 : 1, false);
    fputs("{\"task_graph\":\"graph\",\"kinds\":[", script->out);
    for (uint32_t i = 0; i < draft.kinds; i++)
        write_kind(script, &draft, i);
    fputs("]}\n", script->out);
    draw_shape(&draft, shape);
    while (span_us(&draft) > SPAN_MOST_US && draft.count > TASKS_LEAST) {
        draft.count /= 2;
        draw_shape(&draft, shape);
    }
    deal_counters(&draft);
    write_graph(script, &draft, policy, shape->makes);
    write_kernel(script, &draft, policy);
    gt_script_kernels(script, plain, 60, 512);
    write_calls(script, plain);
    free(draft.tasks);
}
