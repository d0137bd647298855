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

/* What columns hold, and what they are called. */
enum what { TIME, PROMPT, OUTPUT, COLUMNS };
enum { NAMES = 6, MOST_TOKENS = 1 << 24 };
static const char *const names[COLUMNS][NAMES] = {
    [TIME] = { "seconds", "Timestamp", "TIMESTAMP", "timestamp", "time", "arrival" },
    [PROMPT] = { "prompt_tokens", "Request tokens", "ContextTokens", "input_length" },
    [OUTPUT] = { "output_tokens", "Response tokens", "GeneratedTokens", "output_length" },
};

struct reading {
    const char *path;
    const struct gt_arrival_columns *asked;
    const char *columns[COLUMNS]; /* NULL until they are found */
    double unit_s;
    bool from_first;
    double first_s;
    struct gt_arrival_file *file;
    uint64_t room;
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

static int add_time(struct reading *reading, const char *text, uint64_t line, gt_time_ps *time_ps,
                    struct gt_error *error)
{
    const struct gt_arrival_file *file = reading->file;
    double seconds, ps;

    if (!seconds_of(reading, text, &seconds))
        return gt_error_set(error, "%s:%llu: '%.60s' in column %s is no time; write seconds, or YYYY-MM-DD HH:MM:SS",
                            reading->path, (unsigned long long)line, text, reading->columns[TIME]);
    if (file->count + file->without_output == 0 && reading->from_first)
        reading->first_s = seconds;
    ps = (seconds - reading->first_s) / reading->asked->speed * 1e12;
    if (ps < 0 && file->count == 0)
        return gt_error_set(error, "%s:%llu: an arrival at %.60s: times count from 0", reading->path,
                            (unsigned long long)line, text);
    if (!(ps < (double)GT_TIME_LIMIT_PS))
        return gt_error_set(error, "%s:%llu: an arrival at %.60s is more than 53 days after the start", reading->path,
                            (unsigned long long)line, text);
    if (file->count > 0 && ps < (double)file->times_ps[file->count - 1])
        return gt_error_set(error,
                            "%s:%llu: the arrival at %.60s is before the one ahead of it; sort the file by time",
                            reading->path, (unsigned long long)line, text);
    *time_ps = (gt_time_ps)ps;
    return 0;
}

static int read_tokens(const struct reading *reading, enum what what, const char *text, uint64_t line,
                       uint32_t *tokens, struct gt_error *error)
{
    uint64_t number;

    if (!gt_csv_count(text, &number) || number > MOST_TOKENS)
        return gt_error_set(error, "%s:%llu: '%.60s' in column %s is no number of tokens from 0 to %d", reading->path,
                            (unsigned long long)line, text, reading->columns[what], MOST_TOKENS);
    *tokens = (uint32_t)number;
    return 0;
}

/* A request of these fields, which are NULL where they were not asked for. */
static int add(struct reading *reading, const char *const fields[COLUMNS], uint64_t line, struct gt_error *error)
{
    struct gt_arrival_file *file = reading->file;
    uint32_t prompt = 0, output = 0;
    gt_time_ps time_ps = 0;

    if (add_time(reading, fields[TIME], line, &time_ps, error) != 0 ||
        (reading->asked->lengths && (read_tokens(reading, PROMPT, fields[PROMPT], line, &prompt, error) != 0 ||
                                     read_tokens(reading, OUTPUT, fields[OUTPUT], line, &output, error) != 0)))
        return -1;
    if (reading->asked->lengths && output == 0) {
        file->without_output++;
        return 0;
    }
    if (file->count == reading->room) {
        reading->room = gt_array_next_room(reading->room, UINT64_MAX);
        file->times_ps = gt_realloc(file->times_ps, reading->room, sizeof *file->times_ps);
        if (reading->asked->lengths) {
            file->prompt_tokens = gt_realloc(file->prompt_tokens, reading->room, sizeof *file->prompt_tokens);
            file->output_tokens = gt_realloc(file->output_tokens, reading->room, sizeof *file->output_tokens);
        }
    }
    if (reading->asked->lengths) {
        file->prompt_tokens[file->count] = prompt > 0 ? prompt : 1;
        file->output_tokens[file->count] = output;
    }
    file->times_ps[file->count++] = time_ps;
    return 0;
}

/* How many columns are asked for: those of the first ones. */
static int asked_for(const struct reading *reading)
{
    return reading->asked->lengths ? COLUMNS : 1;
}

static const char *name_of(const struct reading *reading, enum what what, int number)
{
    if (reading->columns[what] != NULL)
        return number == 0 ? reading->columns[what] : NULL;
    if (what == TIME && reading->asked->time != NULL)
        return number == 0 ? reading->asked->time : NULL;
    return names[what][number];
}

static void found(struct reading *reading, enum what what, const char *column, bool json)
{
    bool seconds = strcmp(column, "seconds") == 0;

    reading->columns[what] = column;
    if (what != TIME)
        return;
    reading->from_first = !seconds;
    reading->unit_s = json && !seconds ? 1e-3 : 1;
}

static int no_column(const struct reading *reading, enum what what, uint64_t line, struct gt_error *error)
{
    const char *asked = what == TIME ? reading->asked->time : NULL;

    if (reading->columns[what] != NULL)
        asked = reading->columns[what];
    if (asked != NULL)
        return gt_error_set(error, "%s:%llu: no column '%.60s'", reading->path, (unsigned long long)line, asked);
    if (what != TIME)
        return gt_error_set(error, "%s:%llu: no column %s, %s, %s or %s", reading->path, (unsigned long long)line,
                            names[what][0], names[what][1], names[what][2], names[what][3]);
    return gt_error_set(
        error,
        "%s:%llu: no column seconds, Timestamp, TIMESTAMP, timestamp, time or arrival; name the one with "
        "the times in \"column\"",
        reading->path, (unsigned long long)line);
}

/* The column of the heading that has it; UINT32_MAX: none. */
static uint32_t csv_column(struct reading *reading, const struct gt_csv *csv, enum what what)
{
    const char *name;

    for (int i = 0; i < NAMES && (name = name_of(reading, what, i)) != NULL; i++) {
        for (uint32_t column = 0; column < csv->count; column++) {
            if (strcmp(gt_csv_field(csv, column), name) != 0)
                continue;
            found(reading, what, name, false);
            return column;
        }
    }
    return UINT32_MAX;
}

static int read_csv(struct reading *reading, struct gt_input *input, struct gt_error *error)
{
    uint32_t columns[COLUMNS];
    const char *fields[COLUMNS];
    struct gt_csv csv;
    int got;

    gt_csv_open(&csv, input);
    got = gt_csv_next(&csv, error);
    for (int i = 0; i < asked_for(reading) && got == 1; i++)
        if ((columns[i] = csv_column(reading, &csv, (enum what)i)) == UINT32_MAX)
            got = no_column(reading, (enum what)i, 1, error) - 1;
    while (got == 1 && (got = gt_csv_next(&csv, error)) == 1) {
        for (int i = 0; i < asked_for(reading); i++)
            fields[i] = gt_csv_field(&csv, columns[i]);
        if (add(reading, fields, csv.line, error) != 0)
            got = -2;
    }
    if (got == -1)
        gt_error_prefix(error, "%s:%llu: ", reading->path, (unsigned long long)csv.line);
    gt_csv_close(&csv);
    return got < 0 ? -1 : 0;
}

/* The value of the field that has it; NULL: none. */
static const struct gt_json_token *json_field(struct reading *reading, const struct gt_json_token *object,
                                              enum what what)
{
    const char *name;

