/* devices.c - `gridtide devices`: what GPUs there are, what is known of one, what every key means. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/print/table.h"
#include "sim/cmd/print/terminal.h"
#include "traces/io/device_file.h"

enum { RANGE_BYTES = 64 };

struct arguments {
    const char *device; /* NULL: none named */
    bool describe;
    enum gt_format format;
};

/* A device and where its values come from; the generic one where none is named. */
struct subject {
    struct gt_device device;
    struct gt_key_notes notes;
};

static const struct argp_option options[] = {
    { "describe", 'd', NULL, 0, "Describe every key: unit, range, default, meaning", 0 },
    GT_OPTION_FORMAT,
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'd': arguments->describe = true; return 0;
    case 'f': arguments->format = gt_option_format(state, text); return 0;
    case ARGP_KEY_ARG: gt_option_only(state, "device", text, &arguments->device); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "[NAME|FILE.ini]",
    "List the device files. With a name or a file, print every value of that device file and "
    "its source.\vA device file has INI format: [section] and name joined by a dot form a key. "
    "`gridtide run --set KEY=VALUE` changes a value for one run.",
    NULL, NULL, NULL,
};
/* clang-format on */

static int list_devices(enum gt_format format, struct gt_error *error)
{
    static const struct gt_column columns[] = {
        { "name", GT_COLUMN_TEXT },        { "chip", GT_COLUMN_TEXT },      { "sms", GT_COLUMN_NUMBER },
        { "clock_mhz", GT_COLUMN_NUMBER }, { "guesses", GT_COLUMN_NUMBER }, { "source", GT_COLUMN_WIDE },
    };
    char **names = gt_device_names(error);
    struct gt_table *table = names != NULL ? gt_table_new("devices", columns, 6) : NULL;
    int status = names != NULL ? 0 : -1;
    for (size_t i = 0; status == 0 && names[i] != NULL; i++) {
        struct subject subject;
        status = gt_device_load_notes(names[i], &subject.device, &subject.notes, error);
        if (status != 0)
            break;
        gt_table_text(table, names[i]);
        gt_table_text(table, subject.device.name);
        gt_table_integer(table, subject.device.sms);
        gt_table_integer(table, subject.device.clock_mhz);
        gt_table_integer(table, subject.device.estimated_keys);
        gt_table_text(table, subject.notes.file);
        gt_key_notes_free(&subject.notes);
    }
    if (status == 0)
        gt_tables_print(stdout, format, &table, 1);
    if (table != NULL)
        gt_table_free(table);
    gt_device_names_free(names);
    return status;
}

/* The value as text, an empty list as nothing. */
static void add_value(struct gt_table *table, const char *text)
{
    gt_table_text(table, text[0] != '\0' ? text : NULL);
}

static void show_device(const struct subject *subject, enum gt_format format)
{
    static const struct gt_column columns[] = {
        { "key", GT_COLUMN_TEXT },     { "value", GT_COLUMN_WIDE },   { "unit", GT_COLUMN_TEXT },
        { "default", GT_COLUMN_TEXT }, { "differs", GT_COLUMN_TEXT }, { "guess", GT_COLUMN_TEXT },
        { "source", GT_COLUMN_WIDE },
    };
    struct gt_table *table = gt_table_new("keys", columns, 7);
    for (size_t i = 0; i < gt_device_key_count; i++) {
        const struct gt_key *key = &gt_device_keys[i];
        char value[GT_DEVICE_VALUE_BYTES];
        gt_device_get(&subject->device, key, value, sizeof(value));
        gt_table_text(table, key->key);
        add_value(table, value);
        gt_table_text(table, key->unit);
        add_value(table, key->fallback);
        gt_table_text(table, strcmp(value, key->fallback) != 0 ? "yes" : "no");
        gt_table_text(table, gt_key_note_guesses(subject->notes.keys[i]) ? "yes" : "no");
        gt_table_text(table, subject->notes.keys[i] != NULL ? subject->notes.keys[i] : "default");
    }
    gt_tables_print(stdout, format, &table, 1);
    gt_table_free(table);
}

static void range_text(const struct gt_key *key, char *text)
{
    snprintf(text, RANGE_BYTES, "%.15g to %.15g%s", key->low, key->high,
             key->type == GT_KEY_TEXT ? " characters" : "");
}

static void describe_for_people(const struct subject *subject)
{
    for (size_t i = 0; i < gt_device_key_count; i++) {
        const struct gt_key *key = &gt_device_keys[i];
        char range[RANGE_BYTES], value[GT_DEVICE_VALUE_BYTES], *text;

        range_text(key, range);
        printf("%s%s\n", i > 0 ? "\n" : "", key->key);
        gt_fold_print(stdout, 4, key->help);
        gt_device_get(&subject->device, key, value, sizeof(value));
        text = gt_format("unit %s, range %s, default %s%s%s", key->unit, range,
                         key->fallback[0] != '\0' ? key->fallback : "empty",
                         subject->notes.keys != NULL ? ", here " : "",
                         subject->notes.keys == NULL ? ""
                         : value[0] != '\0'          ? value
                                                     : "empty");
        gt_fold_print(stdout, 4, text);
        free(text);
    }
}

static void describe_for_programs(const struct subject *subject, enum gt_format format)
{
    static const struct gt_column columns[] = {
        { "key", GT_COLUMN_TEXT },     { "unit", GT_COLUMN_TEXT }, { "range", GT_COLUMN_TEXT },
        { "default", GT_COLUMN_TEXT }, { "help", GT_COLUMN_TEXT }, { "value", GT_COLUMN_TEXT },
    };
    struct gt_table *table = gt_table_new("keys", columns, subject->notes.keys != NULL ? 6 : 5);
    for (size_t i = 0; i < gt_device_key_count; i++) {
        const struct gt_key *key = &gt_device_keys[i];
        char range[RANGE_BYTES], value[GT_DEVICE_VALUE_BYTES];
        range_text(key, range);
        gt_table_text(table, key->key);
        gt_table_text(table, key->unit);
        gt_table_text(table, range);
        add_value(table, key->fallback);
        gt_table_text(table, key->help);
        gt_device_get(&subject->device, key, value, sizeof(value));
        if (subject->notes.keys != NULL)
            add_value(table, value);
    }
    gt_tables_print(stdout, format, &table, 1);
    gt_table_free(table);
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { NULL, false, GT_FORMAT_TABLE };
    struct subject subject = { 0 };
    struct gt_error error;
    gt_parse(&parser, argc, argv, &arguments);
    if (arguments.device == NULL && !arguments.describe)
        return list_devices(arguments.format, &error) == 0 ? GT_EXIT_DONE : gt_fail(&error);
    gt_device_init(&subject.device);
    if (arguments.device != NULL &&
        gt_device_load_notes(arguments.device, &subject.device, &subject.notes, &error) != 0)
        return gt_fail(&error);
    if (!arguments.describe)
        show_device(&subject, arguments.format);
    else if (arguments.format == GT_FORMAT_TABLE)
        describe_for_people(&subject);
    else
        describe_for_programs(&subject, arguments.format);
    gt_key_notes_free(&subject.notes);
    return GT_EXIT_DONE;
}

const struct gt_command gt_command_devices = {
    "devices",
    "list GPU models and the values of one",
    run,
};
