/* code.c - the machine code of a folder's cubins, by kernel name, and its match with source pages. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "traces/import/warnings.h"
#include "traces/ncu/internal.h"

struct kernel_code {
    UT_hash_handle hh;
    struct kernel_code *next;   /* of the same name, in another cubin */
    const char *name;
    struct gt_cubin_code code;
};

struct gt_ncu_code {
    struct gt_cubin **cubins;
    uint32_t count;
    struct kernel_code *kernels;
};

static void add_kernel(void *user, const char *name, const struct gt_cubin_code *code)
{
    struct gt_ncu_code *all = user;
    struct kernel_code *added = gt_calloc(1, sizeof *added), *found;

    added->name = name;
    added->code = *code;
    HASH_FIND_STR(all->kernels, name, found);
    if (found == NULL) {
        HASH_ADD_KEYPTR(hh, all->kernels, added->name, strlen(name), added);
        return;
    }
    added->next = found->next;
    found->next = added;
}

static int is_cubin(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 6 && strcmp(entry->d_name + length - 6, ".cubin") == 0;
}

struct gt_ncu_code *gt_ncu_code_open(const char *folder, struct gt_workload *workload, struct gt_error *error)
{
    struct gt_ncu_code *code = gt_calloc(1, sizeof *code);
    struct dirent **entries;
    int count = scandir(folder, &entries, is_cubin, alphasort);
    struct gt_error wrong;

    if (count < 0) {
        gt_error_set(error, "%s: %s", folder, strerror(errno));
        free(code);
        return NULL;
    }
    code->cubins = gt_calloc((unsigned long long)count + 1, sizeof *code->cubins);
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        struct gt_cubin *cubin;

        if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
            gt_bug("no memory for a file name");
        cubin = gt_cubin_open(path, &wrong);
        if (cubin == NULL)
            gt_import_warn_text(workload, "cubins-unreadable", 1, wrong.text);
        else
            gt_cubin_each(code->cubins[code->count++] = cubin, add_kernel, code);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return code;
}

void gt_ncu_code_free(struct gt_ncu_code *code)
{
    struct kernel_code *kernel, *next;

    if (code == NULL)
        return;
    HASH_ITER(hh, code->kernels, kernel, next) {
        HASH_DEL(code->kernels, kernel);
        while (kernel != NULL) {
            struct kernel_code *same = kernel->next;

            free(kernel);
            kernel = same;
        }
    }
    for (uint32_t i = 0; i < code->count; i++)
        gt_cubin_close(code->cubins[i]);
    free(code->cubins);
    free(code);
}

/* The mnemonics whose place in the code shows that it is the code of the page: bits 0-11 of the encoding. */
static const struct { const char *mnemonic; uint16_t bits; } landmarks[] = {
    { "EXIT", 0x94d }, { "NOP", 0x918 }, { "BSYNC", 0x941 },
};

/* Is the code at each landmark what the page says, and nowhere else? */
static bool is_same_code(const struct gt_cubin_code *code, const struct gt_ncu_source *source)
{
    if (code->length / GT_SASS_BYTES < source->count)
        return false;
    for (uint32_t i = 0; i < source->count; i++) {
        const unsigned char *bytes = code->bytes + (size_t)i * GT_SASS_BYTES;
        const char *text = source->rows[i].text;
        uint16_t bits = (uint16_t)((bytes[0] | bytes[1] << 8) & 0xfff);

        if (*text == '@')
            text += strcspn(text, " ") + (strchr(text, ' ') != NULL);
        for (size_t l = 0; l < sizeof landmarks / sizeof landmarks[0]; l++) {
            size_t length = strlen(landmarks[l].mnemonic);
            bool said = strncmp(text, landmarks[l].mnemonic, length) == 0 &&
                        (text[length] == '\0' || text[length] == ' ' || text[length] == '.');

            if (said != (bits == landmarks[l].bits))
                return false;
        }
    }
    return true;
}

int gt_ncu_code_fill(const struct gt_ncu_code *code, const char *name, uint32_t architecture,
                     struct gt_ncu_source *source, struct gt_error *error)
{
    const struct kernel_code *found, *other = NULL;

    HASH_FIND_STR(code->kernels, name, found);
    if (found == NULL)
        return gt_error_set(error, "no cubin holds code for %.200s", name);
    for (; found != NULL; found = found->next) {
        if (architecture != 0 && found->code.architecture != architecture)
            other = found;
        else if (is_same_code(&found->code, source))
            break;
    }
    if (found == NULL && other != NULL)
        return gt_error_set(error, "the code for %.200s is for sm_%u, the launch was on sm_%u", name,
                            other->code.architecture, architecture);
    if (found == NULL)
        return gt_error_set(error, "the code for %.200s in the cubins is not what its source page shows",
                            name);
    for (uint32_t i = 0; i < source->count; i++) {
        struct gt_sass_control control;

        gt_sass_control(found->code.bytes + (size_t)i * GT_SASS_BYTES, &control);
        source->rows[i].control = gt_sass_control_pack(&control);
    }
    return 0;
}
