/* Golden scenarios: tests/golden/NAME.jsonl is a trace whose comments say, worked out by hand, what
 * must come out on the toy device.  golden_directive.h has the words. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/changes/changes.h"
#include "sim/simulate.h"
#include "tests/unit/golden_cost.h"
#include "tests/unit/golden_directive.h"
#include "traces/io/device_file.h"
#include "traces/io/framework_file.h"
#include "traces/jsonl/trace.h"
#include "traces/names/demangle.h"

enum { MOST_FILES = 512, MOST_SMS = 256, MOST_CHANGES = 4 };

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

static void check_times(const char *line, const char *what, unsigned number, gt_time_ps start_ps, gt_time_ps end_ps,
                        double start_us, double end_us)
{
    if (start_ps != us(start_us) || end_ps != us(end_us))
        fail_msg("%s %u ran from %.6f to %.6f us: %s", what, number, (double)start_ps / 1e6, (double)end_ps / 1e6,
                 line);
}

/* One directive about what came out; those about what goes in were read before. */
static void check_line(const char *line, const struct gt_workload *w, const struct seen *seen)
{
    struct golden_directive d = golden_directive_of(line);

    if (d.kind < GOLDEN_EXPECT)
        return;
    assert_in_range(d.number, 0, (d.kind == GOLDEN_EXPECT_CALL ? w->call_count : w->op_count) - 1);
    if (d.kind == GOLDEN_EXPECT) {
        check_times(line, "operation", d.number, seen->ops[d.number].start_ps, seen->ops[d.number].end_ps, d.start_us,
                    d.end_us);
    } else if (d.kind == GOLDEN_EXPECT_CALL) {
        check_times(line, "call", d.number, seen->calls[d.number].start_ps, seen->calls[d.number].end_ps, d.start_us,
                    d.end_us);
    } else if (d.kind == GOLDEN_EXPECT_BLOCKS) {
        assert_in_range(d.sm, 0, MOST_SMS - 1);
        if (seen->blocks[d.number][d.sm] != d.count)
            fail_msg("%u blocks: %s", seen->blocks[d.number][d.sm], line);
    } else if (seen->ops[d.number].wait_ps[d.reason] != us(d.start_us)) {
        fail_msg("waited %.6f us: %s", (double)seen->ops[d.number].wait_ps[d.reason] / 1e6, line);
    }
}

struct setting {
    struct gt_device device;
    struct gt_framework framework;
    struct gt_options options;
    char *changes[MOST_CHANGES + 1], *independent[MOST_CHANGES + 1]; /* NULL-ended */
    char failure[256];
    int outcomes;
};

static void set_option(struct setting *setting, const struct golden_directive *d)
{
    if (strcmp(d->key, "blocks") == 0)
        setting->options.blocks = strcmp(d->value, "on") == 0;
    else if (strcmp(d->key, "serialize") == 0)
        setting->options.serialize = strcmp(d->value, "on") == 0;
    else if (strcmp(d->key, "noise") == 0)
        sscanf(d->value, "%u/%u", &setting->options.noise_draw, &setting->options.noise_draws);
    else
        setting->options.seed = strtoull(d->value, NULL, 10);
}

static void add_word(char **words, const char *word)
{
    int count = 0;

    while (words[count] != NULL)
        count++;
    assert_in_range(count, 0, MOST_CHANGES - 1);
    words[count] = gt_strdup(word);
}

static void free_words(char **words)
{
    for (int i = 0; words[i] != NULL; i++)
        free(words[i]);
}

/* `w` as the changes make it, which takes its place; NULL with why that cannot be. */
static struct gt_workload *change(struct gt_workload *w, struct setting *setting, struct gt_error *error)
{
    const struct gt_whatif_host host = { .framework = &setting->framework,
                                         .fit_kernel = gt_name_fit,
                                         .independent = (const char *const *)setting->independent };
    struct gt_change changes[MOST_CHANGES];
    struct gt_scenario scenario;
    struct gt_workload *changed = NULL;
    size_t count = 0;

    for (; setting->changes[count] != NULL; count++) {
        if (gt_change_parse(setting->changes[count], &changes[count], error) != 0)
            fail_msg("%s", error->text);
    }
    gt_scenario_begin(&scenario, w, &setting->device, &setting->device, &host);
    if (gt_changes_apply(changes, count, &scenario, error) == 0) {
        changed = scenario.workload;
        scenario.workload = NULL;
        setting->device = scenario.device;
        if (gt_workload_check(changed, error) != 0)
            fail_msg("%s", error->text);
    }
    gt_scenario_free(&scenario);
    gt_workload_free(w);
    return changed;
}

