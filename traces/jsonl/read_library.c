/* What kernels and kinds of tasks name alike: the library's kernel that runs them, with its arguments, and a program. */
#include <yajl/yajl_gen.h>

#include "traces/jsonl/reader.h"

enum { SHOWN = 60 };

/* An argument is a number or a word: what a parameter of a library kernel may be. */
static int read_argument(const struct gt_json_token *key, yajl_gen text, struct gt_error *error)
{
    const struct gt_json_token *value = key + 1;

    if (value->type == GT_JSON_NUMBER)
        yajl_gen_number(text, value->text, value->length);
    else if (value->type == GT_JSON_STRING)
        yajl_gen_string(text, (const unsigned char *)value->text, value->length);
    else
        return gt_error_set(error, "\"arguments\": \"%.*s\" must be a number or a word",
                            key->length < SHOWN ? (int)key->length : SHOWN, key->text);
    return 0;
}

/* The arguments as a text without spaces, in the order given, so that equal ones are one name. */
static int read_arguments(struct gt_workload *workload, const struct gt_json_token *object, uint32_t *arguments,
                          struct gt_error *error)
{
    yajl_gen text = yajl_gen_alloc(NULL);
    const unsigned char *bytes;
    size_t length;
    int result = 0;

    yajl_gen_map_open(text);
    for (const struct gt_json_token *key = object + 1; key < object + object->span && result == 0;
         key += 1 + key[1].span) {
        yajl_gen_string(text, (const unsigned char *)key->text, key->length);
        result = read_argument(key, text, error);
    }
    yajl_gen_map_close(text);
    if (result == 0 && yajl_gen_get_buf(text, &bytes, &length) == yajl_gen_status_ok)
        *arguments = gt_name(workload, (const char *)bytes, length);
    yajl_gen_free(text);
    return result;
}

int gt_jsonl_library(struct gt_jsonl *jsonl, const struct gt_json_token *runs, const struct gt_json_token *arguments,
                     uint32_t *runs_name, uint32_t *arguments_name, struct gt_error *error)
{
    if (runs != NULL && runs->type == GT_JSON_STRING)
        *runs_name = gt_name(jsonl->workload, runs->text, runs->length);
    if (arguments == NULL)
        return 0;
    if (*runs_name == GT_NONE)
        return gt_error_set(error,
                            "\"arguments\" without \"runs\", which names the kernel of the library that takes them");
    return read_arguments(jsonl->workload, arguments, arguments_name, error);
}

int gt_jsonl_use_program(struct gt_jsonl *jsonl, const struct gt_json_token *ref, const struct gt_program **program,
                         struct gt_error *error)
{
    uint32_t index;
    char valid[400];

    if (ref == NULL || ref->type == GT_JSON_NULL)
        return 0;
    index = gt_refs_find(jsonl->programs, ref, NULL);
    if (index == GT_NONE) {
        gt_refs_list(jsonl->programs, valid, sizeof valid);
        return gt_error_set(error, "no program %.*s has been defined above this line; defined so far:%s",
                            ref->length < SHOWN ? (int)ref->length : SHOWN, ref->text,
                            valid[0] != '\0' ? valid : " none");
    }
    *program = jsonl->workload->programs[index];
    return 0;
}
