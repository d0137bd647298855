/* ncu_report.c - a report as a folder: pages exported by ncu, cubins cut out of the file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <elf.h>

#include "traces/ncu_parts.h"

enum { MACHINE_CUDA = 190, CUBIN_LIMIT_BYTES = 256 << 20, MOST_AT_ONCE = 16 };

extern char **environ;

/* A run of ncu whose output goes into a file. */
struct export { pid_t child; char *path; };

static int start_ncu(struct export *export, char *path, char *const arguments[], struct gt_error *error)
{
    posix_spawn_file_actions_t actions;
    int result;

    export->path = path;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    result = posix_spawnp(&export->child, "ncu", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (result == 0)
        return 0;
    free(path);
    return gt_error_set(error,
                        "cannot run ncu: %s; put Nsight Compute's folder into PATH, or export the pages "
                        "elsewhere and import the folder",
                        strerror(result));
}

/* The first line of what ncu wrote instead of a table. */
static void first_line(const char *path, char *text, int bytes)
{
    FILE *file = fopen(path, "r");

    if (file == NULL || fgets(text, bytes, file) == NULL)
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
}

/* Wait for its end; a page that could not be exported is not left there. */
static int finish_ncu(struct export *export, struct gt_error *error)
{
    char said[200];
    int status, result = 0;

    while (waitpid(export->child, &status, 0) < 0)
        if (errno != EINTR)
            gt_bug("waiting for a child: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        first_line(export->path, said, sizeof said);
        result = gt_error_set(error, "ncu failed on the report%s%s", said[0] != '\0' ? ": " : "", said);
        unlink(export->path);
    }
    free(export->path);
    return result;
}

static int export_raw(const char *report, const char *folder, struct gt_error *error)
{
    char *arguments[] = { "ncu", "-i", (char *)(uintptr_t)report, "--page", "raw", "--csv",
                          "--print-kernel-base", "mangled", NULL };
    struct export export;
    char *path = NULL;

    if (asprintf(&path, "%s/raw.csv", folder) < 0)
        gt_bug("no memory for a file name");
    return start_ncu(&export, path, arguments, error) == 0 ? finish_ncu(&export, error) : -1;
}

static int start_source(struct export *export, const char *report, const char *folder, uint32_t launch,
                        struct gt_error *error)
{
    char number[16];
    char *arguments[] = { "ncu",
                          "-i",
                          (char *)(uintptr_t)report,
                          "--page",
                          "source",
                          "--print-source",
                          "sass",
                          "--csv",
                          "--print-kernel-base",
                          "mangled",
                          "--launch-skip",
                          number,
                          "--launch-count",
                          "1",
                          NULL };
    char *path = NULL;

    snprintf(number, sizeof number, "%" PRIu32, launch);
    if (asprintf(&path, "%s/source.%04" PRIu32 ".csv", folder, launch) < 0)
        gt_bug("no memory for a file name");
    return start_ncu(export, path, arguments, error);
}

/* The source pages of all launches, those that there are: as many at once as there are processors, for each
 * run of ncu reads the whole report. */
static int export_sources(const char *report, const char *folder, uint32_t launches, struct gt_error *error)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t at_once = processors < 1 ? 1 : processors > MOST_AT_ONCE ? MOST_AT_ONCE : (uint32_t)processors;
    struct export exports[MOST_AT_ONCE];
    uint32_t started = 0, finished = 0;
    int status = 0;

    while (finished < started || (started < launches && status == 0)) {
        if (started < launches && started - finished < at_once && status == 0) {
            status = start_source(&exports[started % at_once], report, folder, started, error);
            started += status == 0;
        } else {
            finish_ncu(&exports[finished++ % at_once], NULL);
        }
    }
    return status;
}

