/* nvtx.c - NVTX ranges, straight from the program (NVTX_INJECTION64_PATH names this library). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <nvtx3/nvToolsExt.h>

#include "validate/record/internal.h"

static _Atomic uint64_t ranges_started;

/* Domains and registered strings are numbers of names in place of pointers. */
static void *as_handle(uint32_t name)
{
    return (void *)(uintptr_t)name;
}

static uint32_t of_handle(const void *handle)
{
    return (uint32_t)(uintptr_t)handle;
}

/* As UTF-8, whatever the program's locale is: wide characters are numbers of Unicode on Linux. Returns how many bytes. */
static size_t put_utf8(uint32_t character, char *bytes)
{
    static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    size_t count = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;

    for (size_t i = count - 1; i > 0; i--, character >>= 6)
        bytes[i] = (char)(0x80 | (character & 0x3f));
    bytes[0] = (char)(lead[count > 1 ? count : 0] | character);
    return count;
}

static uint32_t wide_name(const wchar_t *text)
{
    char bytes[GT_RECORDED_TEXT_BYTES + 1];
    size_t used = 0;

    for (; text != NULL && *text != L'\0' && used + 4 < sizeof bytes; text++) {
        uint32_t character = (uint32_t)*text;

        if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
            character = '?';
        used += put_utf8(character, bytes + used);
    }
    bytes[used] = '\0';
    return gt_writer_name(bytes);
}

static uint32_t message_name(const nvtxEventAttributes_t *attributes)
{
    if (attributes == NULL)
        return 0;
    switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII: return gt_writer_name(attributes->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE: return wide_name(attributes->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: return of_handle(attributes->message.registered);
    default: return 0;
    }
}

static void write_range(enum gt_recorded_range_what what, uint32_t name, uint32_t domain, uint64_t id)
{
    struct gt_record_range *record;
    uint64_t thread, time_ns = gt_writer_now_ns();

    if (gt_control_open() != 0)
        return;
    thread = gt_writer_thread();
    record = gt_writer_begin(GT_RECORDED_RANGE, sizeof *record);
    if (record == NULL)
        return;
    record->time_ns = time_ns;
    record->thread = thread;
    record->id = id;
    record->name = name;
    record->domain = domain;
    record->what = what;
    gt_writer_end(record);
}

/* The wanted range that is open on this thread: of which domain, and how many of that domain are open in it. */
static _Thread_local struct {
    bool open;
    uint32_t domain, inside;
} wanted;

/* How deep ranges of each domain are open does not matter: a pop ends the last push of its thread and domain. */
static int push(uint32_t domain, uint32_t name)
{
    write_range(GT_NVTX_PUSH, name, domain, domain);
    if (wanted.open)
        wanted.inside += wanted.domain == domain;
    else if (gt_control_wants(domain, name)) {
        wanted.open = true;
        wanted.domain = domain;
        wanted.inside = 0;
        gt_control_range(true);
    }
    return 0;
}

static int pop(uint32_t domain)
{
    write_range(GT_NVTX_POP, 0, domain, domain);
    if (wanted.open && wanted.domain == domain && wanted.inside-- == 0) {
        wanted.open = false;
        gt_control_range(false);
    }
    return 0;
}

/* The number's lowest bit says whether it is a wanted one: its end has nothing but the number. */
static nvtxRangeId_t start(uint32_t domain, uint32_t name)
{
    bool is_wanted = gt_control_wants(domain, name);
    uint64_t id = (atomic_fetch_add(&ranges_started, 1) + 1) << 1 | is_wanted;

    write_range(GT_NVTX_START, name, domain, id);
    if (is_wanted)
        gt_control_range(true);
    return id;
}

static int NVTX_API push_ascii(const char *text)
{
    return push(0, gt_control_open() == 0 ? gt_writer_name(text) : 0);
}

static int NVTX_API push_wide(const wchar_t *text)
{
    return push(0, gt_control_open() == 0 ? wide_name(text) : 0);
}

static int NVTX_API push_ex(const nvtxEventAttributes_t *attributes)
{
    return push(0, gt_control_open() == 0 ? message_name(attributes) : 0);
}

static int NVTX_API pop_plain(void)
{
    return pop(0);
}

static nvtxRangeId_t NVTX_API start_ascii(const char *text)
{
    return start(0, gt_control_open() == 0 ? gt_writer_name(text) : 0);
}

static nvtxRangeId_t NVTX_API start_wide(const wchar_t *text)
{
    return start(0, gt_control_open() == 0 ? wide_name(text) : 0);
}

static nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t *attributes)
{
    return start(0, gt_control_open() == 0 ? message_name(attributes) : 0);
}

