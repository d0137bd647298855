/* code.c - the machine code of a folder's cubins, by kernel name, and its match with source pages. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "traces/import/warnings.h"
#include "traces/names/demangle.h"
#include "traces/ncu/internal.h"

struct kernel_code {
    UT_hash_handle hh;
    struct kernel_code *next; /* of the same name, in another cubin */
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
    HASH_ITER(hh, code->kernels, kernel, next)
    {
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

enum { OPERATIONS = 1 << 12, FILLING = 0x918 /* NOP */ };

/* The operation of instruction `i`: bits 0-11 of its encoding. */
static uint16_t bits_of(const struct gt_cubin_code *code, size_t i)
{
    const unsigned char *bytes = code->bytes + i * GT_SASS_BYTES;

    return (uint16_t)((bytes[0] | bytes[1] << 8) & (OPERATIONS - 1));
}

/* Behind the guard: "@!P0 BRA 0x10". */
static const char *mnemonic_of(const char *text)
{
    return *text == '@' ? text + strcspn(text, " ") + (strchr(text, ' ') != NULL) : text;
}

/* The mnemonics whose place in the code shows that it is the code of the page: bits 0-11 of the encoding. */
/* clang-format off */
static const struct { const char *mnemonic; uint16_t bits; } landmarks[] = {
    { "EXIT", 0x94d }, { "NOP", 0x918 }, { "BSYNC", 0x941 },
};
/* clang-format on */

/* Is the code at each landmark what the page says, and nowhere else? */
static bool is_same_code(const struct gt_cubin_code *code, const struct gt_ncu_source *source)
{
    if (code->length / GT_SASS_BYTES < source->count)
        return false;
    for (uint32_t i = 0; i < source->count; i++) {
        const char *text = mnemonic_of(source->rows[i].text);
        uint16_t bits = bits_of(code, i);

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

/* What stands behind the page's instructions is there to fill the section up. */
static bool is_filled_up(const struct gt_cubin_code *code, uint32_t from)
{
    for (size_t i = from; i < code->length / GT_SASS_BYTES; i++)
        if (bits_of(code, i) != FILLING)
            return false;
    return true;
}

/* Where no name leads to it, more has to fit: the page is the whole code, and wherever the code has the same
 * operation the page has the same mnemonic. */
static bool is_surely_same_code(const struct gt_cubin_code *code, const struct gt_ncu_source *source)
{
    const char *texts[OPERATIONS] = { NULL };

    if (!is_same_code(code, source) || !is_filled_up(code, source->count))
        return false;
    for (uint32_t i = 0; i < source->count; i++) {
        const char *text = mnemonic_of(source->rows[i].text), **known = &texts[bits_of(code, i)];
        size_t length = strcspn(text, " .");

        if (*known == NULL)
            *known = text;
        else if (strcspn(*known, " .") != length || strncmp(*known, text, length) != 0)
            return false;
    }
    return true;
}

bool gt_ncu_names_agree(const char *one, const char *other)
{
    char *first, *second;
    bool agree;

    if (strcmp(one, other) == 0)
        return true;
    if (strncmp(one, "_Z", 2) == 0 && strncmp(other, "_Z", 2) == 0)
        return false;
    first = gt_base_name(one);
    second = gt_base_name(other);
    agree = strcmp(first, second) == 0;
    free(first);
    free(second);
    return agree;
}

/* The code of that very name; NULL with why not. */
static const struct kernel_code *find_by_name(const struct kernel_code *named, uint32_t architecture,
                                              const struct gt_ncu_source *source, bool surely, struct gt_error *error)
{
    const struct kernel_code *found = named, *other = NULL;

    for (; found != NULL; found = found->next) {
        if (architecture != 0 && found->code.architecture != architecture)
            other = found;
        else if (surely ? is_surely_same_code(&found->code, source) : is_same_code(&found->code, source))
            return found;
    }
    if (other != NULL)
        gt_error_set(error, "the machine code of %.200s is for sm_%u, but the launch ran on sm_%u", named->name,
                     other->code.architecture, architecture);
    else
        gt_error_set(error, "the machine code of %.200s in the cubins differs from its source page", named->name);
    return NULL;
}

static bool is_copy(const struct gt_cubin_code *one, const struct gt_cubin_code *other)
{
    return one->length == other->length && memcmp(one->bytes, other->bytes, one->length) == 0;
}

/* The code that the page shows, for a name that is not as the cubins have it: of several kernels of the same
 * shape that whose name agrees.  NULL with why not. */
static const struct kernel_code *find_by_code(const struct gt_ncu_code *code, const char *name, uint32_t architecture,
                                              const struct gt_ncu_source *source, struct gt_error *error)
{
    const struct kernel_code *found[2] = { NULL, NULL }; /* of another name, of one that agrees */
    bool several[2] = { false, false };

    for (const struct kernel_code *first = code->kernels; first != NULL; first = first->hh.next) {
        bool agrees = gt_ncu_names_agree(first->name, name);

        for (const struct kernel_code *kernel = first; kernel != NULL; kernel = kernel->next) {
            if ((architecture != 0 && kernel->code.architecture != architecture) ||
                !is_surely_same_code(&kernel->code, source))
                continue;
            several[agrees] |= found[agrees] != NULL && !is_copy(&found[agrees]->code, &kernel->code);
            found[agrees] = kernel;
        }
    }
    for (int agrees = 1; agrees >= 0; agrees--)
        if (found[agrees] != NULL && !several[agrees])
            return found[agrees];
    gt_error_set(error,
                 several[0] || several[1] ? "the name %.200s matches several kernels of the cubins; export the pages "
                                            "with --print-kernel-base mangled"
                                          : "no cubin contains the machine code of %.200s",
                 name);
    return NULL;
}

int gt_ncu_code_fill(const struct gt_ncu_code *code, const char *name, uint32_t architecture,
                     struct gt_ncu_source *source, struct gt_error *error)
{
    const struct kernel_code *found;
    bool agree = source->kernel == NULL || gt_ncu_names_agree(source->kernel, name);

    HASH_FIND_STR(code->kernels, name, found);
    found = found != NULL ? find_by_name(found, architecture, source, !agree, error)
                          : find_by_code(code, name, architecture, source, error);
    if (found == NULL)
        return -1;
    for (uint32_t i = 0; i < source->count; i++) {
        struct gt_sass_control control;

        gt_sass_control(found->code.bytes + (size_t)i * GT_SASS_BYTES, &control);
        source->rows[i].control = gt_sass_control_pack(&control);
    }
    return 0;
}
