/* record_cost.c - what recording costs on this machine: a small program of its own, recorded like any other, run once a machine.
 *
 * What it said is kept in $XDG_CACHE_HOME/gridtide (or ~/.cache/gridtide), in a file named after all that the answer depends on:
 * the host, its driver and GPUs, which of these are visible, and the recorder itself.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/hash.h"
#include "sim/cmd/trace/record_parts.h"
#include "traces/io/temporary.h"
#include "traces/recorded/records.h"

#define PROGRAM "gridtide-record-cost"
#define DRIVER  "/proc/driver/nvidia/version"
#define GPUS    "/proc/driver/nvidia/gpus"

/* Beside the library: there `make` and its installation put it. */
static char *find_program(const char *library)
{
    const char *slash = strrchr(library, '/');

    return gt_format("%.*s/" PROGRAM, slash == NULL ? 0 : (int)(slash - library), library);
}

enum { TIMES = 2 }; /* each way: some processes are put where they are slow */

/* What it measured is added to the file `output`; with a library, what that costs is in it.  Did it end well? */
static bool measure(const char *program, const char *library, const char *how, const char *output)
{
    struct gt_error error;
    char *records = gt_temporary_folder("record-cost", &error);
    const struct gt_recording recording = { .program = (char *const[]){ (char *)program, (char *)how, NULL },
                                            .from = "start",
                                            .output = output };
    int status = -1;
    bool ran;

    if (records == NULL)
        return false;
    ran = gt_record_run(&recording, library, records, &status, &error) == 0;
    gt_temporary_remove(records);
    free(records);
    return ran && status == 0;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return text == NULL ? gt_hash_bytes(hash, "", 1) : gt_hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t mix_file(uint64_t hash, const char *path)
{
    char part[4096];
    FILE *file = fopen(path, "re");
    size_t count;

    while (file != NULL && (count = fread(part, 1, sizeof part, file)) > 0)
        hash = gt_hash_bytes(hash, part, count);
    if (file != NULL)
        fclose(file);
    return hash;
}

/* Another build of it, without reading all of it. */
static uint64_t mix_stamp(uint64_t hash, const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return hash;
    hash = gt_hash_bytes(hash, &info.st_size, sizeof info.st_size);
    return gt_hash_bytes(hash, &info.st_mtim, sizeof info.st_mtim);
}

/* Their models, and which there are. */
static uint64_t mix_gpus(uint64_t hash)
{
    struct dirent **entries = NULL;
    int count = scandir(GPUS, &entries, NULL, alphasort);

    for (int i = 0; i < count; i++) {
        char *path = gt_format(GPUS "/%s/information", entries[i]->d_name);

        hash = mix_file(hash, path);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return hash;
}

/* The file that the answer is kept in; NULL: there is no place for it. */
static char *cache_file(const char *program, const char *library)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char host[256] = "";
    uint64_t hash = GT_HASH_START;

    gethostname(host, sizeof host - 1);
    hash = mix_gpus(mix_file(mix_text(hash, host), DRIVER));
    hash = mix_text(hash, getenv("CUDA_VISIBLE_DEVICES"));
    hash = mix_stamp(mix_stamp(hash, library), program);
    if (cache != NULL && *cache == '/')
        return gt_format("%s/gridtide/record-cost-%016" PRIx64 ".txt", cache, hash);
    return home == NULL || *home != '/' ? NULL
                                        : gt_format("%s/.cache/gridtide/record-cost-%016" PRIx64 ".txt", home, hash);
}

/* 0, or -1: `to` is not there then. */
static int copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "re"), *out = in == NULL ? NULL : fopen(to, "we");
    char part[4096];
    size_t count, all = 0;
    int failed = out == NULL;

    while (!failed && (count = fread(part, 1, sizeof part, in)) > 0) {
        failed = fwrite(part, 1, count, out) != count;
        all += count;
    }
    if (in != NULL)
        fclose(in);
    if (out != NULL && (fclose(out) != 0 || failed || all == 0)) {
        unlink(to);
        failed = 1;
    }
    return failed ? -1 : 0;
}

static void make_folders(const char *file)
{
    char *path = gt_strdup(file);

    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700); /* as the XDG base directory specification says */
        *slash = '/';
    }
    free(path);
}

/* Whole or not at all: others may read it meanwhile. */
static void keep(const char *costs, const char *cache)
{
    char *partial = gt_format("%s.%ld", cache, (long)getpid());

    make_folders(cache);
    if (copy_file(costs, partial) == 0 && rename(partial, cache) != 0)
        unlink(partial);
    free(partial);
}

void gt_record_find_cost(const char *library, enum gt_record_cost_source source, const char *folder)
{
    char *program = find_program(library), *output = gt_format("%s/" GT_RECORDED_COSTS, folder);
    char *cache = cache_file(program, library);
    bool known = source == GT_RECORD_COST_CACHED && cache != NULL && copy_file(cache, output) == 0,
         whole = access(program, X_OK) == 0;

    if (source != GT_RECORD_COST_NONE && !known && whole) {
        for (int i = 0; i < TIMES; i++) {
            whole &= measure(program, NULL, "plain", output);
            whole &= measure(program, library, "recorded", output);
        }
        if (whole && cache != NULL)
            keep(output, cache);
    }
    free(cache);
    free(output);
    free(program);
}