static void NVTX_API end_range(nvtxRangeId_t id)
{
    write_range(GT_NVTX_END, 0, 0, id);
    if (id & 1)
        gt_control_range(false);
}

static int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    return push(of_handle(domain), gt_control_open() == 0 ? message_name(attributes) : 0);
}

static int NVTX_API domain_pop(nvtxDomainHandle_t domain)
{
    return pop(of_handle(domain));
}

static nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    return start(of_handle(domain), gt_control_open() == 0 ? message_name(attributes) : 0);
}

static void NVTX_API domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    (void)domain;
    end_range(id);
}

static nvtxStringHandle_t NVTX_API register_ascii(nvtxDomainHandle_t domain, const char *text)
{
    (void)domain;
    return gt_control_open() == 0 ? as_handle(gt_writer_name(text)) : NULL;
}

static nvtxStringHandle_t NVTX_API register_wide(nvtxDomainHandle_t domain, const wchar_t *text)
{
    (void)domain;
    return gt_control_open() == 0 ? as_handle(wide_name(text)) : NULL;
}

static nvtxDomainHandle_t NVTX_API create_ascii(const char *text)
{
    return gt_control_open() == 0 ? as_handle(gt_writer_name(text)) : NULL;
}

static nvtxDomainHandle_t NVTX_API create_wide(const wchar_t *text)
{
    return gt_control_open() == 0 ? as_handle(wide_name(text)) : NULL;
}

static void NVTX_API name_thread(uint32_t thread, const char *text)
{
    if (gt_control_open() == 0)
        gt_writer_name_thread(thread, text);
}

/* The table's slots hold functions of many types. */
typedef void (*any_function)(void);
struct slot {
    unsigned number;
    any_function function;
};
static const struct slot core[] = {
    { NVTX_CBID_CORE_RangePushA, (any_function)push_ascii },
    { NVTX_CBID_CORE_RangePushW, (any_function)push_wide },
    { NVTX_CBID_CORE_RangePushEx, (any_function)push_ex },
    { NVTX_CBID_CORE_RangePop, (any_function)pop_plain },
    { NVTX_CBID_CORE_RangeStartA, (any_function)start_ascii },
    { NVTX_CBID_CORE_RangeStartW, (any_function)start_wide },
    { NVTX_CBID_CORE_RangeStartEx, (any_function)start_ex },
    { NVTX_CBID_CORE_RangeEnd, (any_function)end_range },
    { NVTX_CBID_CORE_NameOsThreadA, (any_function)name_thread },
};
static const struct slot core2[] = {
    { NVTX_CBID_CORE2_DomainRangePushEx, (any_function)domain_push },
    { NVTX_CBID_CORE2_DomainRangePop, (any_function)domain_pop },
    { NVTX_CBID_CORE2_DomainRangeStartEx, (any_function)domain_start },
    { NVTX_CBID_CORE2_DomainRangeEnd, (any_function)domain_end },
    { NVTX_CBID_CORE2_DomainRegisterStringA, (any_function)register_ascii },
    { NVTX_CBID_CORE2_DomainRegisterStringW, (any_function)register_wide },
    { NVTX_CBID_CORE2_DomainCreateA, (any_function)create_ascii },
    { NVTX_CBID_CORE2_DomainCreateW, (any_function)create_wide },
};

static void fill(const NvtxExportTableCallbacks *callbacks, NvtxCallbackModule module, const struct slot *slots,
                 size_t count)
{
    NvtxFunctionTable table = NULL;
    unsigned size = 0;

    if (!callbacks->GetModuleFunctionTable(module, &table, &size) || table == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        if (slots[i].number < size && table[slots[i].number] != NULL)
            memcpy(table[slots[i].number], &slots[i].function, sizeof slots[i].function);
}

/* NVTX calls it in the first range of each library that has ranges. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
    const NvtxExportTableCallbacks *callbacks = get_table != NULL ? get_table(NVTX_ETID_CALLBACKS) : NULL;

    if (callbacks == NULL || callbacks->struct_size < sizeof *callbacks)
        return 0;
    fill(callbacks, NVTX_CB_MODULE_CORE, core, sizeof core / sizeof core[0]);
    fill(callbacks, NVTX_CB_MODULE_CORE2, core2, sizeof core2 / sizeof core2[0]);
    return 1;
}
