#include "sim/cmd/input/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/cmd/input/common.h"
#include "traces/io/decimal.h"
#include "traces/names/clean_text.h"

uint64_t gt_option_number(const struct argp_state *state, const char *name, const char *text, uint64_t low,
                          uint64_t high)
{
    unsigned long long value;
    char *end;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < low || value > high)
        argp_error(state, "--%s requires an integer from %" PRIu64 " to %" PRIu64 ", not '%s'", name, low, high,
                   text);
    return value;
}

int gt_option_either(const struct argp_state *state, const char *name, const char *text, const char *first,
                     const char *second)
{
    if (strcmp(text, first) != 0 && strcmp(text, second) != 0)
        argp_error(state, "--%s requires %s or %s, not '%s'", name, first, second, text);
    return strcmp(text, first) != 0;
}

void gt_option_words(const struct argp_state *state, const char *name, char *text, char **list, uint32_t most,
                     uint32_t *count)
{
    for (char *save, *word = strtok_r(text, ",", &save); word != NULL; word = strtok_r(NULL, ",", &save)) {
        if (*count == most)
            argp_error(state, "--%s names more than %u", name, most);
        list[(*count)++] = word;
    }
    if (*count == 0)
        argp_error(state, "--%s needs a name", name);
}

void gt_option_reals(const struct argp_state *state, const char *name, char *text, double high, double *list,
                     uint32_t most, uint32_t *count)
{
    for (char *save, *word = strtok_r(text, ",", &save); word != NULL; word = strtok_r(NULL, ",", &save)) {
        char *end;
        double number = strtod(word, &end);

        if (*end != '\0' || !(number > 0 && number <= high))
            argp_error(state, "--%s needs numbers more than 0, and %g at most, not '%s'", name, high, word);
        if (*count == most)
            argp_error(state, "--%s has more than %u", name, most);
        list[(*count)++] = number;
    }
    if (*count == 0)
        argp_error(state, "--%s needs a number", name);
}

enum gt_format gt_option_format(const struct argp_state *state, const char *text)
{
    enum gt_format format = GT_FORMAT_TABLE;

    if (gt_format_parse(text, &format) != 0)
        argp_error(state, "unknown format '%s'; formats are table, csv, json", text);
    return format;
}

void gt_option_table(const struct argp_state *state, const char *text)
{
    const char *known = gt_tables_choose(text);

    if (known != NULL)
        argp_error(state, "unknown table '%s'; tables are %s", text, known);
}

void gt_option_table_needs(const struct argp_state *state, const char *table, const char *option, bool given)
{
    if (!given && gt_table_is_chosen(table))
        argp_error(state, "--table=%s needs %s", table, option);
}

void gt_option_only(const struct argp_state *state, const char *what, const char *text, const char **place)
{
    if (*place != NULL)
        argp_error(state, "only one %s is allowed: remove '%s'", what, text);
    *place = text;
}

/* Beyond the commands' own. */
enum {
    OPTION_DEVICE = 0x1000,
    OPTION_COST,
    OPTION_PROGRAMS,
    OPTION_TASK_COSTS,
    OPTION_SEED,
    OPTION_INFER,
    OPTION_FROM,
    OPTION_TO,
    OPTION_STREAM,
    OPTION_KERNEL,
    OPTION_STEP
};

/* clang-format off */
static const struct argp_option model_options[] = {
    {"device", OPTION_DEVICE, "NAME|FILE.ini", 0,
     "The GPU, by name or device file (default: the GPU that the trace names)", 0},
    {"cost", OPTION_COST, "measured|program", 0, "Duration of kernels: measured where known (the default), or "
     "simulated from machine code "
    "where known", 0},
    {"programs", OPTION_PROGRAMS, "PROFILE", 0, "Take machine code for kernels that have none from this Nsight "
     "Compute profile, imported "
    "or not: the launch with the same name and block size and the nearest grid; may be repeated", 0},
    {"task-costs", OPTION_TASK_COSTS, "FILE", 0, "Table (CSV or JSON) of task times by kind, bytes or operations, "
     "or recording of a megakernel (Perfetto, or Triton's proton), for tasks of task graphs "
    "without a time", 0},
    {"infer", OPTION_INFER, "on|off", 0, "Infer from recorded times what the trace does not state: dependencies "
     "between streams and, for predictions, connections and priorities (on, the default)", 0},
    {"seed", OPTION_SEED, "N", 0, "Seed for block costs given as ranges and for host noise (default 1)", 0},
    {0},
};
/* clang-format on */

