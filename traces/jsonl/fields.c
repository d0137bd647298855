#include "traces/jsonl/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"
#include "traces/io/decimal.h"

enum { UNKNOWN_LIMIT = 64, NAME_SHOWN = 60, DOUBLE_BYTES = 64 };

static const struct unit {
    const char *ending;
    size_t length;
    int exponent; /* of 10, in picoseconds */
} units[] = { { "_ns", 3, 3 }, { "_us", 3, 6 }, { "_ms", 3, 9 }, { "_s", 2, 12 }, { "_ps", 3, 0 } };
enum { UNITS = sizeof units / sizeof units[0] };

static const char *const type_wants[] = {
    [GT_FIELD_TIME] = "a number",
    [GT_FIELD_TIMES] = "a number or a list of numbers",
    [GT_FIELD_U64] = "a whole number",
    [GT_FIELD_U32] = "a whole number",
    [GT_FIELD_I32] = "a whole number",
    [GT_FIELD_DOUBLE] = "a number",
    [GT_FIELD_SIZE3] = "one to three whole numbers, as in 256 or [16,16]",
    [GT_FIELD_BOOL] = "true or false",
    [GT_FIELD_CHOICE] = "a string",
    [GT_FIELD_TEXT] = "a string",
    [GT_FIELD_REF] = "a name or a number",
    [GT_FIELD_ARRAY] = "a list in [ ]",
    [GT_FIELD_OBJECT] = "an object in { }",
    [GT_FIELD_VALUE] = "a value",
};

/* Where a field's value is read from and to. */
struct place {
    const struct gt_field *field;
    const struct gt_json_token *value;
    int exponent;     /* of times */
    const char *name; /* as written, with its unit; not NUL-ended */
    int name_length;
    void *into;
};

static int wrong_type(const struct place *place, struct gt_error *error)
{
    return gt_error_set(error, "\"%.*s\" must be %s", place->name_length, place->name,
                        type_wants[place->field->type]);
}

static int wrong_number(const struct place *place, const struct gt_json_token *number, struct gt_error *error)
{
    int shown = number->length < 40 ? (int)number->length : 40;

    return gt_error_prefix(error, "\"%.*s\": %.*s ", place->name_length, place->name, shown, number->text);
}

static int read_whole(const struct place *place, const struct gt_json_token *value, uint64_t limit, uint64_t *number,
                      struct gt_error *error)
{
    if (value->type != GT_JSON_NUMBER)
        return wrong_type(place, error);
    if (memchr(value->text, '.', value->length) != NULL || memchr(value->text, 'e', value->length) != NULL ||
        memchr(value->text, 'E', value->length) != NULL) {
        gt_error_set(error, "is not a whole number written with digits only");
        return wrong_number(place, value, error);
    }
    if (gt_decimal_parse(value->text, value->length, 0, limit, number, error) != 0)
        return wrong_number(place, value, error);
    return 0;
}

static int read_i32(const struct place *place, struct gt_error *error)
{
    struct gt_json_token value = *place->value;
    bool negative = value.type == GT_JSON_NUMBER && value.text[0] == '-';
    uint64_t number;

    if (negative) {
        value.text++;
        value.length--;
    }
    if (read_whole(place, &value, (uint64_t)INT32_MAX + negative, &number, error) != 0)
        return -1;
    *(int32_t *)place->into = (int32_t)(negative ? -(int64_t)number : (int64_t)number);
    return 0;
}

int gt_field_double(const struct gt_json_token *value, const char *name, double *number, struct gt_error *error)
{
    char text[DOUBLE_BYTES];

    if (value->type != GT_JSON_NUMBER || value->length >= sizeof text)
        return gt_error_set(error, "\"%s\" must be a number of fewer than %d characters", name, DOUBLE_BYTES);
    memcpy(text, value->text, value->length);
    text[value->length] = '\0';
    *number = strtod(text, NULL);
    if (!isfinite(*number))
        return gt_error_set(error, "\"%s\": %s is too large", name, text);
    return 0;
}

