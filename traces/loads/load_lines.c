#include "traces/loads/load_lines.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"
#include "traces/io/lines.h"

char *gt_load_text(const struct gt_json_token *text)
{
    return text != NULL && text->type != GT_JSON_NULL ? gt_strndup(text->text, text->length) : NULL;
}

char *gt_load_beside(const struct gt_load_lines *lines, const struct gt_json_token *text)
{
    char *name = gt_load_text(text), *own, *whole;

    if (name == NULL || name[0] == '/' || strcmp(lines->path, "-") == 0)
        return name;
    own = gt_strdup(lines->path);
    whole = gt_format("%s/%s", dirname(own), name);
    free(own);
    free(name);
    return whole;
}

int gt_load_fields(struct gt_load_lines *lines, const struct gt_json_token *object,
                   const struct gt_field_table *table, void *into, struct gt_error *error)
{
    uint64_t given;

    if (gt_fields_read(object, table, lines->line, into, &given, &lines->unknown, error) != 0)
        return -1;
    if (lines->unknown.length > 0)
        return gt_error_set(error, "%s has no field %.*s", table->what, (int)strcspn(lines->unknown.text, ":"),
                            lines->unknown.text);
    return 0;
}

bool gt_load_has(const struct gt_json_token *object, const char *name)
{
    for (const struct gt_json_token *key = object + 1; key < object + object->span; key += 1 + key[1].span)
        if (key->length == strlen(name) && memcmp(key->text, name, key->length) == 0)
            return true;
    return false;
}

int gt_load_lines_read(struct gt_load_lines *lines,
                       int (*take)(void *user, const struct gt_json_token *object, struct gt_error *error),
                       void *user, struct gt_error *error)
{
    struct gt_input *input = gt_input_open(lines->path, error);
    struct gt_json_line *json;
    struct gt_lines texts;
    char *text;
    size_t length;
    int got;

    if (input == NULL)
        return -1;
    json = gt_json_line_new();
    gt_lines_open(&texts, input);
    while ((got = gt_lines_next(&texts, &text, &length, error)) == 1) {
        const struct gt_json_token *object;

        if (gt_line_is_comment(text, length))
            continue;
        lines->line = text;
        lines->number = texts.number;
        object = gt_json_line_parse(json, text, length, error);
        if (object == NULL || take(user, object, error) != 0) {
            got = -1;
            break;
        }
    }
    if (got == -1)
        gt_error_prefix(error, "%s:%llu: ", lines->path, (unsigned long long)texts.number);
    gt_lines_close(&texts);
    gt_json_line_free(json);
    gt_input_close(input);
    free(lines->unknown.text);
    lines->unknown = (struct gt_unknown){ .text = NULL };
    return got;
}
