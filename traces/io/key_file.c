/* key_file.c - key files through inih, made strict: it is given one line at a time by a reader
 * of ours, which therefore knows line numbers, over-long lines and continued values. */
#include "traces/io/key_file.h"

#include <ctype.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/io/input.h"

enum { FILE_BYTES = 1 << 20 }; /* more is none */

struct setting {
    char *value; /* NULL: not in the file */
    char *source;
    unsigned line;
};

struct reading {
    const char *path;
    const struct gt_key_table *table;
    char *text, *at, *end;       /* the whole file, the next line, its end */
    unsigned line;               /* of the line that inih holds */
    bool continued;              /* it began with a space */
    char *source, *first_source; /* of the values that follow, of the file; NULL: none said yet */
    struct setting *settings;    /* one a row of the table */
    struct setting *last;        /* what a continued line belongs to */
    unsigned error_line;         /* 0: all is well */
    struct gt_error error;
};

static char *copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(gt_realloc(NULL, bytes, 1), text, bytes);
}

static char *read_whole(const char *path, const char *of, size_t *length, struct gt_error *error)
{
    struct gt_input *input = gt_input_open(path, error);
    if (input == NULL)
        return NULL;
    char *text = gt_realloc(NULL, FILE_BYTES + 1, 1);
    ssize_t got = 0;
    *length = 0;
    do {
        *length += (size_t)got;
        got = gt_input_read(input, text + *length, FILE_BYTES + 1 - *length, error);
    } while (got > 0);
    gt_input_close(input);
    if (got == 0 && *length <= FILE_BYTES)
        return text;
    if (got == 0)
        gt_error_set(error, "%s: larger than %d bytes, which no %s file is", path, FILE_BYTES, of);
    free(text);
    return NULL;
}

/* Keep the first error of the file; what comes after it may be its fault. Returns 0, inih's "no". */
static int refuse(struct reading *reading, const char *format, const char *text)
{
    if (reading->error_line == 0) {
        reading->error_line = reading->line;
        gt_error_set(&reading->error, format, text);
    }
    return 0;
}

/* "; source: TEXT" holds for the values below it. */
static void note_source(struct reading *reading, const char *line)
{
    static const char mark[] = "source:";
    line += strspn(line, " \t");
    if (*line != ';' && *line != '#')
        return;
    line += 1 + strspn(line + 1, " \t");
    if (strncmp(line, mark, strlen(mark)) != 0)
        return;
    line += strlen(mark);
    free(reading->source);
    reading->source = copy_text(line + strspn(line, " \t"));
    reading->source[strcspn(reading->source, "\r\n")] = '\0';
    if (reading->first_source == NULL)
        reading->first_source = copy_text(reading->source);
}

/* inih's reader: the next line into `into`, NULL at the end. */
static char *next_line(char *into, int room, void *user)
{
    struct reading *reading = user;
    size_t left = (size_t)(reading->end - reading->at);
    if (left == 0 || reading->error_line != 0)
        return NULL;
    char *newline = memchr(reading->at, '\n', left);
    size_t length = newline != NULL ? (size_t)(newline + 1 - reading->at) : left;
    reading->line++;
    if (memchr(reading->at, '\0', length) != NULL) {
        refuse(reading, "a zero byte%s: this is no text file", "");
        return NULL;
    }
    if (length >= (size_t)room) {
        char limit[32];
        snprintf(limit, sizeof(limit), "%d", room - 2);
        refuse(reading, "a line of more than %s characters; continue lists on a line that begins with a space",
               limit);
        return NULL;
    }
    memcpy(into, reading->at, length);
    into[length] = '\0';
    reading->at += length;
    reading->continued = isspace((unsigned char)into[0]);
    if (into[strspn(into, " \t")] == '[')
        reading->last = NULL;
    note_source(reading, into);
    return into;
}

static bool section_exists(const struct gt_key_table *table, const char *section)
{
    size_t length = strlen(section);
    for (size_t i = 0; i < table->count; i++)
        if (strncmp(table->rows[i].key, section, length) == 0 && table->rows[i].key[length] == '.')
            return true;
    return false;
}

static int refuse_section(struct reading *reading, const char *section)
{
    char text[256], known[160] = "";
    for (size_t i = 0; i < reading->table->count; i++) {
        const char *key = reading->table->rows[i].key;
        size_t length = strcspn(key, "."), at = strlen(known);
        if (i == 0 || strncmp(key, reading->table->rows[i - 1].key, length + 1) != 0)
            snprintf(known + at, sizeof(known) - at, "%s%.*s", i > 0 ? ", " : "", (int)length, key);
    }
    if (section[0] == '\0')
        snprintf(text, sizeof(text), "a key before the first [section]; sections are %s", known);
    else
        snprintf(text, sizeof(text), "there is no section [%.40s]; sections are %s", section, known);
    return refuse(reading, "%s", text);
}

