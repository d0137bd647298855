/* cubins.c - the cubins of a report's kernels, cut out of the file: they lie in it as plain ELF images,
 * beside those of everything else that was loaded. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elf.h>
#include <uthash.h>

#include "traces/ncu/internal.h"

enum { MACHINE_CUDA = 190, CUBIN_LIMIT_BYTES = 256 << 20 };

struct wanted {
    UT_hash_handle hh;
};

/* An image that was written; a report may hold it more than once. */
struct image {
    const unsigned char *bytes;
    size_t length;
};

struct cutter {
    const char *folder;
    struct wanted *wanted; /* kernels that were launched, by name */
    struct image *written;
    uint32_t count;
};

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
    if (sections == 0) { /* too many for the header: the first section has the number */
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
        if (section.sh_type == SHT_NOBITS || section.sh_offset > left || section.sh_size > left - section.sh_offset)
            continue;
        end = section.sh_offset + section.sh_size > end ? section.sh_offset + section.sh_size : end;
    }
    return end;
}

/* Whether one of the kernels looked at was launched. */
struct search {
    const struct wanted *wanted;
    bool found;
};

static void look_up(void *user, const char *name, const struct gt_cubin_code *code)
{
    struct search *search = user;
    const struct wanted *found;

    (void)code;
    HASH_FIND(hh, search->wanted, name, strlen(name), found);
    search->found |= found != NULL;
}

/* Does the image hold code of a kernel that was launched, and was it not yet written? */
static bool is_wanted(const struct cutter *cutter, const unsigned char *bytes, size_t length)
{
    struct search search = { cutter->wanted, false };
    struct gt_cubin *cubin;

    for (uint32_t i = 0; i < cutter->count; i++)
        if (cutter->written[i].length == length && memcmp(cutter->written[i].bytes, bytes, length) == 0)
            return false;
    cubin = gt_cubin_of(bytes, length, "a cubin of the report", NULL);
    if (cubin == NULL)
        return false;
    gt_cubin_each(cubin, look_up, &search);
    gt_cubin_close(cubin);
    return search.found;
}

static int write_cubin(struct cutter *cutter, const unsigned char *bytes, size_t length, struct gt_error *error)
{
    char *path = NULL;
    FILE *file;
    int status = 0;

    if (asprintf(&path, "%s/%04" PRIu32 ".cubin", cutter->folder, cutter->count) < 0)
        gt_bug("no memory for a file name");
    file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, length, file) != length)
        status = gt_error_set(error, "%s: %s", path, strerror(errno));
    if (file != NULL && fclose(file) != 0 && status == 0)
        status = gt_error_set(error, "%s: %s", path, strerror(errno));
    free(path);
    cutter->written = gt_realloc(cutter->written, cutter->count + 1, sizeof *cutter->written);
    cutter->written[cutter->count++] = (struct image){ bytes, length };
    return status;
}

static int cut_cubins(struct cutter *cutter, const unsigned char *bytes, size_t length, struct gt_error *error)
{
    const unsigned char *at = bytes, *end = bytes + length;

    while ((at = memmem(at, (size_t)(end - at), ELFMAG, SELFMAG)) != NULL) {
        size_t cubin = cubin_length(at, (size_t)(end - at));

        if (cubin > 0 && is_wanted(cutter, at, cubin) && write_cubin(cutter, at, cubin, error) != 0)
            return -1;
        at += cubin > 0 ? cubin : SELFMAG;
    }
    return 0;
}

static int cut_report(struct cutter *cutter, const char *report, struct gt_error *error)
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
    status = cut_cubins(cutter, bytes, (size_t)info.st_size, error);
    munmap(bytes, (size_t)info.st_size);
    return status;
}

int gt_ncu_report_cut(const char *report, const struct gt_ncu_raw *raw, const char *folder, struct gt_error *error)
{
    struct cutter cutter = { .folder = folder };
    struct wanted *one, *next;
    int status;

    for (uint32_t i = 0; i < raw->count; i++) {
        const char *name = raw->launches[i].name;

        HASH_FIND_STR(cutter.wanted, name, one);
        if (one == NULL) {
            one = gt_calloc(1, sizeof *one);
            HASH_ADD_KEYPTR(hh, cutter.wanted, name, strlen(name), one);
        }
    }
    status = cut_report(&cutter, report, error);
    HASH_ITER(hh, cutter.wanted, one, next)
    {
        HASH_DEL(cutter.wanted, one);
        free(one);
    }
    free(cutter.written);
    return status;
}
