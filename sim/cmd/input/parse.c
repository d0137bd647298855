/* parse.c - arguments of a command: argp reads them; before it, -h and mistyped options are looked for. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/spelling.h"
#include "sim/cmd/input/common.h"
#include "traces/names/clean_text.h"

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
