/* names.c - StringIds: only the strings in use are ever read, each once. */
#include "traces/nsys/internal.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

struct gt_nsys_string {
    UT_hash_handle hh;
    struct string_key {
        int64_t id;
        int64_t is_api; /* a text is kept twice: whole, and without its version */
    } key;
    uint32_t name;
    const struct gt_cuda_api *api;
};

int gt_nsys_names_open(struct gt_nsys *nsys, struct gt_error *error)
{
    int there = gt_db_has_table(&nsys->db, "StringIds", error);

    if (there != 1)
        return there;
    nsys->string_query = gt_db_query(&nsys->db, "StringIds", "SELECT value FROM main.StringIds WHERE id = ?1", error);
    return nsys->string_query == NULL ? -1 : 0;
}

void gt_nsys_names_close(struct gt_nsys *nsys)
{
    struct gt_nsys_string *string, *next;

    gt_query_end(nsys->string_query);
    HASH_ITER(hh, nsys->strings, string, next)
    {
        HASH_DEL(nsys->strings, string);
        free(string);
    }
}

static void take_text(struct gt_nsys *nsys, struct gt_nsys_string *string, const char *text)
{
    size_t length = strlen(text);

    if (string->key.is_api) {
        string->api = gt_cuda_api_find(text, length);
        length = gt_cuda_api_base_length(text, length);
    }
    if (length > 0)
        string->name = gt_name(nsys->import.workload, text, length);
}

static int read_string(struct gt_nsys *nsys, struct gt_nsys_string *string, struct gt_error *error)
{
    struct gt_query *query = nsys->string_query;
    int status;

    gt_query_bind(query, 1, string->key.id);
    status = gt_query_next(query, error);
    if (status == 1 && gt_query_is_text(query, 0))
        take_text(nsys, string, gt_query_string(query, 0));
    else if (status == 1)
        status = gt_error_set(error, "%s: table StringIds, id %lld: column value contains no text", nsys->db.path,
                              (long long)string->key.id);
    gt_query_rewind(query);
    return status < 0 ? -1 : 0;
}

static int find_string(struct gt_nsys *nsys, int64_t id, bool is_api, const struct gt_nsys_string **found,
                       struct gt_error *error)
{
    struct string_key key = { id, is_api };
    struct gt_nsys_string *string;

    HASH_FIND(hh, nsys->strings, &key, sizeof key, string);
    if (string == NULL) {
        string = gt_calloc(1, sizeof *string);
        string->key = key;
        string->name = GT_NONE;
        HASH_ADD(hh, nsys->strings, key, sizeof string->key, string);
        if (id != GT_DB_NULL && nsys->string_query != NULL && read_string(nsys, string, error) != 0)
            return -1;
    }
    *found = string;
    return 0;
}

int gt_nsys_name(struct gt_nsys *nsys, int64_t id, uint32_t *name, struct gt_error *error)
{
    const struct gt_nsys_string *string;

    if (find_string(nsys, id, false, &string, error) != 0)
        return -1;
    *name = string->name;
    return 0;
}

int gt_nsys_api_name(struct gt_nsys *nsys, int64_t id, uint32_t *name, const struct gt_cuda_api **api,
                     struct gt_error *error)
{
    const struct gt_nsys_string *string;

    if (find_string(nsys, id, true, &string, error) != 0)
        return -1;
    *name = string->name;
    *api = string->api;
    return 0;
}
