/* inject.c - what the driver calls when it has loaded the library that CUDA_INJECTION64_PATH names. */
#include <string.h>

#include "validate/record/internal.h"

static CUpti_SubscriberHandle subscriber;

/* CUPTI has one user a process. */
static void say_why(CUptiResult result, const char *other)
{
    bool named = *other != '\0' && strstr(other, "<not provided>") == NULL; /* as CUPTI calls those without a name */
    const char *text = NULL;

    gt_api.cuptiGetResultString(result, &text);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        gt_writer_problem("another profiler%s%s holds CUPTI, which knows only one a process: record without it",
                          named ? ", " : "", named ? other : "");
    else
        gt_writer_problem("CUPTI cannot be used: %s", text != NULL ? text : "unknown error");
}

static bool subscribe(void)
{
    char other[128] = "";
    uint8_t zeroed = 1; /* else CUPTI writes zeros into each buffer, within the program's calls */
    size_t bytes = sizeof zeroed;
    CUpti_SubscriberParams parameters;
    CUptiResult result;

    memset(&parameters, 0, sizeof parameters);
    parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    parameters.subscriberName = "gridtide record";
    parameters.oldSubscriberName = other;
    parameters.oldSubscriberSize = sizeof other;
    result = gt_api.cuptiSubscribe_v2(&subscriber, gt_calls_take, NULL, &parameters);
    other[sizeof other - 1] = '\0';
    if (result == CUPTI_SUCCESS)
        result = gt_api.cuptiActivityRegisterTimestampCallback(gt_writer_now_ns);
    if (result == CUPTI_SUCCESS) {
        gt_api.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &zeroed);
        result = gt_api.cuptiActivityRegisterCallbacks(gt_activities_give, gt_activities_take);
    }
    if (result != CUPTI_SUCCESS)
        say_why(result, other);
    return result == CUPTI_SUCCESS;
}

/* Whatever goes wrong, the program itself goes on. */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
    const char *missing;

    if (gt_control_open() != 0)
        return 1;
    missing = gt_api_open();
    if (missing != NULL) {
        gt_writer_problem("there is no %s", missing);
        return 1;
    }
    if (!subscribe())
        return 1;
    gt_calls_enable(subscriber);
    gt_api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
    gt_api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                               CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED);
    if (gt_control_begin() != 0)
        gt_writer_problem("the recorder could not start its thread");
    return 1;
}
