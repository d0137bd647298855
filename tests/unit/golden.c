/* Golden scenarios: tests/golden/NAME.jsonl is a trace whose comments say, worked out by hand, what
 * must come out on the toy device.  Lines of a comment that begin so are directives:
 *
 *   // set KEY=VALUE               a device key
 *   // option blocks=off           or streams=N, serialize=on, seed=N
 *   // cost KERNEL CYCLES ...      see golden_cost.h
 *   // expect OP START END         operation number OP (from 0, in trace order) runs from START to END us
 *   // expect-wait OP REASON US    it waited so long for that reason
 *   // expect-call CALL START END  call number CALL of the trace lasts so
 *   // expect-blocks OP SM COUNT   so many of its blocks ran on that SM in all
 *   // expect-error TEXT           the run fails and says TEXT
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/simulate.h"
#include "sim/workload/restream.h"
#include "traces/io/device_file.h"
#include "traces/jsonl/trace.h"
#include "tests/unit/golden_cost.h"

enum { MOST_FILES = 256, MOST_SMS = 256 };

struct seen {
    struct gt_op_record *ops;
    struct gt_call_record *calls;
    uint32_t (*blocks)[MOST_SMS];
};

static int see_op(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    (void)error;
    ((struct seen *)user)->ops[record->op] = *record;
    return 0;
}

static int see_call(void *user, const struct gt_call_record *record, struct gt_error *error)
{
    (void)error;
    ((struct seen *)user)->calls[record->call] = *record;
    return 0;
}

static int see_blocks(void *user, const struct gt_block_record *record, struct gt_error *error)
{
    (void)error;
    ((struct seen *)user)->blocks[record->op][record->sm] += record->blocks;
    return 0;
}

static gt_time_ps us(double value)
{
    return (gt_time_ps)(value * 1e6 + 0.5);
}

static void check_times(const char *line, const char *what, unsigned number, gt_time_ps start_ps,
                        gt_time_ps end_ps, double start_us, double end_us)
{
    if (start_ps != us(start_us) || end_ps != us(end_us))
        fail_msg("%s %u ran from %.6f to %.6f us: %s", what, number, (double)start_ps / 1e6,
                 (double)end_ps / 1e6, line);
}

/* One directive about what came out; those about what goes in were read before. */
static void check_line(const char *line, const struct gt_workload *w, const struct seen *seen)
{
    unsigned number, sm, count;
    double start_us, end_us;
    char reason[32];

    if (sscanf(line, "// expect %u %lf %lf", &number, &start_us, &end_us) == 3) {
        assert_in_range(number, 0, w->op_count - 1);
        check_times(line, "operation", number, seen->ops[number].start_ps, seen->ops[number].end_ps,
                    start_us, end_us);
    } else if (sscanf(line, "// expect-call %u %lf %lf", &number, &start_us, &end_us) == 3) {
        assert_in_range(number, 0, w->call_count - 1);
        check_times(line, "call", number, seen->calls[number].start_ps, seen->calls[number].end_ps,
                    start_us, end_us);
    } else if (sscanf(line, "// expect-blocks %u %u %u", &number, &sm, &count) == 3) {
        assert_in_range(number, 0, w->op_count - 1);
        if (seen->blocks[number][sm] != count)
            fail_msg("%u blocks: %s", seen->blocks[number][sm], line);
    } else if (sscanf(line, "// expect-wait %u %31s %lf", &number, reason, &start_us) == 3) {
        assert_in_range(number, 0, w->op_count - 1);
        for (int i = 0; i < GT_WAITS; i++) {
            if (strcmp(gt_wait_names[i], reason) == 0 && seen->ops[number].wait_ps[i] != us(start_us))
                fail_msg("waited %.6f us: %s", (double)seen->ops[number].wait_ps[i] / 1e6, line);
        }
    }
}

struct setting { struct gt_device device; struct gt_options options; uint32_t streams; char failure[256]; };

