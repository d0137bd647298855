/* whatif.c - `gridtide whatif`: what a trace would take with something else. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/common.h"
#include "sim/cmd/input/inquiry.h"
#include "sim/cmd/run/whatif_parts.h"

enum { CHANGES_MAX = 64, INDEPENDENT_MAX = 256, GRADIENTS_MOST_MIB = 1 << 24, STEP_MOST_US = 1000000000 };
enum { OPTION_CHANGE = 256, OPTION_ALL, OPTION_BLOCKS, OPTION_INDEPENDENT, OPTION_GRADIENTS, OPTION_STEP };

struct arguments {
    struct gt_model_options model;
    const char *trace, *output;
    const char *specs[CHANGES_MAX];
    size_t count;
    const char *independent[INDEPENDENT_MAX + 1];
    size_t independent_count;
    uint64_t gradient_bytes;
    double step_us;
    enum gt_format format;
    bool all, bars;
};

static const struct argp_option options[] = {
    { "change", OPTION_CHANGE, "SPEC", 0, "Apply change SPEC (see below); repeat to combine several", 0 },
    { "all", OPTION_ALL, NULL, 0, "Try every change that applies, each alone, best first", 0 },
    { "independent", OPTION_INDEPENDENT, "PATTERN", 0,
      "Kernel launches or ranges whose names match PATTERN do not depend on each other; may be "
      "repeated",
      0 },
    { "gradients", OPTION_GRADIENTS, "MIB", 0,
      "Total size of the gradients of a training step in MiB, if the trace does not contain it "
      "(for ddp=N)",
      0 },
    { "step", OPTION_STEP, "US", 0,
      "Time of a step in microseconds, measured without a profiler: host times are scaled to "
      "match it",
      0 },
    { "blocks", OPTION_BLOCKS, "on|off", 0,
      "Simulate the blocks of kernels on SMs (on, the default), or each kernel as one interval "
      "of fixed length",
      0 },
    { "output", 'o', "RUN.db", 0, "Write the recording, the baseline and the predictions to a store", 0 },
    GT_OPTION_FORMAT,
    GT_OPTION_TABLE("whatif, changes, assumptions"),
    GT_OPTION_QUIET_ANSWER,
    { 0 },
};

static void add_text(struct argp_state *state, const char *option, const char *text, const char **list, size_t *count,
                     size_t most)
{
    if (*count == most)
        argp_error(state, "--%s is given more than %zu times", option, most);
    list[(*count)++] = text;
}

static void check(struct argp_state *state, const struct arguments *arguments)
{
    if (!arguments->all && arguments->count == 0)
        argp_error(state, "name a change: --change SPEC, or --all");
    if (arguments->all && arguments->count > 0)
        argp_error(state, "--all and --change exclude each other");
}

static uint64_t read_gradients(struct argp_state *state, const char *text)
{
    char *rest;
    double mib = strtod(text, &rest);

    if (text[0] < '0' || text[0] > '9' || *rest != '\0' || !(mib > 0) || mib > GRADIENTS_MOST_MIB)
        argp_error(state,
                   "--gradients requires MiB, more than 0 and at most %d, not "
                   "'%s'",
                   GRADIENTS_MOST_MIB, text);
    return (uint64_t)(mib * (1 << 20));
}

static double read_step(struct argp_state *state, const char *text)
{
    char *rest;
    double step_us = strtod(text, &rest);

    if (text[0] < '0' || text[0] > '9' || *rest != '\0' || !(step_us > 0) || step_us > STEP_MOST_US)
        argp_error(state, "--step requires microseconds, more than 0 and at most %d, not '%s'", STEP_MOST_US, text);
    return step_us;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->model; return 0;
    case OPTION_CHANGE: add_text(state, "change", text, arguments->specs, &arguments->count, CHANGES_MAX); return 0;
    case OPTION_INDEPENDENT:
        add_text(state, "independent", text, arguments->independent, &arguments->independent_count, INDEPENDENT_MAX);
        return 0;
    case OPTION_GRADIENTS: arguments->gradient_bytes = read_gradients(state, text); return 0;
    case OPTION_STEP: arguments->step_us = read_step(state, text); return 0;
    case OPTION_ALL: arguments->all = true; return 0;
    case OPTION_BLOCKS: arguments->bars = gt_option_either(state, "blocks", text, "on", "off") == 1; return 0;
    case 'o': arguments->output = text; return 0;
    case 'q': arguments->model.quiet = true; return 0;
    case 'f': arguments->format = gt_option_format(state, text); return 0;
    case GT_KEY_TABLE: gt_option_table(state, text); return 0;
    case ARGP_KEY_ARG: gt_option_only(state, "trace", text, &arguments->trace); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a trace"); return 0;
    case ARGP_KEY_END: check(state, arguments); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The changes stand below the options, as the table has them. */