    for (int i = 0; i < NAMES && (name = name_of(reading, what, i)) != NULL; i++) {
        for (const struct gt_json_token *key = object + 1; key < object + object->span; key += 1 + key[1].span) {
            if (key->length != strlen(name) || memcmp(key->text, name, key->length) != 0)
                continue;
            if (reading->columns[what] == NULL)
                found(reading, what, name, true);
            return key + 1;
        }
    }
    return NULL;
}

static int add_json(struct reading *reading, const struct gt_json_token *object, uint64_t line,
                    struct gt_error *error)
{
    char texts[COLUMNS][64];
    const char *fields[COLUMNS];

    for (int i = 0; i < asked_for(reading); i++) {
        const struct gt_json_token *field = json_field(reading, object, (enum what)i);

        if (field == NULL)
            return no_column(reading, (enum what)i, line, error);
        snprintf(texts[i], sizeof texts[i], "%.*s",
                 field->length < sizeof texts[i] ? (int)field->length : (int)sizeof texts[i] - 1, field->text);
        fields[i] = texts[i];
    }
    return add(reading, fields, line, error);
}

static int read_json_lines(struct reading *reading, struct gt_input *input, struct gt_error *error)
{
    struct gt_json_line *json = gt_json_line_new();
    struct gt_lines lines;
    char *text;
    size_t length;
    int got;

    gt_lines_open(&lines, input);
    while ((got = gt_lines_next(&lines, &text, &length, error)) == 1) {
        const struct gt_json_token *object;

        if (gt_line_is_comment(text, length))
            continue;
        object = gt_json_line_parse(json, text, length, error);
        if (object == NULL) {
            got = -1;
            break;
        }
        if (add_json(reading, object, lines.number, error) != 0) {
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

int gt_arrival_file_read(struct gt_arrival_file *file, const char *path, const struct gt_arrival_columns *columns,
                         struct gt_error *error)
{
    struct reading reading = { .path = path, .asked = columns, .unit_s = 1, .file = file };
    struct gt_input *input = gt_input_open(path, error);
    int status;

    memset(file, 0, sizeof *file);
    if (input == NULL)
        return -1;
    status = gt_ends(path, strlen(path), ".jsonl") ? read_json_lines(&reading, input, error)
                                                   : read_csv(&reading, input, error);
    gt_input_close(input);
    if (status == 0 && file->count == 0)
        status = gt_error_set(error, "%s: no arrivals in it", path);
    return status;
}

void gt_arrival_file_free(struct gt_arrival_file *file)
{
    free(file->times_ps);
    free(file->prompt_tokens);
    free(file->output_tokens);
    memset(file, 0, sizeof *file);
}
