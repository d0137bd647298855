/* fuzz - feed a reader damaged copies of a sample.
 *
 *   fuzz READER SAMPLE mutations FIRST COUNT   seeds FIRST .. FIRST + COUNT - 1
 *   fuzz READER SAMPLE truncations             every length from 0 to the sample's own
 *
 * A reader must return a workload that holds, or an error that names the file.  Anything else
 * ends the program: a sanitizer, an abort, a read that takes over a minute.  The input that did
 * it is left in the folder as fuzz-READER.input.  A SAMPLE that ends in .sql is made a database first.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/simulate.h"
#include "tests/fuzz/mutation.h"
#include "traces/importers.h"
#include "traces/io/input.h"
#include "traces/jsonl/trace.h"
#include "traces/ranks/ranks.h"
#include "traces/tasks/slices.h"

enum { HANG_SECONDS = 60, PADDING_BYTES = 128 };

static const struct gt_import_options quiet;
static char input_path[96];
static const char *sample_path; /* as it is, whole */

/* Decompression by itself: every byte is read and dropped. */
static int read_input(const char *path, struct gt_error *error)
{
    char buffer[4096];
    ssize_t got;
    struct gt_input *input = gt_input_open(path, error);

    if (input == NULL)
        return -1;
    while ((got = gt_input_read(input, buffer, sizeof buffer, error)) > 0)
        ;
    gt_input_close(input);
    return (int)got;
}

static int finish(struct gt_workload *workload, struct gt_error *error)
{
    if (workload == NULL)
        return -1;
    if (gt_workload_check(workload, error) != 0) {
        printf("# a workload that does not hold: %s\n", error->text);
        abort();
    }
    gt_workload_free(workload);
    return 0;
}

static int read_trace(const char *path, struct gt_error *error)
{
    return finish(gt_trace_read(path, &quiet, error), error);
}

/* What can be read must end in a timeline or in a reason; kernels as bars, so that it ends soon. */
static int simulate(const char *path, struct gt_error *error)
{
    struct gt_workload *workload = gt_trace_read(path, &quiet, error);
    struct gt_options options = GT_OPTIONS_DEFAULT;
    const struct gt_probe probe = { 0 };
    struct gt_summary summary = { 0 };
    struct gt_device device;
    int status;

    if (workload == NULL)
        return -1;
    options.blocks = false;
    gt_device_init(&device);
    status = gt_simulate(workload, &device, &options, &probe, &summary, error);
    if (status != 0 && error->text[0] != '\0')
        gt_error_prefix(error, "%s: ", path);
    gt_workload_free(workload);
    return status;
}

static int import(const char *name, const char *path, struct gt_error *error)
{
    struct gt_rank rank = { .notes = { .rank = GT_NONE } };
    struct gt_import_options options = { .collectives = &rank.notes };
    const struct gt_importer *importer = gt_importer_find(name, path, &options, error);

    if (importer != NULL)
        rank.workload = importer->read(path, &options, error);
    gt_input_close(options.input);
    return rank.workload == NULL ? -1 : finish(gt_ranks_join(&rank, 1, error), error);
}

/* A damaged rank beside a whole one, ranks_beside.json: a recording beside itself is refused. */
static int read_ranks(const char *path, struct gt_error *error)
{
    char *beside = gt_format("%.*s_beside.json", (int)(strlen(sample_path) - strlen(".json")), sample_path);
    const char *const paths[] = { path, beside };
    struct gt_rank ranks[2] = { { .notes = { .rank = GT_NONE } }, { .notes = { .rank = GT_NONE } } };

    for (int i = 1; i >= 0; i--) {
        struct gt_import_options options = { .collectives = &ranks[i].notes };
        const struct gt_importer *importer = gt_importer_find("kineto", paths[i], &options, error);

        if (importer != NULL)
            ranks[i].workload = importer->read(paths[i], &options, error);
        gt_input_close(options.input);
    }
    free(beside);
    if (ranks[0].workload == NULL) {
        gt_workload_free(ranks[1].workload);
        gt_collective_notes_free(&ranks[1].notes);
        return -1;
    }
    return finish(gt_ranks_join(ranks, 2, error), error);
}

static int read_kineto(const char *path, struct gt_error *error)
{
    return import("kineto", path, error);
}

static int read_tasks(const char *path, struct gt_error *error)
{
    return import("tasks", path, error);
}

static int read_chakra(const char *path, struct gt_error *error)
{
    return import("chakra", path, error);
}

static int read_accelsim(const char *path, struct gt_error *error)
{
    return import("accelsim", path, error);
}

static int read_record(const char *path, struct gt_error *error)
{
    return import("record", path, error);
}

static int read_nsys(const char *path, struct gt_error *error)
{
    return import("nsys", path, error);
}

static int read_rocpd(const char *path, struct gt_error *error)
{
    return import("rocpd", path, error);
}

static int read_rpd(const char *path, struct gt_error *error)
{
    return import("rpd", path, error);
}

static int read_xplane(const char *path, struct gt_error *error)
{
    return import("xplane", path, error);
}

static int read_slices(const char *path, struct gt_error *error)
{
    struct gt_input *input = gt_input_open(path, error);
    struct gt_task_slices slices;
    int status;

    if (input == NULL)
        return -1;
    status = gt_task_slices_read(&slices, input, path, 1980, error);
    for (uint32_t next = 0; next < slices.count;)
        if (gt_task_slices_worker(&slices, &next).tasks == 0)
            abort();
    gt_task_slices_free(&slices);
    gt_input_close(input);
    return status;
}

