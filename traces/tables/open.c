/* open.c - a database file, packed or not, opened so that nothing is ever written beside it. */
#include "traces/tables/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/io/input.h"

/* The database header (sqlite.org/fileformat.html, 1.3). */
enum {
    HEADER_BYTES = 100,
    PAGE_SIZE_AT = 16,
    WRITE_VERSION_AT = 18,
    READ_VERSION_AT = 19,
    CHANGES_AT = 24,
    PAGES_AT = 28,
    VALID_FOR_AT = 92,
    CHUNK_BYTES = 256 * 1024
};
static const char magic[16] = "SQLite format 3";

static uint32_t big_endian(const unsigned char *bytes, int length)
{
    uint32_t value = 0;

    while (length-- > 0)
        value = value << 8 | *bytes++;
    return value;
}

/* Bytes that the database says it has; 0 when it does not. */
static uint64_t stated_bytes(const unsigned char *header)
{
    uint32_t page = big_endian(header + PAGE_SIZE_AT, 2);

    if (big_endian(header + CHANGES_AT, 4) != big_endian(header + VALID_FOR_AT, 4))
        return 0;
    return (uint64_t)(page == 1 ? 65536 : page) * big_endian(header + PAGES_AT, 4);
}

static int check_header(const struct gt_db *db, const unsigned char *header, size_t bytes, struct gt_error *error)
{
    if (bytes == 0)
        return gt_error_set(error, "%s: the file is empty", db->path);
    if (bytes < sizeof magic || memcmp(header, magic, sizeof magic) != 0)
        return gt_error_set(error, "%s: not an SQLite database; %s", db->path, db->maker->advice);
    if (bytes < HEADER_BYTES)
        return gt_error_set(error, "%s: truncated after %zu bytes, within the database header", db->path, bytes);
    return 0;
}

static int check_length(const char *path, const unsigned char *header, uint64_t bytes, struct gt_error *error)
{
    uint64_t stated = stated_bytes(header);

    if (bytes < stated)
        return gt_error_set(error, "%s: truncated: %llu bytes of a database of %llu; copy or export it again", path,
                            (unsigned long long)bytes, (unsigned long long)stated);
    return 0;
}

/* A file of our own with no name, in $TMPDIR or /tmp. */
static int open_temporary(struct gt_error *error)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    int fd;

    if (folder == NULL || *folder == '\0' || strlen(folder) > sizeof name - 32)
        folder = "/tmp";
    strcpy(stpcpy(name, folder), "/gridtide-tables-XXXXXX");
    fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return gt_error_set(error, "cannot create a temporary file in %s for unpacking: %s (set TMPDIR)", folder,
                            strerror(errno));
    unlink(name);
    return fd;
}

/* As much as there is, up to `bytes`. */
static ssize_t read_full(struct gt_input *input, unsigned char *buffer, size_t bytes, struct gt_error *error)
{
    size_t had = 0;

    while (had < bytes) {
        ssize_t got = gt_input_read(input, buffer + had, bytes - had, error);

        if (got < 0)
            return -1;
        if (got == 0)
            break;
        had += (size_t)got;
    }
    return (ssize_t)had;
}

static int write_full(int fd, const unsigned char *buffer, size_t bytes, struct gt_error *error)
{
    while (bytes > 0) {
        ssize_t put = write(fd, buffer, bytes);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return gt_error_set(
                error, "cannot write the temporary file for unpacking: %s (set TMPDIR to a folder with free space)",
                strerror(errno));
        buffer += put;
        bytes -= (size_t)put;
    }
    return 0;
}

