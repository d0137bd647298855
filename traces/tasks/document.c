#include "traces/tasks/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 16 };
#define MOST_BYTES (UINT64_C(1) << 31) /* offsets in a parsed text are of 32 bits */

static int read_whole(struct gt_document *document, struct gt_input *input, const struct gt_import_options *options,
                      struct gt_error *error)
{
    size_t room = 0;
    ssize_t got;

    do {
        if (room - document->length < CHUNK_BYTES) {
            room = room + room / 2 + CHUNK_BYTES;
            document->text = gt_realloc(document->text, room, 1);
        }
        got = gt_input_read(input, document->text + document->length, CHUNK_BYTES, error);
        if (got < 0)
            return -1;
        document->length += (size_t)got;
        if (document->length > MOST_BYTES)
            return gt_error_set(error, "more than 2 GiB of JSON");
        if (options != NULL && options->progress != NULL)
            options->progress(options->progress_user, gt_input_consumed(input), gt_input_size(input));
    } while (got > 0);
    document->counted = document->text;
    document->lines = 1;
    return 0;
}

static uint32_t line_at(struct gt_document *document, const char *place)
{
    const char *newline;

    if (place < document->counted) {
        document->counted = document->text;
        document->lines = 1;
    }
    while ((newline = memchr(document->counted, '\n', (size_t)(place - document->counted))) != NULL) {
        document->lines++;
        document->counted = newline + 1;
    }
    return document->lines;
}

/* The parser counts bytes from the start of its text: "column N: ". */
static int wrong_json(struct gt_document *document, struct gt_error *error)
{
    unsigned offset = 0;
    int behind = 0;
    char text[512];

    if (sscanf(error->text, "column %u: %n", &offset, &behind) != 1 || behind == 0 || offset > document->length)
        return gt_error_prefix(error, "1: ");
    snprintf(text, sizeof text, "%s", error->text + behind);
    return gt_error_set(error, "%u: %s", line_at(document, document->text + offset), text);
}

int gt_document_read(struct gt_document *document, const char *path, const struct gt_import_options *options,
                     struct gt_error *error)
{
    struct gt_input *input = gt_input_share(options != NULL ? options->input : NULL, path, error);
    int status;

    *document = (struct gt_document){ .text = NULL };
    if (input == NULL)
        return -1;
    status = read_whole(document, input, options, error);
    gt_input_close(input);
    if (status != 0)
        return gt_error_prefix(error, "%s: ", path);
    document->json = gt_json_line_new();
    document->root = gt_json_line_parse(document->json, document->text, document->length, error);
    if (document->root != NULL)
        return 0;
    wrong_json(document, error);
    return gt_error_prefix(error, "%s:", path);
}

void gt_document_close(struct gt_document *document)
{
    gt_json_line_free(document->json);
    free(document->text);
}

uint32_t gt_document_line(struct gt_document *document, const struct gt_json_token *object)
{
    const struct gt_json_token *first = object->span > 1 ? object + 1 : object;
    const char *place = first->text;

    if (place == NULL || place < document->text || place > document->text + document->length)
        place = document->text + object->raw_end; /* a name with escapes lies elsewhere */
    return line_at(document, place);
}

const struct gt_json_token *gt_document_field(const struct gt_json_token *object, const char *name)
{
    size_t length = strlen(name);

    for (const struct gt_json_token *key = object + 1; object->type == GT_JSON_OBJECT && key < object + object->span;
         key += 1 + key[1].span)
        if (key->length == length && memcmp(key->text, name, length) == 0)
            return key + 1;
    return NULL;
}
