#include "traces/io/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"

enum { FIRST_ROOM_BYTES = 4096, FIRST_FIELDS = 128, NUMBER_BYTES = 64, END = -1, FAILED = -2 };

void gt_csv_open(struct gt_csv *csv, struct gt_input *input)
{
    *csv = (struct gt_csv){ .input = input, .room = FIRST_ROOM_BYTES, .start_room = FIRST_FIELDS, .next_line = 1 };
    csv->chunk = gt_realloc(NULL, GT_CSV_CHUNK_BYTES, 1);
    csv->text = gt_realloc(NULL, csv->room, 1);
    csv->starts = gt_realloc(NULL, csv->start_room, sizeof *csv->starts);
}

void gt_csv_close(struct gt_csv *csv)
{
    free(csv->chunk);
    free(csv->text);
    free(csv->starts);
    *csv = (struct gt_csv){ 0 };
}

/* The next byte, not taken yet; END or FAILED. */
static int peek(struct gt_csv *csv, struct gt_error *error)
{
    ssize_t got;

    if (csv->chunk_at < csv->chunk_end)
        return (unsigned char)csv->chunk[csv->chunk_at];
    got = gt_input_read(csv->input, csv->chunk, GT_CSV_CHUNK_BYTES, error);
    csv->chunk_at = 0;
    csv->chunk_end = got > 0 ? (size_t)got : 0;
    return got < 0 ? FAILED : got == 0 ? END : (unsigned char)csv->chunk[0];
}

static int keep(struct gt_csv *csv, int byte, struct gt_error *error)
{
    if (csv->length == GT_CSV_RECORD_LIMIT_BYTES)
        return gt_error_set(error, "a record longer than %d MiB; is this the right file?",
                            GT_CSV_RECORD_LIMIT_BYTES >> 20);
    if (csv->length == csv->room) {
        csv->room *= 2;
        csv->text = gt_realloc(csv->text, csv->room, 1);
    }
    csv->text[csv->length++] = (char)byte;
    return 0;
}

static void begin_field(struct gt_csv *csv)
{
    if (csv->count == csv->start_room) {
        csv->start_room *= 2;
        csv->starts = gt_realloc(csv->starts, csv->start_room, sizeof *csv->starts);
    }
    csv->starts[csv->count++] = csv->length;
}

/* Behind an opening quote: up to the closing one. */
static int read_quoted(struct gt_csv *csv, struct gt_error *error)
{
    for (;;) {
        int byte = peek(csv, error);

        if (byte == FAILED)
            return -1;
        if (byte == END)
            return gt_error_set(error, "the file ends within quotes; it was cut off");
        if (byte == '\0')
            return gt_error_set(error, "not text: a NUL byte");
        csv->chunk_at++;
        if (byte == '"') {
            byte = peek(csv, error);
            if (byte != '"')
                return byte == FAILED ? -1 : 0;
            csv->chunk_at++;
        }
        csv->next_line += byte == '\n';
        if (keep(csv, byte, error) != 0)
            return -1;
    }
}

/* One field and what ends it: ',', '\n' or END; FAILED. */
static int read_field(struct gt_csv *csv, struct gt_error *error)
{
    int byte = peek(csv, error);
    bool quoted = byte == '"';

    begin_field(csv);
    if (quoted) {
        csv->chunk_at++;
        if (read_quoted(csv, error) != 0)
            return FAILED;
        byte = peek(csv, error);
    }
    while (byte >= 0 && byte != ',' && byte != '\n') {
        csv->chunk_at++;
        if (byte == '\0')
            return gt_error_set(error, "not text: a NUL byte"), FAILED;
        if (quoted && byte != '\r')
            return gt_error_set(error, "field %u goes on behind its closing quote", csv->count), FAILED;
        if (byte != '\r' && keep(csv, byte, error) != 0)
            return FAILED;
        byte = peek(csv, error);
    }
    if (byte >= 0)
        csv->chunk_at++;
    return byte != FAILED && keep(csv, '\0', error) != 0 ? FAILED : byte;
}

int gt_csv_next(struct gt_csv *csv, struct gt_error *error)
{
    int ended;

    do {
        csv->line = csv->next_line;
        csv->count = 0;
        csv->length = 0;
        do
            ended = read_field(csv, error);
        while (ended == ',');
        csv->next_line += ended == '\n';
        if (ended == FAILED)
            return -1;
    } while (csv->count == 1 && csv->length == 1 && ended == '\n');
    return csv->count > 1 || csv->length > 1;
}

const char *gt_csv_field(const struct gt_csv *csv, uint32_t index)
{
    return index < csv->count ? csv->text + csv->starts[index] : "";
}

bool gt_csv_number(const char *text, double *value)
{
    char digits[NUMBER_BYTES], *end;
    size_t length = 0;

    for (; *text != '\0' && length < sizeof digits - 1; text++)
        if (*text != ',')
            digits[length++] = *text;
    digits[length] = '\0';
    if (*text != '\0' || length == 0 || strspn(digits, "0123456789+-.eE") != length)
        return false;
    *value = strtod(digits, &end);
    return *end == '\0' && isfinite(*value);
}

bool gt_csv_count(const char *text, uint64_t *value)
{
    double number;

    if (!gt_csv_number(text, &number) || number < 0 || number >= 0x1p63)
        return false;
    *value = (uint64_t)llround(number);
    return true;
}

char *gt_csv_field_of(const char *text)
{
    char *field = gt_realloc(NULL, 2 * strlen(text) + 3ull, 1), *end = field;

    if (strpbrk(text, ",\"\r\n") == NULL)
        return strcpy(field, text);
    *end++ = '"';
    for (; *text != '\0'; text++) {
        if (*text == '"')
            *end++ = '"';
        *end++ = *text;
    }
    *end++ = '"';
    *end = '\0';
    return field;
}