static int continue_value(struct reading *reading, const char *value)
{
    if (reading->last == NULL || reading->table->rows[reading->last - reading->settings].type != GT_KEY_U32_LIST)
        return refuse(reading, "a line that begins with a space continues a list, but no list precedes '%.60s'",
                      value);
    size_t length = strlen(reading->last->value);
    reading->last->value = gt_realloc(reading->last->value, length + strlen(value) + 1, 1);
    memcpy(reading->last->value + length, value, strlen(value) + 1);
    return 1;
}

/* inih's handler: one value. */
static int take_value(void *user, const char *section, const char *name, const char *value)
{
    struct reading *reading = user;
    struct gt_error error;
    char key[128];
    if (reading->error_line != 0)
        return 0;
    if (reading->continued && reading->last != NULL)
        return continue_value(reading, value);
    if (!section_exists(reading->table, section))
        return refuse_section(reading, section);
    snprintf(key, sizeof(key), "%s.%s", section, name);
    const struct gt_key *row = gt_key_find(reading->table, key);
    if (row == NULL) {
        gt_key_unknown(reading->table, key, &error);
        return refuse(reading, "%s", error.text);
    }
    struct setting *setting = &reading->settings[row - reading->table->rows];
    if (setting->value != NULL) {
        char first[32];
        snprintf(first, sizeof(first), "%u", setting->line);
        return refuse(reading, "this key was set before, in line %s", first);
    }
    *setting = (struct setting){ copy_text(value), copy_text(reading->source != NULL ? reading->source : ""),
                                 reading->line };
    reading->last = setting;
    return 1;
}

static int apply(const struct reading *reading, void *into, struct gt_error *error)
{
    for (size_t i = 0; i < reading->table->count; i++) {
        const struct setting *setting = &reading->settings[i];
        if (setting->value != NULL && gt_key_parse(into, &reading->table->rows[i], setting->value, error) != 0)
            return gt_error_prefix(error, "%s:%u: ", reading->path, setting->line);
    }
    return 0;
}

static int parse(struct reading *reading, struct gt_error *error)
{
    int wrong_line = ini_parse_stream(next_line, reading, take_value, reading);
    if (wrong_line < 0)
        return gt_error_set(error, "%s: out of memory", reading->path);
    if (wrong_line > 0 && (reading->error_line == 0 || (unsigned)wrong_line < reading->error_line))
        return gt_error_set(error, "%s:%d: neither a [section] nor a line KEY = VALUE", reading->path, wrong_line);
    if (reading->error_line > 0)
        return gt_error_set(error, "%s:%u: %s", reading->path, reading->error_line, reading->error.text);
    for (size_t i = 0; i < reading->table->count; i++)
        if (reading->settings[i].value != NULL)
            return 0;
    return gt_error_set(error, "%s: sets no key: not a valid %s file", reading->path, reading->table->of);
}

/* Hand the sources over to `notes`. */
static void take_notes(struct reading *reading, struct gt_key_notes *notes)
{
    notes->file = reading->first_source != NULL ? reading->first_source : copy_text("");
    reading->first_source = NULL;
    notes->count = reading->table->count;
    notes->keys = gt_calloc(notes->count, sizeof(*notes->keys));
    for (size_t i = 0; i < reading->table->count; i++) {
        notes->keys[i] = reading->settings[i].source;
        reading->settings[i].source = NULL;
    }
}

static void end_reading(struct reading *reading)
{
    for (size_t i = 0; i < reading->table->count; i++) {
        free(reading->settings[i].value);
        free(reading->settings[i].source);
    }
    free(reading->settings);
    free(reading->source);
    free(reading->first_source);
    free(reading->text);
}

int gt_key_file_read(const char *path, const struct gt_key_table *table, void *into, struct gt_key_notes *notes,
                     struct gt_error *error)
{
    size_t length;
    char *text = read_whole(path, table->of, &length, error);
    if (text == NULL)
        return -1;
    struct reading reading = { .path = path,
                               .table = table,
                               .text = text,
                               .at = text,
                               .end = text + length,
                               .settings = gt_calloc(table->count, sizeof(struct setting)) };
    int status = parse(&reading, error) == 0 ? apply(&reading, into, error) : -1;
    if (status == 0 && notes != NULL)
        take_notes(&reading, notes);
    end_reading(&reading);
    return status;
}

bool gt_key_note_guesses(const char *source)
{
    return source != NULL && strstr(source, "guess") != NULL;
}

void gt_key_notes_free(struct gt_key_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        free(notes->keys[i]);
    free(notes->keys);
    free(notes->file);
    *notes = (struct gt_key_notes){ NULL, NULL, 0 };
}