static void read_directive(const char *line, struct setting *setting)
{
    struct gt_options *options = &setting->options;
    struct gt_error error;
    char key[64], value[64];

    if (sscanf(line, "// set %63[^=]=%63s", key, value) == 2) {
        if (gt_device_set(&setting->device, key, value, &error) != 0)
            fail_msg("%s: %s", line, error.text);
    } else if (sscanf(line, "// option %63[^=]=%63s", key, value) == 2) {
        if (strcmp(key, "blocks") == 0)
            options->blocks = strcmp(value, "on") == 0;
        else if (strcmp(key, "streams") == 0)
            setting->streams = (uint32_t)atoi(value);
        else if (strcmp(key, "serialize") == 0)
            options->serialize = strcmp(value, "on") == 0;
        else if (strcmp(key, "seed") == 0)
            options->seed = (uint64_t)atoi(value);
        else
            fail_msg("no such option: %s", line);
    } else if (golden_cost_line(line)) {
        options->program_cost = true;
    } else if (strncmp(line, "// expect-error ", 16) == 0) {
        snprintf(setting->failure, sizeof setting->failure, "%.*s", (int)strcspn(line + 16, "\n"), line + 16);
    }
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);

    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void each_line(char *text, void (*visit)(const char *line, void *user), void *user)
{
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        visit(line, user);
}

struct outcome { const struct gt_workload *workload; struct seen *seen; int expected; };

static void visit_setting(const char *line, void *user)
{
    struct setting *setting = user;

    read_directive(line, setting);
}

static void visit_outcome(const char *line, void *user)
{
    struct outcome *outcome = user;

    outcome->expected += strncmp(line, "// expect", 9) == 0;
    check_line(line, outcome->workload, outcome->seen);
}

static void check_outcome(const char *path, const struct gt_workload *w, struct seen *seen)
{
    struct outcome outcome = { w, seen, 0 };
    char *text = read_text(path);

    each_line(text, visit_outcome, &outcome);
    free(text);
    assert_true(outcome.expected > 0);
}

static void test_golden(void **state)
{
    const char *path = *state;
    struct setting setting = { .options = GT_OPTIONS_DEFAULT };
    struct gt_workload *w, *played = NULL;
    struct gt_kernel_model *modelled = NULL;
    struct gt_summary summary;
    struct gt_error error = { "" };
    struct seen seen;
    struct gt_probe probe = { .user = &seen, .call = see_call, .op = see_op, .blocks = see_blocks };
    char *text = read_text(path);
    int status = -1;

    if (gt_device_load("toy", &setting.device, &error) != 0)
        fail_msg("%s", error.text);
    golden_costs.count = 0;
    each_line(text, visit_setting, &setting);
    free(text);
    w = gt_trace_read(path, NULL, &error);
    if (w != NULL) {
        seen.ops = calloc(w->op_count + 1, sizeof *seen.ops);
        seen.calls = calloc(w->call_count + 1, sizeof *seen.calls);
        seen.blocks = calloc(w->op_count + 1, sizeof *seen.blocks);
        if (setting.streams > 0)
            setting.options.played = played = gt_transform_streams(w, setting.streams);
        setting.options.modelled = modelled = golden_costs_of(w, &setting.device);
        status = gt_simulate(w, &setting.device, &setting.options, &probe, &summary, &error);
    }
    if (setting.failure[0] != '\0') {
        assert_int_equal(status, -1);
        if (strstr(error.text, setting.failure) == NULL)
            fail_msg("it says '%s', not '%s'", error.text, setting.failure);
    } else if (status != 0) {
        fail_msg("%s", error.text);
    } else {
        check_outcome(path, w, &seen);
    }
    if (w != NULL) {
        free(seen.ops);
        free(seen.calls);
        free(seen.blocks);
    }
    gt_kernel_model_free(modelled);
    gt_workload_free(played);
    gt_workload_free(w);
}

static int is_golden(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot != NULL && strcmp(dot, ".jsonl") == 0;
}

int main(void)
{
    static struct CMUnitTest tests[MOST_FILES];
    const char *source = getenv("GRIDTIDE_SOURCE");
    char folder[4096];
    struct dirent **entries;
    int count;

    snprintf(folder, sizeof folder, "%s/tests/golden", source != NULL ? source : ".");
    count = scandir(folder, &entries, is_golden, alphasort);
    if (count <= 0 || count > MOST_FILES) {
        fprintf(stderr, "no golden scenarios in %s\n", folder);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        size_t bytes = strlen(folder) + strlen(entries[i]->d_name) + 2;
        char *path = malloc(bytes);

        snprintf(path, bytes, "%s/%s", folder, entries[i]->d_name);
        tests[i] = (struct CMUnitTest){ entries[i]->d_name, test_golden, NULL, NULL, path };
    }
    free(entries); /* the tests keep the names */
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return _cmocka_run_group_tests("golden", tests, (size_t)count, NULL, NULL);
}
