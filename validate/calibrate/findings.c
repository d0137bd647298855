/* findings.c - what was found, key by key, and the device file made of it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/io/device_file.h"
#include "traces/io/output.h"
#include "traces/io/overwrite.h"
#include "validate/calibrate/findings.h"
#include "validate/calibrate/product_table.h"

/* Lists are broken over lines of this length; inih reads up to 197 characters, and so much of a source
 * is written. */
enum { LINE_COLUMNS = 100, SOURCE_COLUMNS = 185, SOURCE_BYTES = 512, NUMBER_BYTES = 64 };

void gt_calibration_init(struct gt_calibration *calibration)
{
    *calibration = (struct gt_calibration){ .note_count = 0 };
    calibration->findings = gt_calloc(gt_device_key_count, sizeof(*calibration->findings));
}

void gt_calibration_free(struct gt_calibration *calibration)
{
    for (size_t i = 0; calibration->findings != NULL && i < gt_device_key_count; i++)
        free(calibration->findings[i].value);
    free(calibration->findings);
    free(calibration->products);
    calibration->findings = NULL;
    calibration->products = NULL;
}

static const struct gt_key *row_of(const char *key)
{
    const struct gt_key *row = gt_device_find_key(key);
    if (row == NULL)
        gt_bug("calibration of %s, which is no key", key);
    return row;
}

const struct gt_finding *gt_finding_of(const struct gt_calibration *calibration, const char *key)
{
    return &calibration->findings[row_of(key) - gt_device_keys];
}

/* Four significant digits, three decimals at the most; whole numbers for what is counted. */
static void number_text(const struct gt_key *row, double number, char *text)
{
    int decimals = 0;
    if (row->type == GT_KEY_TIME || row->type == GT_KEY_RATE)
        decimals = number >= 999.5 ? 0 : number >= 99.95 ? 1 : number >= 9.995 ? 2 : 3;
    snprintf(text, NUMBER_BYTES, "%.*f", decimals, number);
    if (decimals > 0) {
        size_t length = strlen(text);
        while (text[length - 1] == '0')
            length--;
        text[text[length - 1] == '.' ? length - 1 : length] = '\0';
    }
}

/* Take a value if the key allows it; lists and policies are looked at when the file is written. */
static struct gt_finding *take(struct gt_calibration *calibration, const char *key, const char *value)
{
    const struct gt_key *row = row_of(key);
    struct gt_finding *finding = &calibration->findings[row - gt_device_keys];
    struct gt_device *scratch = gt_calloc(1, sizeof(*scratch));
    struct gt_error error;
    gt_device_init(scratch);
    scratch->sms = GT_DEVICE_MAX_SMS; /* so that any list of SMs may be looked at */
    free(finding->value);
    finding->value = NULL;
    finding->known = false;
    finding->summary = (struct gt_bench_summary){ 0, 0, 0, 0 };
    if (gt_device_set(scratch, key, value, &error) == 0)
        finding->value = strdup(value);
    else
        snprintf(finding->method, sizeof(finding->method), "refused: %.140s", error.text);
    free(scratch);
    return finding;
}

static void set_method(struct gt_finding *finding, const char *format, va_list arguments)
{
    vsnprintf(finding->method, sizeof(finding->method), format, arguments);
}

void gt_found(struct gt_calibration *calibration, const char *key, double value, struct gt_bench_summary summary,
              const char *method, ...)
{
    char text[NUMBER_BYTES];
    va_list arguments;
    number_text(row_of(key), value, text);
    struct gt_finding *finding = take(calibration, key, text);
    if (finding->value == NULL)
        return;
    finding->summary = summary;
    va_start(arguments, method);
    set_method(finding, method, arguments);
    va_end(arguments);
}

void gt_found_text(struct gt_calibration *calibration, const char *key, const char *value, const char *method, ...)
{
    va_list arguments;
    struct gt_finding *finding = take(calibration, key, value);
    if (finding->value == NULL)
        return;
    va_start(arguments, method);
    set_method(finding, method, arguments);
    va_end(arguments);
}

void gt_found_known(struct gt_calibration *calibration, const char *key, const char *value, const char *method)
{
    gt_found_text(calibration, key, value, "%s", method);
    calibration->findings[row_of(key) - gt_device_keys].known = true;
}

void gt_not_found(struct gt_calibration *calibration, const char *key, const char *why, ...)
{
    struct gt_finding *finding = &calibration->findings[row_of(key) - gt_device_keys];
    va_list arguments;
    free(finding->value);
    finding->value = NULL;
    va_start(arguments, why);
    set_method(finding, why, arguments);
    va_end(arguments);
}

void gt_found_product(struct gt_calibration *calibration, const struct gt_product_point *point)
{
    gt_array_grow(calibration->products, calibration->product_count, calibration->product_room);
    calibration->products[calibration->product_count++] = *point;
}

