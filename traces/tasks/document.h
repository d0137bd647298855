/* document.h - a JSON document of many lines, whole in memory. */
#ifndef GRIDTIDE_TRACES_TASKS_DOCUMENT_H
#define GRIDTIDE_TRACES_TASKS_DOCUMENT_H

#include "traces/import/importer.h"
#include "traces/io/json_line.h"

struct gt_document {
    char *text;
    size_t length;
    struct gt_json_line *json;
    const struct gt_json_token *root; /* an object */
    const char *counted;              /* up to here `lines` newlines were counted */
    uint32_t lines;
};

/* Read and parse; -1 with "PATH:LINE: ..." or "PATH: ...".  gt_document_close() in either case. */
int gt_document_read(struct gt_document *document, const char *path, const struct gt_import_options *options,
                     struct gt_error *error);
void gt_document_close(struct gt_document *document);

/* The line on which an object's first field stands; asked from the top down. */
uint32_t gt_document_line(struct gt_document *document, const struct gt_json_token *object);

/* A field of an object by its name; NULL where it is not there. */
const struct gt_json_token *gt_document_field(const struct gt_json_token *object, const char *name);

#endif
