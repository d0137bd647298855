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

static uint32_t wide_name(const wchar_t *text)
{
    char bytes[GT_RECORDED_TEXT_BYTES] = "";

    if (text == NULL || wcstombs(bytes, text, sizeof bytes - 1) == (size_t)-1)
        return 0;
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

/* How deep ranges of each domain are open does not matter: a pop ends the last push of its thread and domain. */
static int push(uint32_t domain, uint32_t name, const char *text)
{
    write_range(GT_NVTX_PUSH, name, domain, domain);
    if (text != NULL)
        gt_control_range(text, true);
    return 0;
}

static int pop(uint32_t domain)
{
    write_range(GT_NVTX_POP, 0, domain, domain);
    gt_control_range(NULL, false);
    return 0;
}

static nvtxRangeId_t start(uint32_t domain, uint32_t name)
{
    uint64_t id = atomic_fetch_add(&ranges_started, 1) + 1;

    write_range(GT_NVTX_START, name, domain, id);
    return id;
}

static const char *ascii_text(const nvtxEventAttributes_t *attributes)
{
    return attributes != NULL && attributes->messageType == NVTX_MESSAGE_TYPE_ASCII ? attributes->message.ascii
                                                                                    : NULL;
}

static int NVTX_API push_ascii(const char *text)
{
    return push(0, gt_control_open() == 0 ? gt_writer_name(text) : 0, text);
}

static int NVTX_API push_wide(const wchar_t *text)
{
    return push(0, gt_control_open() == 0 ? wide_name(text) : 0, NULL);
}

static int NVTX_API push_ex(const nvtxEventAttributes_t *attributes)
{
    return push(0, gt_control_open() == 0 ? message_name(attributes) : 0, ascii_text(attributes));
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
}

static int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    return push(of_handle(domain), gt_control_open() == 0 ? message_name(attributes) : 0, ascii_text(attributes));
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