static error_t parse_model_option(int key, char *text, struct argp_state *state)
{
    struct gt_model_options *options = state->input;

    switch (key) {
    case OPTION_DEVICE: options->device = text; return 0;
    case OPTION_COST:
        options->program_cost = gt_option_either(state, "cost", text, "measured", "program") == 1;
        return 0;
    case OPTION_TASK_COSTS: options->task_costs = text; return 0;
    case OPTION_PROGRAMS: gt_profiles_add(&options->profiles, text); return 0;
    case OPTION_INFER: options->no_inference = gt_option_either(state, "infer", text, "on", "off") == 1; return 0;
    case OPTION_SEED: options->seed = gt_option_number(state, "seed", text, 0, UINT64_MAX); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp model_parser = { model_options, parse_model_option, NULL, NULL, NULL, NULL, NULL };
const struct argp_child gt_model_children[] = { { &model_parser, 0, NULL, 0 }, { 0 } };

/* clang-format off */
static const struct argp_option filter_options[] = {
    {"from", OPTION_FROM, "US", 0, "Only operations that start at or after this time of the run, in "
     "microseconds", 1},
    {"to", OPTION_TO, "US", 0, "Only operations that start before this time", 1},
    {"stream", OPTION_STREAM, "NAME", 0, "Only operations of this stream, given by name or number", 1},
    {"kernel", OPTION_KERNEL, "NAME", 0, "Only kernels whose name, mangled or not, contains NAME", 1},
    {"step", OPTION_STEP, "NAME", 0, "Only operations of this step, given by its name, the number in its name, or "
     "its index "
    "from 0", 1},
    {0},
};
/* clang-format on */

static gt_time_ps parse_time(const struct argp_state *state, const char *name, const char *text)
{
    struct gt_error error;
    gt_time_ps time_ps = 0;

    if (gt_decimal_parse(text, strlen(text), 6, GT_TIME_LIMIT_PS, &time_ps, &error) != 0)
        argp_error(state, "--%s requires a time in microseconds; '%s' %s", name, text, error.text);
    return time_ps;
}

static error_t parse_filter_option(int key, char *text, struct argp_state *state)
{
    struct gt_filter *filter = state->input;

    switch (key) {
    case OPTION_FROM: filter->from_ps = parse_time(state, "from", text); break;
    case OPTION_TO: filter->to_ps = parse_time(state, "to", text); break;
    case OPTION_STREAM: filter->stream = text; return 0;
    case OPTION_KERNEL: filter->kernel = text; return 0;
    case OPTION_STEP: filter->step = text; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
    if (filter->to_ps <= filter->from_ps)
        argp_error(state, "--to must be later than --from");
    return 0;
}

static const struct argp filter_parser = { filter_options, parse_filter_option, NULL, NULL, NULL, NULL, NULL };
const struct argp_child gt_filter_children[] = { { &filter_parser, 0, NULL, 0 }, { 0 } };

/* Arguments of a command: argp reads them; before it, -h and mistyped options are looked for. */

/* The options of a command as getopt wants them. */
struct table {
    struct option *longs; /* ends with zeros */
    size_t count;
    char *shorts;
    size_t bytes;
    FILE *out; /* where `shorts` comes from */
};

static void add_long(struct table *table, const char *name, const char *argument)
{
    table->longs = gt_realloc(table->longs, table->count + 2, sizeof *table->longs);
    table->longs[table->count++] =
        (struct option){ name, argument != NULL ? required_argument : no_argument, NULL, 0 };
    table->longs[table->count] = (struct option){ 0 };
}

static void add_options(struct table *table, const struct argp *parser)
{
    const struct argp_option *option = parser->options;

    for (; option != NULL && (option->name != NULL || option->key != 0); option++) {
        if (option->name != NULL)
            add_long(table, option->name, option->arg);
        if (option->key > ' ' && option->key < 0x7f)
            fprintf(table->out, "%c%s", option->key, option->arg != NULL ? ":" : "");
    }
    for (const struct argp_child *child = parser->children; child != NULL && child->argp != NULL; child++)
        add_options(table, child->argp);
}

static void make_table(struct table *table, const struct argp *parser, unsigned flags)
{
    static const char *const argp_own[] = { "help", "usage", "version" };

    *table = (struct table){ .count = 0 };
    table->out = open_memstream(&table->shorts, &table->bytes);
    if (table->out == NULL)
        gt_no_memory("a text");
    fputs(flags & ARGP_IN_ORDER ? "+?Vh" : "?Vh", table->out);
    add_options(table, parser);
    for (size_t i = 0; i < sizeof argp_own / sizeof argp_own[0]; i++)
        add_long(table, argp_own[i], NULL);
    fclose(table->out);
}

/* Say that there is no option like `typed`, "--NAME" or "--NAME=VALUE", and which is most like it. */
static void tell_unknown(const struct table *table, const char *command, const char *typed)
{
    char *name = gt_strndup(typed + 2, strcspn(typed + 2, "=")), *clean = gt_clean_name(name);
    const char *nearest = NULL;
    size_t least = GT_SPELLING_BYTES;

    for (size_t i = 0; i < table->count; i++) {
        size_t slips = gt_spelling_slips(name, table->longs[i].name);

        if (slips < least) {
            least = slips;
            nearest = table->longs[i].name;
        }
    }
    fprintf(stderr, "%s: unknown option --%s", command, clean);
    if (nearest != NULL)
        fprintf(stderr, "; the most similar option is --%s", nearest);
    fprintf(stderr, ". See '%s --help'.\n", command);
    free(clean);
    free(name);
}

static bool has_prefix(const struct table *table, const char *typed)
{
    size_t length = strcspn(typed + 2, "=");

    for (size_t i = 0; i < table->count; i++)
        if (strncmp(table->longs[i].name, typed + 2, length) == 0)
            return true;
    return false;
}

/* Go through the arguments as argp will: is there -h?  Ends the program where an option is unknown; what is
 * ambiguous, or lacks its value, is left to argp to tell. */
static bool asks_for_help(const struct table *table, int argc, char **argv)
{
    bool help = false;
    char **copy = gt_calloc((unsigned)argc + 1, sizeof *copy);
    int key;

    memcpy(copy, argv, (size_t)argc * sizeof *copy);
    optind = 0; /* from the start, glibc's way */
    opterr = 0;
    while (!help && (key = getopt_long(argc, copy, table->shorts, table->longs, NULL)) != -1) {
        const char *typed = copy[optind - 1];

        help = key == 'h';
        if (key == '?' && optopt == 0 && strncmp(typed, "--", 2) == 0 && !has_prefix(table, typed)) {
            tell_unknown(table, argv[0], typed);
            exit(GT_EXIT_USAGE);
        }
    }
    free(copy);
    return help;
}

/* The names in the row of GT_OPTION_TABLE; NULL where there is none. */
static const char *table_names(const struct argp *parser)
{
    const struct argp_option *option = parser->options;

    for (; option != NULL && (option->name != NULL || option->key != 0); option++)
        if (option->key == GT_KEY_TABLE)
            return option->doc + sizeof GT_TABLE_HELP - 1;
    return NULL;
}

static void parse(const struct argp *parser, int argc, char **argv, unsigned flags, void *input)
{
    static char option[] = "--help";
    struct table table;
    bool help;

    make_table(&table, parser, flags);
    help = asks_for_help(&table, argc, argv);
    free(table.longs);
    free(table.shorts);
    if (help)
        argp_parse(parser, 2, (char *[]){ argv[0], option, NULL }, 0, NULL, input);
    gt_tables_declare(table_names(parser));
    argp_parse(parser, argc, argv, flags, NULL, input);
}

void gt_parse(const struct argp *parser, int argc, char **argv, void *input)
{
    parse(parser, argc, argv, 0, input);
}

void gt_parse_in_order(const struct argp *parser, int argc, char **argv, void *input)
{
    parse(parser, argc, argv, ARGP_IN_ORDER, input);
}