static int read_double(const struct place *place, struct gt_error *error)
{
    return gt_field_double(place->value, place->field->name, place->into, error);
}

static int read_u64(const struct place *place, struct gt_error *error)
{
    return read_whole(place, place->value, UINT64_MAX, place->into, error);
}

static int read_u32(const struct place *place, struct gt_error *error)
{
    uint64_t number;

    if (read_whole(place, place->value, UINT32_MAX - 1, &number, error) != 0)
        return -1;
    *(uint32_t *)place->into = (uint32_t)number;
    return 0;
}

static int read_size3(const struct place *place, struct gt_error *error)
{
    const struct gt_json_token *value = place->value, *end = value + value->span;
    uint32_t *size = place->into, count = 0;
    uint64_t number;

    if (value->type == GT_JSON_ARRAY && value->span == 1)
        return wrong_type(place, error);
    for (value += value->type == GT_JSON_ARRAY; value < end; value += value->span) {
        if (count == 3 || value->type != GT_JSON_NUMBER)
            return wrong_type(place, error);
        if (read_whole(place, value, INT32_MAX, &number, error) != 0)
            return -1;
        if (number == 0)
            return gt_error_set(error, "\"%s\" contains a size of 0; sizes are at least 1", place->field->name);
        size[count++] = (uint32_t)number;
    }
    while (count < 3)
        size[count++] = 1;
    return 0;
}

static int read_bool(const struct place *place, struct gt_error *error)
{
    if (place->value->type != GT_JSON_TRUE && place->value->type != GT_JSON_FALSE)
        return wrong_type(place, error);
    *(bool *)place->into = place->value->type == GT_JSON_TRUE;
    return 0;
}

static int read_choice(const struct place *place, struct gt_error *error)
{
    const struct gt_field *field = place->field;
    const struct gt_json_token *value = place->value;
    char valid[512];
    size_t used = 0;

    if (value->type != GT_JSON_STRING)
        return wrong_type(place, error);
    for (unsigned i = 0; i < field->choice_count; i++) {
        size_t length = strlen(field->choices[i]);

        if (length == value->length && memcmp(field->choices[i], value->text, length) == 0) {
            *(uint8_t *)place->into = (uint8_t)i;
            return 0;
        }
        used += (size_t)snprintf(valid + used, sizeof valid - used, " %s", field->choices[i]);
    }
    return gt_error_set(error, "\"%s\": no \"%.*s\"; there are:%s", field->name,
                        value->length < NAME_SHOWN ? (int)value->length : NAME_SHOWN, value->text, valid);
}

int gt_field_time(const struct gt_json_token *value, int exponent, const char *name, gt_time_ps *time,
                  struct gt_error *error)
{
    int shown = value->length < 40 ? (int)value->length : 40;

    if (value->type != GT_JSON_NUMBER)
        return gt_error_set(error, "\"%s\" must be a number, or a list of numbers where one is allowed", name);
    if (gt_decimal_parse(value->text, value->length, exponent, GT_TIME_LIMIT_PS, time, error) != 0)
        return gt_error_prefix(error, "\"%s\": the time %.*s ", name, shown, value->text);
    return 0;
}

static int read_time(const struct place *place, struct gt_error *error)
{
    return gt_field_time(place->value, place->exponent, place->field->name, place->into, error);
}

static int read_times(const struct place *place, struct gt_error *error)
{
    if (place->value->type != GT_JSON_NUMBER && place->value->type != GT_JSON_ARRAY)
        return wrong_type(place, error);
    *(struct gt_field_times *)place->into = (struct gt_field_times){ place->value, place->exponent };
    return 0;
}

/* Keep the token itself, if it is of one of two types. */
static int keep(const struct place *place, enum gt_json_type type, enum gt_json_type other, struct gt_error *error)
{
    if (place->value->type != type && place->value->type != other)
        return wrong_type(place, error);
    *(const struct gt_json_token **)place->into = place->value;
    return 0;
}

static int read_text(const struct place *place, struct gt_error *error)
{
    return keep(place, GT_JSON_STRING, GT_JSON_NULL, error);
}