void gt_found_note(struct gt_calibration *calibration, const char *format, ...)
{
    va_list arguments;
    if (calibration->note_count == GT_CALIBRATION_NOTES)
        return;
    va_start(arguments, format);
    vsnprintf(calibration->notes[calibration->note_count++], GT_CALIBRATION_LINE_BYTES, format, arguments);
    va_end(arguments);
}

/* The device that is written: what was found, and for the rest the device file of that name that comes with
 * Gridtide, or the defaults where there is none. */
struct whole {
    struct gt_device device;
    struct gt_key_notes notes; /* of that file; keys NULL: there is none */
    char source[SOURCE_BYTES]; /* the last one written in this section: it holds for what follows */
};

/* Some keys nobody can measure on one GPU, others are fitted to many kernels: they stay as they were. */
static void load_shipped(struct whole *whole, const char *chip)
{
    struct gt_error error;
    char **names = gt_device_names(&error);
    for (size_t i = 0; names != NULL && names[i] != NULL && whole->notes.keys == NULL; i++) {
        if (gt_device_load_notes(names[i], &whole->device, &whole->notes, &error) == 0 &&
            strcmp(whole->device.name, chip) == 0)
            break;
        gt_key_notes_free(&whole->notes);
    }
    gt_device_names_free(names);
    if (whole->notes.keys == NULL)
        gt_device_init(&whole->device);
}

/* Returns -1 where all that was found makes no device. */
static int make_whole(const struct gt_calibration *calibration, struct whole *whole, struct gt_error *error)
{
    const struct gt_finding *name = gt_finding_of(calibration, "chip.name");
    int status = 0;
    gt_device_init(&whole->device);
    if (name->value != NULL)
        load_shipped(whole, name->value);
    for (size_t i = 0; status == 0 && i < gt_device_key_count; i++)
        if (calibration->findings[i].value != NULL)
            status = gt_device_set(&whole->device, gt_device_keys[i].key, calibration->findings[i].value, error);
    if (status == 0)
        status = gt_device_check(&whole->device, error);
    return status == 0 ? 0 : gt_error_prefix(error, "what was measured makes no device: ");
}

/* "; source: ..." of one key. */
static void source_text(const struct gt_calibration *calibration, const struct whole *whole, size_t row, char *text)
{
    const struct gt_key *key = &gt_device_keys[row];
    const struct gt_finding *finding = &calibration->findings[row];
    char median[NUMBER_BYTES], low[NUMBER_BYTES], high[NUMBER_BYTES];
    if (finding->value == NULL && whole->notes.keys != NULL && whole->notes.keys[row] != NULL) {
        snprintf(text, SOURCE_BYTES, "%s", whole->notes.keys[row]);
    } else if (finding->value == NULL) {
        snprintf(text, SOURCE_BYTES, "default, not measured%s%s", finding->method[0] != '\0' ? ": " : "",
                 finding->method);
    } else if (finding->known) {
        snprintf(text, SOURCE_BYTES, "%s", finding->method);
    } else if (finding->summary.count == 0) {
        snprintf(text, SOURCE_BYTES, "measured %s: %s", calibration->when, finding->method);
    } else {
        number_text(key, finding->summary.median, median);
        number_text(key, finding->summary.low, low);
        number_text(key, finding->summary.high, high);
        snprintf(text, SOURCE_BYTES, "measured %s: median %s, quartiles in %s to %s, n %zu; %s", calibration->when,
                 median, low, high, finding->summary.count, finding->method);
    }
}

/* How much of a list goes on a line with room for `room` characters: up to and with a comma. */
static size_t line_length(const char *list, size_t room)
{
    size_t length = strlen(list);
    if (length <= room)
        return length;
    for (size_t i = room; i > 0; i--)
        if (list[i - 1] == ',')
            return i;
    return length;
}

/* KEY = VALUE; a long list goes on over lines that begin with spaces. */
static int write_value(struct gt_output *output, const char *name, const char *value, struct gt_error *error)
{
    size_t room = LINE_COLUMNS - strlen(name) - strlen(" = "), length = line_length(value, room);
    if (gt_output_printf(output, error, "%s = %.*s\n", name, (int)length, value) != 0)
        return -1;
    for (value += length; value[0] != '\0'; value += length) {
        length = line_length(value, LINE_COLUMNS - 4);
        if (gt_output_printf(output, error, "    %.*s\n", (int)length, value) != 0)
            return -1;
    }
    return 0;
}

static int write_section(struct whole *whole, size_t row, struct gt_output *output, struct gt_error *error)
{
    const char *key = gt_device_keys[row].key;
    size_t section = strcspn(key, ".");
    if (row > 0 && strncmp(key, gt_device_keys[row - 1].key, section + 1) == 0)
        return 0;
    whole->source[0] = '\0';
    return gt_output_printf(output, error, "\n[%.*s]\n", (int)section, key);
}