/* One row a reader: returns 0, or -1 with an error. `packed`: the sample stays compressed. */
static const struct reader {
    const char *name;
    int (*read)(const char *path, struct gt_error *error);
    bool packed;
} readers[] = {
    { "input", read_input, true },    { "trace", read_trace, false },       { "simulate", simulate, false },
    { "kineto", read_kineto, false }, { "nsys", read_nsys, false },         { "tasks", read_tasks, false },
    { "record", read_record, false }, { "ranks", read_ranks, false },       { "rocpd", read_rocpd, false },
    { "rpd", read_rpd, false },       { "xplane", read_xplane, false },     { "slices", read_slices, false },
    { "chakra", read_chakra, false }, { "accelsim", read_accelsim, false }, { "tracez", read_accelsim, true },
};

static void die(const char *what, const char *why)
{
    printf("Bail out! %s: %s\n", what, why);
    exit(1);
}

static void hung(int signal_number)
{
    static const char text[] = "Bail out! a read takes over a minute; see fuzz-*.input\n";

    (void)signal_number;
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

static void load_packed(struct bytes *sample, const char *path)
{
    unsigned char buffer[4096];
    size_t got;
    FILE *file = fopen(path, "rb");

    if (file == NULL)
        die(path, "cannot be read");
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0)
        bytes_append(sample, buffer, got);
    fclose(file);
}

static void load_unpacked(struct bytes *sample, const char *path)
{
    unsigned char buffer[4096];
    struct gt_error error = { "" };
    ssize_t got;
    struct gt_input *input = gt_input_open(path, &error);

    if (input == NULL)
        die(path, error.text);
    while ((got = gt_input_read(input, buffer, sizeof buffer, &error)) > 0)
        bytes_append(sample, buffer, (size_t)got);
    gt_input_close(input);
    if (got < 0)
        die(path, error.text);
}

/* The bytes of the database that the statements in `sample` make. */
static void build_database(struct bytes *sample, const char *path)
{
    sqlite3 *database;
    sqlite3_int64 length;
    char *message = NULL;
    unsigned char *image;

    bytes_append(sample, (const unsigned char *)"", 1);
    if (sqlite3_open(":memory:", &database) != SQLITE_OK ||
        sqlite3_exec(database, (char *)sample->data, NULL, NULL, &message) != SQLITE_OK)
        die(path, message != NULL ? message : "no database");
    image = sqlite3_serialize(database, "main", &length, 0);
    bytes_copy(sample, image, (size_t)length);
    sqlite3_free(image);
    sqlite3_close(database);
}

static void write_input(const struct bytes *bytes)
{
    static int file = -1;

    if (file < 0)
        file = open(input_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || pwrite(file, bytes->data, bytes->length, 0) != (ssize_t)bytes->length ||
        ftruncate(file, (off_t)bytes->length) != 0)
        die(input_path, strerror(errno));
}

/* Read one damaged copy; returns whether the reader took it. */
static bool try(const struct reader *reader, const struct bytes *bytes)
{
    struct gt_error error = { "" };
    int status;

    write_input(bytes);
    alarm(HANG_SECONDS);
    status = reader->read(input_path, &error);
    alarm(0);
    if (status != 0 && strstr(error.text, input_path) == NULL) {
        printf("# the error does not name the file: \"%s\"\n", error.text);
        abort();
    }
    return status == 0;
}

static const struct reader *find_reader(const char *name)
{
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (strcmp(readers[i].name, name) == 0)
            return &readers[i];
    }
    die(name, "no such reader");
    return NULL;
}

/* Deep inside padding, where nothing changes from one truncation to the next: recordings have 100 KB of it. */
static bool cuts_padding(const struct bytes *sample, uint64_t length)
{
    if (length < PADDING_BYTES || length >= sample->length)
        return false;
    for (uint64_t i = length - PADDING_BYTES; i <= length; i++) {
        if (sample->data[i] != 0)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    const struct reader *reader;
    struct bytes sample = { 0 }, damaged = { 0 };
    uint64_t count, first = 0, taken = 0, skipped = 0;
    bool truncate;

    if (argc != 4 && argc != 6)
        die("usage", "fuzz READER SAMPLE truncations | fuzz READER SAMPLE mutations FIRST COUNT");
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGALRM, hung);
    reader = find_reader(argv[1]);
    sample_path = argv[2];
    snprintf(input_path, sizeof input_path, "fuzz-%s.input", reader->name);
    (reader->packed ? load_packed : load_unpacked)(&sample, argv[2]);
    if (strlen(argv[2]) > 4 && strcmp(argv[2] + strlen(argv[2]) - 4, ".sql") == 0)
        build_database(&sample, argv[2]);
    if (!try(reader, &sample))
        die(argv[2], "is refused as it is");

    truncate = argc == 4;
    first = truncate ? 0 : strtoull(argv[4], NULL, 10);
    count = truncate ? sample.length : strtoull(argv[5], NULL, 10);
    for (uint64_t i = first; i < first + count; i++) {
        if (truncate && cuts_padding(&sample, i)) {
            skipped++;
            continue;
        }
        bytes_copy(&damaged, sample.data, truncate ? i : sample.length);
        if (!truncate)
            mutate(&damaged, i);
        taken += try(reader, &damaged);
    }
    printf("# %llu read, %llu refused, %llu skipped inside padding\n", (unsigned long long)taken,
           (unsigned long long)(count - skipped - taken), (unsigned long long)skipped);
    unlink(input_path);
    free(sample.data);
    free(damaged.data);
    return 0;
}
