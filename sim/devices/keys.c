/* keys.c - strict reading and exact writing of values, and which key was meant. */
#include "sim/devices/keys.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"

enum { KEY_BYTES = 64, NEAR_KEYS = 4, NOT_NEAR = 4 };

const struct gt_key *gt_key_find(const struct gt_key_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].key, key) == 0)
            return &table->rows[i];
    return NULL;
}

/* Whether `key` is `typed` with more letters in between. */
static bool is_longer(const char *typed, const char *key)
{
    for (; *typed != '\0' && *key != '\0'; key++)
        typed += *typed == *key;
    return *typed == '\0';
}

/* How far a person who typed `typed` was from `key`: 0 when parts were left out, a few for a slip of
 * the fingers or the wrong section, NOT_NEAR for another thing. */
static size_t slip(const char *typed, const char *key)
{
    const char *name = strrchr(typed, '.');
    name = name == NULL ? typed : name + 1;
    size_t length = strlen(name);
    if ((length >= 3 && strstr(key, name) != NULL) || (length >= 5 && is_longer(typed, key)))
        return 0;
    size_t letters = gt_spelling_distance(typed, key);
    size_t name_letters = gt_spelling_distance(name, strchr(key, '.') + 1);
    if (length >= 4 && name_letters < 3 && name_letters < letters)
        letters = name_letters;
    return letters < NOT_NEAR ? letters : NOT_NEAR;
}

int gt_key_unknown(const struct gt_key_table *table, const char *key, struct gt_error *error)
{
    char near[NEAR_KEYS * KEY_BYTES] = "";
    size_t found = 0, at = 0;
    for (size_t slips = 0; slips < NOT_NEAR; slips++)
        for (size_t i = 0; i < table->count && found < NEAR_KEYS; i++)
            if (slip(key, table->rows[i].key) == slips)
                at += (size_t)snprintf(near + at, sizeof(near) - at, "%s%s", found++ > 0 ? ", " : "",
                                       table->rows[i].key);
    if (found > 0)
        return gt_error_set(error, "there is no %s key '%.60s'; did you mean %s?", table->of, key, near);
    return gt_error_set(error, "there is no %s key '%.60s'; %s", table->of, key, table->help);
}

static void *field_of(void *into, size_t offset)
{
    return (char *)into + offset;
}

static const void *field_in(const void *from, size_t offset)
{
    return (const char *)from + offset;
}

/* Picoseconds in the unit a TIME key is written in; its decimal places. */
static int time_places(const struct gt_key *key)
{
    return strcmp(key->unit, "us") == 0 ? 6 : 3;
}

static bool digits(const char *text, size_t length)
{
    return length > 0 && strspn(text, "0123456789") >= length;
}

/* A plain decimal number: digits, or digits.digits; nothing else, so neither nan, inf nor 0x10. */
static bool plain_decimal(const char *text)
{
    size_t whole = strspn(text, "0123456789");
    if (whole == 0)
        return false;
    return text[whole] == '\0' || (text[whole] == '.' && digits(text + whole + 1, strlen(text + whole + 1)));
}

static int wrong(const struct gt_key *key, const char *text, struct gt_error *error)
{
    /* clang-format off */
    static const char *const form[] = {
        [GT_KEY_TEXT] = "a short text without control characters",
        [GT_KEY_U32] = "a whole number", [GT_KEY_I32] = "a whole number", [GT_KEY_BYTES] = "a whole number",
        [GT_KEY_TIME] = "a decimal number of whole picoseconds", [GT_KEY_RATE] = "a decimal number",
        [GT_KEY_U32_LIST] = "whole numbers or ranges A-B, joined by commas",
    };
    /* clang-format on */
    return gt_error_set(error, "%s: '%.60s' is not %s", key->key, text, form[key->type]);
}

static int outside(const struct gt_key *key, const char *text, struct gt_error *error)
{
    return gt_error_set(error, "%s: '%.60s' is outside %.15g to %.15g %s", key->key, text, key->low, key->high,
                        key->unit);
}

static int parse_text(void *into, const struct gt_key *key, const char *text, struct gt_error *error)
{
    size_t length = strlen(text);
    if (length < key->low || length > key->high)
        return gt_error_set(error, "%s: a text of %zu characters, %.0f to %.0f are allowed", key->key, length,
                            key->low, key->high);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return wrong(key, text, error);
    memset(field_of(into, key->offset), 0, key->count_offset);
    memcpy(field_of(into, key->offset), text, length);
    return 0;
}