/* The length of the cubin at `bytes`, to the end of its last section or header table; 0: there is none. */
static size_t cubin_length(const unsigned char *bytes, size_t left)
{
    Elf64_Ehdr header;
    uint64_t end, sections;

    if (left < sizeof header || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return 0;
    memcpy(&header, bytes, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != MACHINE_CUDA || header.e_shoff == 0 ||
        header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > left - sizeof(Elf64_Shdr))
        return 0;
    sections = header.e_shnum;
    if (sections == 0) {        /* too many for the header: the first section has the number */
        Elf64_Shdr first;

        memcpy(&first, bytes + header.e_shoff, sizeof first);
        sections = first.sh_size;
    }
    end = header.e_shoff + sections * sizeof(Elf64_Shdr);
    if (sections > CUBIN_LIMIT_BYTES / sizeof(Elf64_Shdr) || end > left)
        return 0;
    if (header.e_phoff > 0 && header.e_phoff <= left) {
        uint64_t programs = header.e_phoff + (uint64_t)header.e_phnum * sizeof(Elf64_Phdr);

        end = programs > end && programs <= left ? programs : end;
    }
    for (uint64_t i = 0; i < sections; i++) {
        Elf64_Shdr section;

        memcpy(&section, bytes + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type == SHT_NOBITS || section.sh_offset > left ||
            section.sh_size > left - section.sh_offset)
            continue;
        end = section.sh_offset + section.sh_size > end ? section.sh_offset + section.sh_size : end;
    }
    return end;
}

static int write_cubin(const char *folder, uint32_t number, const unsigned char *bytes, size_t length,
                       struct gt_error *error)
{
    char *path = NULL;
    FILE *file;
    int status = 0;

    if (asprintf(&path, "%s/%04" PRIu32 ".cubin", folder, number) < 0)
        gt_bug("no memory for a file name");
    file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, length, file) != length)
        status = gt_error_set(error, "%s: %s", path, strerror(errno));
    if (file != NULL && fclose(file) != 0 && status == 0)
        status = gt_error_set(error, "%s: %s", path, strerror(errno));
    free(path);
    return status;
}

/* Every ELF image for CUDA in the report. */
static int cut_cubins(const unsigned char *bytes, size_t length, const char *folder, struct gt_error *error)
{
    const unsigned char *at = bytes, *end = bytes + length;
    uint32_t number = 0;

    while ((at = memmem(at, (size_t)(end - at), ELFMAG, SELFMAG)) != NULL) {
        size_t cubin = cubin_length(at, (size_t)(end - at));

        if (cubin > 0 && write_cubin(folder, number++, at, cubin, error) != 0)
            return -1;
        at += cubin > 0 ? cubin : SELFMAG;
    }
    return 0;
}

static int cut_report(const char *report, const char *folder, struct gt_error *error)
{
    int file = open(report, O_RDONLY | O_CLOEXEC), status;
    struct stat info;
    void *bytes;

    if (file < 0)
        return gt_error_set(error, "%s: %s", report, strerror(errno));
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(file);
        return gt_error_set(error, "%s: not a file", report);
    }
    bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED)
        return gt_error_set(error, "%s: %s", report, strerror(errno));
    status = cut_cubins(bytes, (size_t)info.st_size, folder, error);
    munmap(bytes, (size_t)info.st_size);
    return status;
}

int gt_ncu_report_unpack(const char *report, const char *folder, struct gt_error *error)
{
    struct gt_ncu_raw raw;
    char *path = NULL;
    int status;

    if (cut_report(report, folder, error) != 0)
        return -1;
    if (export_raw(report, folder, error) != 0)
        return gt_error_prefix(error, "%s: ", report);
    if (asprintf(&path, "%s/raw.csv", folder) < 0)
        gt_bug("no memory for a file name");
    status = gt_ncu_raw_read(path, &raw, error);
    if (status == 0 && export_sources(report, folder, raw.count, error) != 0)
        status = gt_error_prefix(error, "%s: ", report);
    gt_ncu_raw_free(&raw);
    free(path);
    return status;
}
