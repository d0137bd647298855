/* record_library.c - where the library is that `gridtide record` puts into a program. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/cmd/trace/record_parts.h"
#include "traces/io/datadir.h"
#include "traces/io/paths.h"

#define LIBRARY  "libgridtide_record.so"
#define VARIABLE "GRIDTIDE_RECORDER"

enum { PLACES = 3 };

static char *in_folder(char *folder)
{
    char *path = folder == NULL ? NULL : gt_format("%s/" LIBRARY, folder);

    free(folder);
    return path;
}

static void say_missing(char *const *places, struct gt_error *error)
{
    char looked_at[3 * 4096] = "";

    for (int i = 0; i < PLACES; i++)
        if (places[i] != NULL)
            gt_text_append(looked_at, sizeof looked_at, "%s%s", *looked_at == '\0' ? "" : ", ", places[i]);
#ifdef GT_HAVE_RECORDER
    gt_error_set(error,
                 "the recorder (" LIBRARY ") is not where it was installed (%s); set " VARIABLE
                 " to the file's path, or reinstall gridtide",
                 looked_at);
#else
    gt_error_set(error,
                 "this gridtide has no recorder (" LIBRARY "): it was built without CUDA; build it with nvcc and "
                 "the CUPTI headers (--with-cuda=DIR), or set " VARIABLE
                 " to the library of another build of this version (searched: %s)",
                 looked_at);
#endif
}

/* The absolute path of a file that can be read, as the program may change its folder; else NULL. */
static char *find_file(const char *path)
{
    char *absolute = realpath(path, NULL);
    struct stat info;

    if (absolute != NULL && stat(absolute, &info) == 0 && S_ISREG(info.st_mode) && access(absolute, R_OK) == 0)
        return absolute;
    free(absolute);
    return NULL;
}

/* The library that the user names: nothing else is tried. */
static char *named(const char *path, struct gt_error *error)
{
    char *found = find_file(path);

    if (found == NULL)
        gt_error_set(error, "%s: not a readable file; " VARIABLE " must be the path of " LIBRARY, path);
    return found;
}

char *gt_recorder_library(struct gt_error *error)
{
    const char *chosen = getenv(VARIABLE);
    char *places[PLACES] = { NULL }, *found = NULL;

    if (chosen != NULL && *chosen != '\0')
        return named(chosen, error);
    places[0] = in_folder(gt_beside_program("validate/record")); /* where `make` puts it */
    places[1] = in_folder(gt_moved_path(GT_INSTALLED_LIBRARIES));
    places[2] = in_folder(gt_format("%s", GT_INSTALLED_LIBRARIES));
    for (int i = 0; i < PLACES && found == NULL; i++)
        if (places[i] != NULL)
            found = find_file(places[i]);
    if (found == NULL)
        say_missing(places, error);
    for (int i = 0; i < PLACES; i++)
        free(places[i]);
    return found;
}
