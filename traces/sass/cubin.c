#include "traces/sass/cubin.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gelf.h>
#include <libelf.h>

#include "traces/io/input.h"

enum {
    MACHINE_CUDA = 190,   /* EM_CUDA */
    OSABI_CUDA_V2 = 0x41, /* from CUDA 13 on: the architecture is in bits 8-15 of the flags, not 0-7 */
    LIMIT_BYTES = 256 << 20,
    CONTROL_BIT = 105,
    CONTROL_BITS = 21,
};

struct gt_cubin {
    char *bytes;
    size_t length;
    Elf *elf;
    uint32_t architecture;
    size_t names; /* section of section names */
};

static int read_whole(struct gt_cubin *cubin, const char *path, struct gt_error *error)
{
    struct gt_input *input = gt_input_open(path, error);
    size_t room = 64 << 10;
    ssize_t got = 1;

    if (input == NULL)
        return -1;
    cubin->bytes = gt_realloc(NULL, room, 1);
    while (got > 0 && cubin->length <= LIMIT_BYTES) {
        if (cubin->length == room)
            cubin->bytes = gt_realloc(cubin->bytes, room *= 2, 1);
        got = gt_input_read(input, cubin->bytes + cubin->length, room - cubin->length, error);
        cubin->length += got > 0 ? (size_t)got : 0;
    }
    gt_input_close(input);
    if (got < 0)
        return -1;
    return got == 0 ? 0 : gt_error_set(error, "%s: more than %d MiB; no cubin is so large", path, LIMIT_BYTES >> 20);
}

/* Does the file hold all that its header speaks of? */
static bool is_whole(Elf *elf, const GElf_Ehdr *header, size_t length)
{
    size_t sections;

    if (elf_getshdrnum(elf, &sections) != 0 || sections == 0 || header->e_shoff > length ||
        header->e_shentsize != sizeof(Elf64_Shdr) || sections > (length - header->e_shoff) / header->e_shentsize)
        return false;
    for (size_t i = 1; i < sections; i++) {
        GElf_Shdr section;

        if (gelf_getshdr(elf_getscn(elf, i), &section) == NULL)
            return false;
        if (section.sh_type != SHT_NOBITS &&
            (section.sh_offset > length || section.sh_size > length - section.sh_offset))
            return false;
    }
    return true;
}

static int open_elf(struct gt_cubin *cubin, const char *path, struct gt_error *error)
{
    GElf_Ehdr header;

    if (elf_version(EV_CURRENT) == EV_NONE)
        return gt_error_set(error, "%s: libelf does not work here", path);
    cubin->elf = elf_memory(cubin->bytes, cubin->length);
    if (cubin->elf == NULL || gelf_getehdr(cubin->elf, &header) == NULL || gelf_getclass(cubin->elf) != ELFCLASS64)
        return gt_error_set(error, "%s: not a cubin (a 64-bit ELF file)", path);
    if (header.e_machine != MACHINE_CUDA)
        return gt_error_set(error, "%s: an ELF file for another machine (number %u), not a cubin", path,
                            (unsigned)header.e_machine);
    if (!is_whole(cubin->elf, &header, cubin->length) || elf_getshdrstrndx(cubin->elf, &cubin->names) != 0)
        return gt_error_set(error, "%s: the cubin is cut off or broken; cut it out of the report again", path);
    cubin->architecture =
        header.e_ident[EI_OSABI] == OSABI_CUDA_V2 ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
    return 0;
}

struct gt_cubin *gt_cubin_of(const void *bytes, size_t length, const char *name, struct gt_error *error)
{
    struct gt_cubin *cubin = gt_calloc(1, sizeof *cubin);

    cubin->bytes = gt_realloc(NULL, length, 1);
    cubin->length = length;
    memcpy(cubin->bytes, bytes, length);
    if (open_elf(cubin, name, error) == 0)
        return cubin;
    gt_cubin_close(cubin);
    return NULL;
}

struct gt_cubin *gt_cubin_open(const char *path, struct gt_error *error)
{
    struct gt_cubin *cubin = gt_calloc(1, sizeof *cubin);

    if (read_whole(cubin, path, error) == 0 && open_elf(cubin, path, error) == 0)
        return cubin;
    gt_cubin_close(cubin);
    return NULL;
}

void gt_cubin_close(struct gt_cubin *cubin)
{
    if (cubin == NULL)
        return;
    elf_end(cubin->elf);
    free(cubin->bytes);
    free(cubin);
}

void gt_cubin_each(const struct gt_cubin *cubin, gt_cubin_visit *visit, void *user)
{
    static const char prefix[] = ".text.";
    Elf_Scn *scn = NULL;

    while ((scn = elf_nextscn(cubin->elf, scn)) != NULL) {
        struct gt_cubin_code code = { .architecture = cubin->architecture };
        const char *name;
        GElf_Shdr section;

        if (gelf_getshdr(scn, &section) == NULL || section.sh_type != SHT_PROGBITS)
            continue;
        name = elf_strptr(cubin->elf, cubin->names, section.sh_name);
        if (name == NULL || strncmp(name, prefix, sizeof prefix - 1) != 0)
            continue;
        code.bytes = (const unsigned char *)cubin->bytes + section.sh_offset;
        code.length = section.sh_size;
        visit(user, name + sizeof prefix - 1, &code);
    }
}

void gt_sass_control(const unsigned char instruction[GT_SASS_BYTES], struct gt_sass_control *control)
{
    uint64_t high = 0;

    for (int i = GT_SASS_BYTES - 1; i >= GT_SASS_BYTES / 2; i--)
        high = high << 8 | instruction[i];
    gt_sass_control_unpack((uint32_t)(high >> (CONTROL_BIT - 64)) & ((1u << CONTROL_BITS) - 1), control);
}

uint32_t gt_sass_control_pack(const struct gt_sass_control *control)
{
    return control->stall_cycles | (uint32_t)control->yield << 4 | (uint32_t)control->write_barrier << 5 |
           (uint32_t)control->read_barrier << 8 | (uint32_t)control->wait_mask << 11 | (uint32_t)control->reuse << 17;
}

void gt_sass_control_unpack(uint32_t packed, struct gt_sass_control *control)
{
    *control = (struct gt_sass_control){
        .stall_cycles = packed & 15,
        .yield = packed >> 4 & 1,
        .write_barrier = packed >> 5 & 7,
        .read_barrier = packed >> 8 & 7,
        .wait_mask = packed >> 11 & 63,
        .reuse = packed >> 17 & 15,
    };
}