static int read_ref(const struct place *place, struct gt_error *error)
{
    uint64_t number;

    if (place->value->type == GT_JSON_NUMBER && read_whole(place, place->value, UINT64_MAX, &number, error) != 0)
        return -1;
    return keep(place, place->value->type == GT_JSON_NUMBER ? GT_JSON_NUMBER : GT_JSON_STRING, GT_JSON_NULL, error);
}

static int read_array(const struct place *place, struct gt_error *error)
{
    return keep(place, GT_JSON_ARRAY, GT_JSON_ARRAY, error);
}

static int read_object(const struct place *place, struct gt_error *error)
{
    return keep(place, GT_JSON_OBJECT, GT_JSON_OBJECT, error);
}

static int read_value(const struct place *place, struct gt_error *error)
{
    return keep(place, place->value->type, place->value->type, error);
}

static int (*const readers[])(const struct place *place, struct gt_error *error) = {
    [GT_FIELD_TIME] = read_time,     [GT_FIELD_TIMES] = read_times, [GT_FIELD_U64] = read_u64,
    [GT_FIELD_U32] = read_u32,       [GT_FIELD_I32] = read_i32,     [GT_FIELD_DOUBLE] = read_double,
    [GT_FIELD_SIZE3] = read_size3,   [GT_FIELD_BOOL] = read_bool,   [GT_FIELD_CHOICE] = read_choice,
    [GT_FIELD_TEXT] = read_text,     [GT_FIELD_REF] = read_ref,     [GT_FIELD_ARRAY] = read_array,
    [GT_FIELD_OBJECT] = read_object, [GT_FIELD_VALUE] = read_value,
};

static bool is_time(const struct gt_field *field)
{
    return field->type == GT_FIELD_TIME || field->type == GT_FIELD_TIMES;
}

/* Does the key name this field? For times: its name and a unit, which gives the exponent. */
static bool names(const struct gt_json_token *key, const struct gt_field *field, int *exponent)
{
    size_t length = strlen(field->name);

    if (key->length < length || memcmp(key->text, field->name, length) != 0)
        return false;
    if (!is_time(field))
        return key->length == length;
    for (unsigned i = 0; i < UNITS; i++) {
        if (key->length - length == units[i].length &&
            memcmp(key->text + length, units[i].ending, units[i].length) == 0) {
            *exponent = units[i].exponent;
            return true;
        }
    }
    return false;
}

static void append(struct gt_unknown *unknown, const char *text, size_t length)
{
    if (unknown->room - unknown->length <= length) {
        unknown->room = (unknown->length + length + 1) * 2;
        unknown->text = gt_realloc(unknown->text, unknown->room, 1);
    }
    memcpy(unknown->text + unknown->length, text, length);
    unknown->length += length;
    unknown->text[unknown->length] = '\0';
}

/* Keep a field as it was written, from the key's opening quote on. */
static void keep_unknown(const struct gt_json_token *key, const char *line, struct gt_unknown *unknown)
{
    const char *end = line + key[1].raw_end, *start = line + key->raw_end - 1;
    const char *colon = line + key->raw_end;

    /* The key's quote: the text before it is the key itself, or its escaped form. */
    if (key->text > line && key->text < end)
        start = key->text - 1;
    else
        for (start--; start[0] != '"' || start[-1] == '\\';)
            start--;
    while (*colon != ':')
        colon++;
    for (colon++; *colon == ' ' || *colon == '\t' || *colon == '\r';)
        colon++;
    if (unknown->length != 0)
        append(unknown, ",", 1);
    append(unknown, start, (size_t)(line + key->raw_end - start));
    append(unknown, ":", 1);
    append(unknown, colon, (size_t)(end - colon));
}