/* The source of a value where it is another than that of the value before. */
static int write_source(const struct gt_calibration *calibration, struct whole *whole, size_t row,
                        struct gt_output *output, struct gt_error *error)
{
    char source[SOURCE_BYTES];
    source_text(calibration, whole, row, source);
    if (strcmp(source, whole->source) == 0)
        return 0;
    memcpy(whole->source, source, sizeof(source));
    return gt_output_printf(output, error, "; source: %.*s\n", SOURCE_COLUMNS, source);
}

static int write_key(const struct gt_calibration *calibration, struct whole *whole, size_t row,
                     struct gt_output *output, struct gt_error *error)
{
    const struct gt_key *key = &gt_device_keys[row];
    const struct gt_finding *finding = &calibration->findings[row];
    const char *name = strchr(key->key, '.') + 1;
    char value[GT_DEVICE_VALUE_BYTES];
    if (write_section(whole, row, output, error) != 0)
        return -1;
    gt_device_get(&whole->device, key, value, sizeof(value));
    if (value[0] == '\0') /* an empty list is left out */
        return gt_output_printf(output, error, "; %s: not measured%s%s\n", name,
                                finding->method[0] != '\0' ? ": " : "", finding->method);
    if (write_source(calibration, whole, row, output, error) != 0)
        return -1;
    return write_value(output, name, finding->value != NULL ? finding->value : value, error);
}

static int write_head(const struct gt_calibration *calibration, struct gt_output *output, struct gt_error *error)
{
    const struct gt_finding *name = gt_finding_of(calibration, "chip.name");
    const char *chip = name->value != NULL ? name->value : "unnamed GPU";
    int status = gt_output_printf(output, error, "; %s\n; source: measured on an %s, %s, %s, by gridtide calibrate\n",
                                  chip, chip, calibration->when, calibration->system);
    for (size_t i = 0; status == 0 && i < calibration->note_count; i++)
        status = gt_output_printf(output, error, "; %s\n", calibration->notes[i]);
    return status;
}

/* The caller commits, or abandons, what is returned. */
static struct gt_output *write_file(const struct gt_calibration *calibration, struct whole *whole, const char *path,
                                    struct gt_error *error)
{
    struct gt_output *output = gt_output_open(path, error);
    if (output == NULL)
        return NULL;
    int status = write_head(calibration, output, error);
    for (size_t i = 0; status == 0 && i < gt_device_key_count; i++)
        status = write_key(calibration, whole, i, output, error);
    if (status == 0)
        return output;
    gt_output_abandon(output);
    return NULL;
}

/* Both get their names when both are whole. */
static int write_files(const struct gt_calibration *calibration, struct whole *whole, const char *path,
                       struct gt_error *error)
{
    gt_reading_is_over(); /* the device files that come with Gridtide may be made anew */
    bool products = calibration->product_count > 0;
    struct gt_output *table = products ? gt_product_table_write(calibration, path, error) : NULL;
    struct gt_output *output = products && table == NULL ? NULL : write_file(calibration, whole, path, error);
    if (output == NULL) {
        gt_output_abandon(table);
        return -1;
    }
    if (table == NULL || gt_output_commit(table, error) == 0)
        return gt_output_commit(output, error);
    gt_output_abandon(output);
    return -1;
}

static void name_table(struct gt_calibration *calibration, const char *path)
{
    char *name = gt_product_table_name(path, false);
    const struct gt_bench_summary *apart = &calibration->products_apart;
    if (apart->count > 0)
        gt_found_text(calibration, "product.sweep", name,
                      "%u products of %s; %zu of them in several processes, %.1f %% apart",
                      calibration->product_count, calibration->library, apart->count, 100 * apart->median);
    else
        gt_found_text(calibration, "product.sweep", name, "%u products of %s", calibration->product_count,
                      calibration->library);
    free(name);
}

static void free_whole(struct whole *whole)
{
    if (whole->notes.keys != NULL)
        gt_key_notes_free(&whole->notes);
    free(whole);
}

int gt_calibration_device(const struct gt_calibration *calibration, struct gt_device *device, struct gt_error *error)
{
    struct whole *whole = gt_calloc(1, sizeof(*whole));
    int status = make_whole(calibration, whole, error);
    *device = whole->device;
    free_whole(whole);
    return status;
}

int gt_calibration_write(struct gt_calibration *calibration, const char *path, struct gt_error *error)
{
    struct whole *whole = gt_calloc(1, sizeof(*whole));
    if (calibration->product_count > 0)
        name_table(calibration, path);
    int status = make_whole(calibration, whole, error);
    if (status == 0)
        status = write_files(calibration, whole, path, error);
    free_whole(whole);
    return status;
}