/* Unpack all of `input` into `fd`; what lies beyond the database's own end is an error at once. */
static int unpack(const struct gt_db *db, struct gt_input *input, int fd, const struct gt_import_options *options,
                  uint64_t *total, struct gt_error *error)
{
    unsigned char *chunk = gt_realloc(NULL, CHUNK_BYTES, 1);
    unsigned char header[HEADER_BYTES] = { 0 };
    ssize_t got;
    int status = -1;

    *total = 0;
    while ((got = read_full(input, chunk, CHUNK_BYTES, error)) >= 0) {
        if (*total == 0) {
            if (check_header(db, chunk, (size_t)got, error) != 0)
                break;
            memcpy(header, chunk, HEADER_BYTES);
            /* The image has no write-ahead log beside it, whatever mode the database was left in. */
            if (chunk[READ_VERSION_AT] == 2)
                chunk[WRITE_VERSION_AT] = chunk[READ_VERSION_AT] = 1;
        }
        if (got == 0) {
            status = check_length(db->path, header, *total, error);
            break;
        }
        *total += (uint64_t)got;
        if (stated_bytes(header) != 0 && *total > stated_bytes(header)) {
            gt_error_set(error, "%s: has data after the %llu bytes of its database", db->path,
                         (unsigned long long)stated_bytes(header));
            break;
        }
        if (write_full(fd, chunk, (size_t)got, error) != 0) {
            gt_error_prefix(error, "%s: ", db->path);
            break;
        }
        if (options != NULL && options->progress != NULL)
            options->progress(options->progress_user, gt_input_consumed(input), gt_input_size(input));
    }
    free(chunk);
    return status;
}

/* Unpack into an unlinked file and let SQLite read its mapping: no name, so nothing is left behind. */
static int open_packed(struct gt_db *db, struct gt_input *input, const struct gt_import_options *options,
                       struct gt_error *error)
{
    uint64_t bytes = 0;
    int fd = open_temporary(error), status;

    status = fd < 0 ? gt_error_prefix(error, "%s: ", db->path) : unpack(db, input, fd, options, &bytes, error);
    if (status == 0) {
        db->image = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        db->image_bytes = bytes;
        if (db->image == MAP_FAILED) {
            db->image = NULL;
            status = gt_error_set(error, "%s: cannot map the unpacked file: %s", db->path, strerror(errno));
        }
    }
    if (fd >= 0)
        close(fd);
    if (status != 0)
        return -1;
    return gt_database_open_image(&db->base, db->path, db->image, bytes, error);
}

/* 1: a database as it is, of *bytes; 0: something else, or for gt_input to say what is wrong; -1. */
static int is_plain(const struct gt_db *db, uint64_t *bytes, struct gt_error *error)
{
    unsigned char header[HEADER_BYTES];
    struct stat stat;
    ssize_t got = 0;
    int fd = open(db->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int plain = 0;

    *bytes = 0;
    if (fd < 0)
        return 0;
    if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))
        got = read(fd, header, sizeof header);
    if (got >= (ssize_t)sizeof magic && memcmp(header, magic, sizeof magic) == 0) {
        *bytes = (uint64_t)stat.st_size;
        if (check_header(db, header, (size_t)got, error) != 0 ||
            check_length(db->path, header, (uint64_t)stat.st_size, error) != 0)
            plain = -1;
        else
            plain = 1;
    }
    close(fd);
    return plain;
}

int gt_db_open(struct gt_db *db, const char *path, const struct gt_db_maker *maker,
               const struct gt_import_options *options, struct gt_error *error)
{
    struct gt_input *input = gt_input_share(options != NULL ? options->input : NULL, path, error);
    uint64_t bytes;
    int status;

    *db = (struct gt_db){ .path = path, .maker = maker };
    if (input == NULL)
        return -1;
    status = gt_input_is_plain_file(input) ? is_plain(db, &bytes, error) : 0;
    if (status == 1)
        status = gt_database_open_file(&db->base, path, bytes, error);
    else if (status == 0)
        status = open_packed(db, input, options, error);
    gt_input_close(input);
    if (status != 0) {
        gt_db_close(db);
        return -1;
    }
    return 0;
}

void gt_db_close(struct gt_db *db)
{
    gt_database_close(&db->base);
    if (db->image != NULL)
        munmap(db->image, db->image_bytes);
    *db = (struct gt_db){ .path = db->path, .maker = db->maker };
}