/* One key of an object; `fields` of the table have had their turn in `given`. */
static int read_field(const struct gt_json_token *key, const struct gt_field_table *table, void *into,
                      uint64_t *given, bool *known, struct gt_error *error)
{
    struct place place = { .value = key + 1, .name = key->text, .name_length = (int)key->length };

    *known = false;
    for (unsigned i = 0; i < table->count; i++) {
        if (!names(key, &table->fields[i], &place.exponent))
            continue;
        if (*given >> i & 1)
            return gt_error_set(error, "\"%s\" occurs twice", table->fields[i].name);
        *known = true;
        *given |= UINT64_C(1) << i;
        place.field = &table->fields[i];
        place.into = (char *)into + place.field->offset;
        return readers[place.field->type](&place, error);
    }
    for (unsigned i = 0; i < table->count; i++)
        if (is_time(&table->fields[i]) && key->length == strlen(table->fields[i].name) &&
            memcmp(key->text, table->fields[i].name, key->length) == 0)
            return gt_error_set(error, "\"%s\" has no unit; write \"%s_us\" (or _ps, _ns, _ms, _s)",
                                table->fields[i].name, table->fields[i].name);
    return 0;
}

/* The known field, with its unit where it has one, that `typed` is one slip away from, into `meant`. */
static bool find_meant(const char *typed, const struct gt_field_table *table, char *meant, size_t bytes)
{
    for (unsigned i = 0; i < table->count; i++) {
        for (unsigned unit = 0; unit < (is_time(&table->fields[i]) ? UNITS : 1); unit++) {
            const char *ending = is_time(&table->fields[i]) ? units[unit].ending : "";
            size_t length = strlen(table->fields[i].name) + strlen(ending), typed_length = strlen(typed);

            if (typed_length > length + 1 || length > typed_length + 1)
                continue; /* most are told by that alone */
            snprintf(meant, bytes, "%s%s", table->fields[i].name, ending);
            if (gt_spelling_distance(typed, meant) == 1)
                return true;
        }
    }
    return false;
}

/* Very short names are one slip away from too many. */
enum { SHORTEST_MISSPELT = 3 };

static void look_for_slip(const struct gt_json_token *key, const struct gt_field_table *table,
                          struct gt_unknown *unknown)
{
    char typed[NAME_SHOWN + 1], meant[NAME_SHOWN + 1];

    if (key->length < SHORTEST_MISSPELT || key->length > NAME_SHOWN)
        return;
    snprintf(typed, sizeof typed, "%.*s", (int)key->length, key->text);
    if (!find_meant(typed, table, meant, sizeof meant))
        return;
    if (unknown->misspelt++ == 0)
        snprintf(unknown->first_misspelt, sizeof unknown->first_misspelt,
                 "unknown field '%s' in %s, did you mean '%s'?", typed, table->what, meant);
}

static int check_unknown(const struct gt_json_token *const *seen, unsigned count, const struct gt_json_token *key,
                         const struct gt_field_table *table, struct gt_error *error)
{
    int shown = key->length < NAME_SHOWN ? (int)key->length : NAME_SHOWN;

    if (count == UNKNOWN_LIMIT)
        return gt_error_set(error, "more than %d unknown fields in %s", UNKNOWN_LIMIT, table->what);
    for (unsigned i = 0; i < count; i++)
        if (seen[i]->length == key->length && memcmp(seen[i]->text, key->text, key->length) == 0)
            return gt_error_set(error, "\"%.*s\" occurs twice", shown, key->text);
    return 0;
}

int gt_fields_read(const struct gt_json_token *object, const struct gt_field_table *table, const char *line,
                   void *into, uint64_t *given, struct gt_unknown *unknown, struct gt_error *error)
{
    const struct gt_json_token *end = object + object->span, *seen[UNKNOWN_LIMIT];
    unsigned unknown_count = 0;
    bool known;

    *given = 0;
    append(unknown, "", unknown->length = 0);
    for (const struct gt_json_token *key = object + 1; key < end; key += 1 + key[1].span) {
        if (read_field(key, table, into, given, &known, error) != 0)
            return -1;
        if (known)
            continue;
        if (check_unknown(seen, unknown_count, key, table, error) != 0)
            return -1;
        seen[unknown_count++] = key;
        keep_unknown(key, line, unknown);
        look_for_slip(key, table, unknown);
    }
    return 0;
}