static char *list_changes(int key, const char *text, void *input)
{
    char *list;
    size_t bytes;
    FILE *out;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    out = open_memstream(&list, &bytes);
    if (out == NULL)
        gt_no_memory("a text");
    fputs("Changes (SPEC):\n", out);
    for (size_t i = 0; i < gt_change_kind_count; i++) {
        const struct gt_change_kind *kind = gt_change_kinds[i];
        char spec[64];

        snprintf(spec, sizeof spec, "%s%s%s%s%s", kind->name != NULL ? kind->name : "",
                 kind->takes == GT_ARGUMENT_OPTIONAL ? "[" : "",
                 kind->name != NULL && kind->takes != GT_ARGUMENT_NONE ? "=" : "",
                 kind->takes != GT_ARGUMENT_NONE ? kind->argument : "",
                 kind->takes == GT_ARGUMENT_OPTIONAL ? "]" : "");
        fprintf(out, "  %-22s %s\n", spec, kind->help);
    }
    fprintf(out, "\n%s", text);
    fclose(out);
    return list;
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "TRACE",
    "Predict how long a step of a recorded program takes after a change: more streams, pinned "
    "or asynchronous copies, a CUDA graph, another GPU, another value of the device "
    "file.\vA prediction is for a step of the steady state, without start-up and irregular iterations. It comes "
    "with a 90% interval, a grade (trust), its assumptions, and the resource that bounds the step.",
    gt_model_children, list_changes, NULL,
};
/* clang-format on */

static int parse_changes(const struct arguments *arguments, struct gt_change *changes, struct gt_error *error)
{
    for (size_t i = 0; i < arguments->count; i++)
        if (gt_change_parse(arguments->specs[i], &changes[i], error) != 0)
            return -1;
    return 0;
}

/* The shortest step first; what is not known last. */
static int by_prediction(const void *left, const void *right)
{
    const struct gt_answer *a = left, *b = right;

    if (isnan(a->step_us) || isnan(b->step_us))
        return isnan(a->step_us) - isnan(b->step_us);
    return (a->step_us > b->step_us) - (a->step_us < b->step_us);
}

/* A form of a change that comes to the same as the one tried before it says nothing new. */
static bool is_told(const struct gt_answer *answers, size_t count, const struct gt_answer *answer)
{
    const struct gt_answer *before = count > 0 ? &answers[count - 1] : NULL;

    return before != NULL && before->step_us == answer->step_us &&
           strncmp(before->change, answer->change, strcspn(answer->change, "=")) == 0;
}

/* Those that this trace refuses are left out: --all asks for what applies. */
static size_t answer_all(const struct gt_whatif *whatif, struct gt_answer **answers)
{
    struct gt_change *changes;
    size_t tried = gt_whatif_tried(whatif, &changes), count = 0;
    struct gt_error refused;

    *answers = gt_calloc(tried + 1, sizeof **answers);
    for (size_t i = 0; i < tried; i++) {
        struct gt_answer *answer = &(*answers)[count];

        if (gt_whatif_answer(whatif, &changes[i], 1, NULL, answer, &refused) == 0 &&
            !is_told(*answers, count, answer))
            count++;
        else
            gt_answer_free(answer);
    }
    gt_whatif_free_tried(changes, tried);
    qsort(*answers, count, sizeof **answers, by_prediction);
    return count;
}

static int ask(const struct arguments *arguments, const struct gt_change *changes,
               const struct gt_whatif_subject *subject, const char *name, struct gt_error *error)
{
    struct gt_whatif whatif;
    struct gt_answer *answers = NULL;
    size_t count = 1;
    int result = gt_whatif_begin(&whatif, subject, error);

    if (result == 0 && arguments->all) {
        count = answer_all(&whatif, &answers);
    } else if (result == 0) {
        answers = gt_calloc(1, sizeof *answers);
        result = gt_whatif_answer(&whatif, changes, arguments->count, NULL, answers, error);
    }
    if (result == 0 && arguments->output != NULL)
        result = gt_whatif_keep(arguments->output, name, arguments->trace, &whatif, answers, count, error);
    if (result == 0)
        gt_whatif_print(stdout, arguments->format, name, &whatif, answers, count, arguments->all);
    for (size_t i = 0; answers != NULL && i < count; i++)
        gt_answer_free(&answers[i]);
    free(answers);
    gt_whatif_free(&whatif);
    return result;
}

static int work(struct arguments *arguments, const struct gt_change *changes, struct gt_error *error)
{
    struct gt_model_options *model = &arguments->model;
    struct gt_inquiry inquiry = { .name = NULL };
    int result = gt_profiles_read(&model->profiles, model->quiet, error);

    if (result == 0)
        result = gt_inquiry_begin(&inquiry, arguments->trace, model, arguments->independent, model->quiet, error);
    inquiry.host.gradient_bytes = arguments->gradient_bytes;
    if (result == 0) {
        struct gt_whatif_subject subject = gt_inquiry_subject(&inquiry, model, arguments->bars);

        subject.step_us = arguments->step_us;
        result = ask(arguments, changes, &subject, inquiry.name, error);
    }
    gt_inquiry_free(&inquiry);
    gt_profiles_free(&model->profiles);
    return result;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .model = GT_MODEL_OPTIONS_DEFAULT };
    struct gt_change changes[CHANGES_MAX];
    struct gt_error error = { "" };

    gt_parse(&parser, argc, argv, &arguments);
    if (parse_changes(&arguments, changes, &error) != 0)
        return gt_usage("whatif", "%s", error.text);
    return work(&arguments, changes, &error) == 0 ? GT_EXIT_DONE : gt_fail(&error);
}

const struct gt_command gt_command_whatif = {
    "whatif",
    "predict the effect of a change",
    run,
};
