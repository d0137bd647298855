#include "traces/loads/arrival_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/base/array.h"
#include "sim/base/text.h"
#include "traces/io/csv.h"
#include "traces/io/json_line.h"
#include "traces/io/lines.h"

static const char *const columns[] = { "seconds", "Timestamp", "TIMESTAMP", "timestamp", "time", "arrival" };
enum { COLUMNS = sizeof columns / sizeof *columns };

struct reading {
    const char *path, *column; /* column: NULL until it is found */
    double speed, unit_s;
    bool from_first;
    double first_s;
    gt_time_ps *times_ps;
    uint64_t count, room;
};

/* "2023-11-16 18:15:46.68", also with a T between; false: it is none. */
static bool time_of_day(const char *text, double *seconds)
{
    struct tm tm = { 0 };
    double part;
    int year, month, used = 0;

    if (sscanf(text, "%4d-%2d-%2d%*1[ T]%2d:%2d:%lf%n", &year, &month, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &part,
               &used) != 6 ||
        text[used] != '\0' || year < 1970 || month < 1 || month > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 ||
        tm.tm_hour > 23 || tm.tm_min > 59 || !(part >= 0 && part < 61))
        return false;
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    *seconds = (double)timegm(&tm) + part;
    return true;
}

/* The seconds that a column says, before the first is taken off. */
static bool seconds_of(const struct reading *reading, const char *text, double *seconds)
{
    if (!gt_csv_number(text, seconds))
        return time_of_day(text, seconds);
    *seconds *= reading->unit_s;
    return true;
}

static int add(struct reading *reading, const char *text, uint64_t line, struct gt_error *error)
{
    double seconds, ps;

    if (!seconds_of(reading, text, &seconds))
        return gt_error_set(error, "%s:%llu: '%.60s' in column %s is no time; write seconds, or YYYY-MM-DD HH:MM:SS",
                            reading->path, (unsigned long long)line, text, reading->column);
    if (reading->count == 0 && reading->from_first)
        reading->first_s = seconds;
    ps = (seconds - reading->first_s) / reading->speed * 1e12;
    if (ps < 0 && reading->count == 0)
        return gt_error_set(error, "%s:%llu: an arrival at %.60s: times count from 0", reading->path,
                            (unsigned long long)line, text);
    if (!(ps < (double)GT_TIME_LIMIT_PS))
        return gt_error_set(error, "%s:%llu: an arrival at %.60s is more than 53 days after the start", reading->path,
                            (unsigned long long)line, text);
    if (reading->count > 0 && ps < (double)reading->times_ps[reading->count - 1])
        return gt_error_set(error,
                            "%s:%llu: the arrival at %.60s is before the one ahead of it; sort the file by time",
                            reading->path, (unsigned long long)line, text);
    gt_array_grow(reading->times_ps, reading->count, reading->room);
    reading->times_ps[reading->count++] = (gt_time_ps)ps;
    return 0;
}

static void found(struct reading *reading, const char *column, bool json)
{
    bool seconds = strcmp(column, "seconds") == 0;

    reading->column = column;
    reading->from_first = !seconds;
    reading->unit_s = json && !seconds ? 1e-3 : 1;
}

static int no_column(const struct reading *reading, const char *asked, uint64_t line, struct gt_error *error)
{
    if (reading->column != NULL)
        asked = reading->column;
    if (asked != NULL)
        return gt_error_set(error, "%s:%llu: no column '%.60s'", reading->path, (unsigned long long)line, asked);
    return gt_error_set(
        error,
        "%s:%llu: no column seconds, Timestamp, TIMESTAMP, timestamp, time or arrival; name the one with "
        "the times in \"column\"",
        reading->path, (unsigned long long)line);
}