static void read_directive(const char *line, struct setting *setting)
{
    struct golden_directive d = golden_directive_of(line);
    struct gt_error error;

    if (d.kind == GOLDEN_SET && gt_device_set(&setting->device, d.key, d.value, &error) != 0)
        fail_msg("%s: %s", line, error.text);
    if (d.kind == GOLDEN_OPTION)
        set_option(setting, &d);
    if (d.kind == GOLDEN_CHANGE)
        add_word(setting->changes, d.value);
    if (d.kind == GOLDEN_INDEPENDENT)
        add_word(setting->independent, d.value);
    if (d.kind == GOLDEN_COST)
        setting->options.program_cost = true;
    if (d.kind == GOLDEN_MALFORMED || (d.kind == GOLDEN_COST && !golden_cost_line(line)))
        fail_msg("no directive can be read of: %s", line);
    if (d.kind == GOLDEN_EXPECT_ERROR)
        snprintf(setting->failure, sizeof setting->failure, "%.*s", (int)strcspn(d.rest, "\n"), d.rest);
    setting->outcomes += d.kind >= GOLDEN_EXPECT && d.kind != GOLDEN_EXPECT_ERROR;
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

struct outcome {
    const struct gt_workload *workload;
    struct seen *seen;
};

static void visit_setting(const char *line, void *user)
{
    struct setting *setting = user;

    read_directive(line, setting);
}

static void visit_outcome(const char *line, void *user)
{
    struct outcome *outcome = user;

    check_line(line, outcome->workload, outcome->seen);
}

static void check_outcome(const char *path, const struct gt_workload *w, struct seen *seen)
{
    struct outcome outcome = { w, seen };
    char *text = read_text(path);

    each_line(text, visit_outcome, &outcome);
    free(text);
}

static void test_golden(void **state)
{
    const char *path = *state;
    struct setting setting = { .options = GT_OPTIONS_DEFAULT };
    struct gt_workload *w;
    struct gt_kernel_model *modelled = NULL;
    struct gt_summary summary;
    struct gt_error error = { "" };
    struct seen seen;
    struct gt_probe probe = { .user = &seen, .call = see_call, .op = see_op, .blocks = see_blocks };
    char *text = read_text(path);
    int status = -1;

    if (gt_device_load("toy", &setting.device, &error) != 0 ||
        gt_framework_load(NULL, &setting.framework, &error) != 0)
        fail_msg("%s", error.text);
    golden_costs.count = 0;
    each_line(text, visit_setting, &setting);
    free(text);
    w = gt_trace_read(path, NULL, &error);
    if (w != NULL)
        w = change(w, &setting, &error);
    if (w != NULL) {
        seen.ops = calloc(w->op_count + 1, sizeof *seen.ops);
        seen.calls = calloc(w->call_count + 1, sizeof *seen.calls);
        seen.blocks = calloc(w->op_count + 1, sizeof *seen.blocks);
        setting.options.modelled = modelled = golden_costs_of(w, &setting.device);
        for (int i = 0; i < golden_costs.count; i++) {
            if (!golden_costs.cost[i].launched)
                fail_msg("a cost of '%s', which the trace does not launch", golden_costs.cost[i].kernel);
        }
        status = gt_simulate(w, &setting.device, &setting.options, &probe, &summary, &error);
    }
    /* A run that fails has no times to check, one that does not has some. */
    assert_int_equal(setting.outcomes > 0, setting.failure[0] == '\0');
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
    gt_workload_free(w);
    free_words(setting.changes);
    free_words(setting.independent);
}

/* What is wrong in one place only is no directive; the same put right is one. */
static void test_directives(void **state)
{
    /* clang-format off */
    static const char *const malformed[] = {
        "// expect-wait 0 hosts 1", "// expect-wait 0 event", "// expect-wait 0 event 1 2", "// expect 0 1", "// expect x 1 2",
        "// expect 0 1 2 us", "//expect 0 1", "// expects 0 1 2", "// Expect 0 1 2", "// expect-calls 0 1 2",
        "// expect-block 0 0 1", "// expect-blocks 0 0 1.5", "// expect-error", "// option blocks=of", "// option seed=x",
        "// option stream=2", "// change", "// change a b", "// independent", "// set chip.sms", "// set chip.sms=2 3", "// cost",
    };
    /* clang-format on */
    static const char *const good[] = {
        "// expect-wait 0 event 1", "// expect 0 1 2.5",    "// expect-call 0 1 2", "// expect-blocks 0 0 1",
        "// expect-error too long", "// option blocks=off", "// option seed=7",     "// set chip.sms=2",
        "// change streams=2",      "// independent a*",    "// cost a 1 1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        if (golden_directive_of(malformed[i]).kind != GOLDEN_MALFORMED)
            fail_msg("passes: %s", malformed[i]);
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (golden_directive_of(good[i]).kind < GOLDEN_SET)
            fail_msg("is refused: %s", good[i]);
    }
    assert_int_equal(golden_directive_of("// What is to be expected: nothing.").kind, GOLDEN_PROSE);
    golden_costs.count = 0;
    assert_true(golden_cost_line("// cost a 10000 1000,2000:3000 dram=0.9 issue=0.1"));
    assert_false(golden_cost_line("// cost a 10000"));
    assert_false(golden_cost_line("// cost a 10000 1000,x"));
    assert_false(golden_cost_line("// cost a 10000 1000 drams=0.9"));
    assert_false(golden_cost_line("// cost a 10000 1000 dram=all"));
}

static int is_golden(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot != NULL && strcmp(dot, ".jsonl") == 0;
}

int main(void)
{
    static struct CMUnitTest tests[MOST_FILES + 1];
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
    tests[0] = (struct CMUnitTest)cmocka_unit_test(test_directives);
    for (int i = 0; i < count; i++) {
        size_t bytes = strlen(folder) + strlen(entries[i]->d_name) + 2;
        char *path = malloc(bytes);

        snprintf(path, bytes, "%s/%s", folder, entries[i]->d_name);
        tests[i + 1] = (struct CMUnitTest){ entries[i]->d_name, test_golden, NULL, NULL, path };
    }
    free(entries); /* the tests keep the names */
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return _cmocka_run_group_tests("golden", tests, (size_t)count + 1, NULL, NULL);
}
