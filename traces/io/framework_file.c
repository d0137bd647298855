#include "traces/io/framework_file.h"

#include <stdlib.h>
#include <string.h>

#include "traces/io/data_path.h"

static const char shipped[] = "pytorch-2.11.ini";

static int check_whole(const char *path, const struct gt_key_notes *notes, struct gt_error *error)
{
    for (size_t i = 0; i < gt_framework_table.count; i++) {
        const struct gt_key *key = &gt_framework_table.rows[i];

        if (notes->keys[i] == NULL)
            return gt_error_set(error, "%s: there is no %s, which has no default; set it (%s: %s)", path, key->key,
                                key->unit, key->help);
    }
    return 0;
}

static int load_file(const char *path, struct gt_framework *framework, struct gt_key_notes *notes,
                     struct gt_error *error)
{
    memset(framework, 0, sizeof *framework);
    if (gt_key_file_read(path, &gt_framework_table, framework, notes, error) != 0)
        return -1;
    if (check_whole(path, notes, error) == 0)
        return 0;
    gt_key_notes_free(notes);
    return -1;
}

int gt_framework_load_notes(const char *path, struct gt_framework *framework, struct gt_key_notes *notes,
                            struct gt_error *error)
{
    char *own = path == NULL ? gt_data_path("frameworks", shipped) : NULL;
    int status;

    if (path == NULL && own == NULL)
        return gt_error_set(error, "no file frameworks/%s; is Gridtide installed, or $GRIDTIDE_DATA right?", shipped);
    status = load_file(path != NULL ? path : own, framework, notes, error);
    free(own);
    return status;
}

int gt_framework_load(const char *path, struct gt_framework *framework, struct gt_error *error)
{
    struct gt_key_notes notes;
    int status = gt_framework_load_notes(path, framework, &notes, error);

    if (status == 0)
        gt_key_notes_free(&notes);
    return status;
}