/* Digits to a number that stops growing far above every range. */
static uint64_t saturated(const char *text, size_t length)
{
    uint64_t number = 0;
    for (size_t i = 0; i < length && number < UINT64_MAX / 100; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    return number;
}

static int parse_whole(void *into, const struct gt_key *key, const char *text, struct gt_error *error)
{
    bool negative = text[0] == '-' && key->type == GT_KEY_I32;
    const char *magnitude = text + negative;
    if (!digits(magnitude, strlen(magnitude)))
        return wrong(key, text, error);
    uint64_t number = saturated(magnitude, strlen(magnitude));
    double value = negative ? -(double)number : (double)number;
    if (value < key->low || value > key->high)
        return outside(key, text, error);
    if (key->type == GT_KEY_BYTES)
        *(uint64_t *)field_of(into, key->offset) = number;
    else if (key->type == GT_KEY_U32)
        *(uint32_t *)field_of(into, key->offset) = (uint32_t)number;
    else
        *(int32_t *)field_of(into, key->offset) = (int32_t)value;
    return 0;
}

static int parse_time(void *into, const struct gt_key *key, const char *text, struct gt_error *error)
{
    if (!plain_decimal(text))
        return wrong(key, text, error);
    size_t whole = strcspn(text, ".");
    const char *fraction = text[whole] == '.' ? text + whole + 1 : "";
    uint64_t ps = saturated(text, whole);
    if ((double)ps > key->high)
        return outside(key, text, error);
    for (int place = 0; place < time_places(key); place++)
        ps = ps * 10 + (*fraction != '\0' ? (uint64_t)(*fraction++ - '0') : 0);
    if (strspn(fraction, "0") != strlen(fraction))
        return wrong(key, text, error);
    double scale = time_places(key) == 6 ? 1e6 : 1e3;
    if ((double)ps > key->high * scale || (double)ps < key->low * scale)
        return outside(key, text, error);
    *(uint64_t *)field_of(into, key->offset) = ps;
    return 0;
}

static int parse_rate(void *into, const struct gt_key *key, const char *text, struct gt_error *error)
{
    if (!plain_decimal(text))
        return wrong(key, text, error);
    double rate = strtod(text, NULL);
    if (!(rate >= key->low && rate <= key->high))
        return outside(key, text, error);
    *(double *)field_of(into, key->offset) = rate;
    return 0;
}

/* One item of a list, "7" or "124-131", from *text on, which is moved behind it and its comma. */
static int parse_item(const char **text, const struct gt_key *key, uint64_t *first, uint64_t *last)
{
    const char *at = *text + strspn(*text, " ");
    size_t length = strspn(at, "0123456789");
    if (length == 0)
        return -1;
    *first = *last = saturated(at, length);
    at += length;
    if (*at == '-') {
        length = strspn(++at, "0123456789");
        if (length == 0)
            return -1;
        *last = saturated(at, length);
        at += length;
    }
    at += strspn(at, " ");
    if (*at == ',' && at[1 + strspn(at + 1, " ")] != '\0')
        at++;
    else if (*at != '\0')
        return -1;
    *text = at;
    return *first <= *last && (double)*first >= key->low && (double)*last <= key->high ? 0 : 1;
}

static int parse_list(void *into, const struct gt_key *key, const char *text, struct gt_error *error)
{
    uint32_t numbers[GT_KEY_MOST_NUMBERS];
    size_t count = 0;
    for (const char *at = text; *at != '\0';) {
        uint64_t first, last;
        int status = parse_item(&at, key, &first, &last);
        if (status != 0)
            return status < 0 ? wrong(key, text, error) : outside(key, text, error);
        if (last - first >= key->room - count)
            return gt_error_set(error, "%s: more than %zu numbers", key->key, key->room);
        for (; first <= last; first++)
            numbers[count++] = (uint32_t)first;
    }
    memset(field_of(into, key->offset), 0, key->room * sizeof(numbers[0]));
    memcpy(field_of(into, key->offset), numbers, count * sizeof(numbers[0]));
    *(uint32_t *)field_of(into, key->count_offset) = (uint32_t)count;
    return 0;
}

int gt_key_parse(void *into, const struct gt_key *key, const char *text, struct gt_error *error)
{
    static int (*const parse[])(void *, const struct gt_key *, const char *, struct gt_error *) = {
        [GT_KEY_TEXT] = parse_text,     [GT_KEY_U32] = parse_whole, [GT_KEY_I32] = parse_whole,
        [GT_KEY_BYTES] = parse_whole,   [GT_KEY_TIME] = parse_time, [GT_KEY_RATE] = parse_rate,
        [GT_KEY_U32_LIST] = parse_list,
    };
    return parse[key->type](into, key, text, error);
}

static void format_time(uint64_t ps, int places, char *text, size_t bytes)
{
    uint64_t scale = places == 6 ? 1000000 : 1000;
    snprintf(text, bytes, "%" PRIu64 ".%0*" PRIu64, ps / scale, places, ps % scale);
    size_t end = strlen(text);
    while (text[end - 1] == '0')
        end--;
    text[text[end - 1] == '.' ? end - 1 : end] = '\0';
}

/* The shortest of 15 to 17 digits that reads back as the same number. */
static void format_rate(double rate, char *text, size_t bytes)
{
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, bytes, "%.*g", precision, rate);
        if (strtod(text, NULL) == rate)
            return;
    }
}

static void format_list(const uint32_t *numbers, uint32_t count, char *text, size_t bytes)
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0, next; i < count && at < bytes; i = next) {
        for (next = i + 1; next < count && numbers[next] == numbers[next - 1] + 1;)
            next++;
        if (next - i < 3)
            next = i + 1;
        at += (size_t)snprintf(text + at, bytes - at, "%s%" PRIu32, i > 0 ? "," : "", numbers[i]);
        if (next - i >= 3 && at < bytes)
            at += (size_t)snprintf(text + at, bytes - at, "-%" PRIu32, numbers[next - 1]);
    }
}

void gt_key_format(const void *from, const struct gt_key *key, char *text, size_t bytes)
{
    const void *field = field_in(from, key->offset);
    switch (key->type) {
    case GT_KEY_TEXT: snprintf(text, bytes, "%s", (const char *)field); break;
    case GT_KEY_U32: snprintf(text, bytes, "%" PRIu32, *(const uint32_t *)field); break;
    case GT_KEY_I32: snprintf(text, bytes, "%" PRId32, *(const int32_t *)field); break;
    case GT_KEY_BYTES: snprintf(text, bytes, "%" PRIu64, *(const uint64_t *)field); break;
    case GT_KEY_TIME: format_time(*(const uint64_t *)field, time_places(key), text, bytes); break;
    case GT_KEY_RATE: format_rate(*(const double *)field, text, bytes); break;
    case GT_KEY_U32_LIST:
        format_list(field, *(const uint32_t *)field_in(from, key->count_offset), text, bytes);
        break;
    }
}