/* The column of the heading that has the times; UINT32_MAX: none. */
static uint32_t csv_column(struct reading *reading, const struct gt_csv *csv, const char *asked)
{
    for (size_t i = 0; i < (asked != NULL ? 1 : COLUMNS); i++) {
        const char *name = asked != NULL ? asked : columns[i];

        for (uint32_t column = 0; column < csv->count; column++) {
            if (strcmp(gt_csv_field(csv, column), name) != 0)
                continue;
            found(reading, name, false);
            return column;
        }
    }
    return UINT32_MAX;
}

static int read_csv(struct reading *reading, struct gt_input *input, const char *asked, struct gt_error *error)
{
    struct gt_csv csv;
    uint32_t column = UINT32_MAX;
    int got;

    gt_csv_open(&csv, input);
    got = gt_csv_next(&csv, error);
    if (got == 1) {
        column = csv_column(reading, &csv, asked);
        got = column == UINT32_MAX ? no_column(reading, asked, 1, error) - 1 : 1;
    }
    while (got == 1 && (got = gt_csv_next(&csv, error)) == 1)
        if (add(reading, gt_csv_field(&csv, column), csv.line, error) != 0)
            got = -2;
    if (got == -1)
        gt_error_prefix(error, "%s:%llu: ", reading->path, (unsigned long long)csv.line);
    gt_csv_close(&csv);
    return got < 0 ? -1 : 0;
}

/* The value of the field that has the time; NULL: none. */
static const struct gt_json_token *json_field(struct reading *reading, const struct gt_json_token *object,
                                              const char *asked)
{
    if (reading->column != NULL)
        asked = reading->column;
    for (size_t i = 0; i < (asked != NULL ? 1 : COLUMNS); i++) {
        const char *name = asked != NULL ? asked : columns[i];

        for (const struct gt_json_token *key = object + 1; key < object + object->span; key += 1 + key[1].span) {
            if (key->length != strlen(name) || memcmp(key->text, name, key->length) != 0)
                continue;
            if (reading->column == NULL)
                found(reading, name, true);
            return key + 1;
        }
    }
    return NULL;
}

static int read_json_lines(struct reading *reading, struct gt_input *input, const char *asked, struct gt_error *error)
{
    struct gt_json_line *json = gt_json_line_new();
    struct gt_lines lines;
    char *text, value[64];
    size_t length;
    int got;

    gt_lines_open(&lines, input);
    while ((got = gt_lines_next(&lines, &text, &length, error)) == 1) {
        const struct gt_json_token *object, *field;

        if (gt_line_is_comment(text, length))
            continue;
        object = gt_json_line_parse(json, text, length, error);
        if (object == NULL) {
            got = -1;
            break;
        }
        field = json_field(reading, object, asked);
        if (field == NULL) {
            got = no_column(reading, asked, lines.number, error) - 1;
            break;
        }
        snprintf(value, sizeof value, "%.*s",
                 field->length < sizeof value ? (int)field->length : (int)sizeof value - 1, field->text);
        if (add(reading, value, lines.number, error) != 0) {
            got = -2;
            break;
        }
    }
    if (got == -1)
        gt_error_prefix(error, "%s:%llu: ", reading->path, (unsigned long long)lines.number);
    gt_lines_close(&lines);
    gt_json_line_free(json);
    return got < 0 ? -1 : 0;
}

int gt_arrival_file_read(const char *path, const char *column, double speed, gt_time_ps **times_ps, uint64_t *count,
                         struct gt_error *error)
{
    struct reading reading = { .path = path, .speed = speed, .unit_s = 1 };
    struct gt_input *input = gt_input_open(path, error);
    int status;

    if (input == NULL)
        return -1;
    status = gt_ends(path, strlen(path), ".jsonl") ? read_json_lines(&reading, input, column, error)
                                                   : read_csv(&reading, input, column, error);
    gt_input_close(input);
    if (status == 0 && reading.count == 0)
        status = gt_error_set(error, "%s: no arrivals in it", path);
    if (status != 0) {
        free(reading.times_ps);
        return -1;
    }
    *times_ps = reading.times_ps;
    *count = reading.count;
    return 0;
}
