/* api.h - the functions of CUPTI and of the driver that the recorder calls, found at run time.
 *
 * The recorder is loaded into programs of others: it must start where a function, or all of CUPTI, is missing.
 */
#ifndef GRIDTIDE_VALIDATE_RECORD_API_H
#define GRIDTIDE_VALIDATE_RECORD_API_H

#include <cuda.h>
#include <cupti.h>

/* clang-format off */
#define GT_CUPTI_FUNCTIONS(F) \
    F(cuptiActivityRegisterTimestampCallback) F(cuptiActivityRegisterCallbacks) F(cuptiActivityEnable) \
    F(cuptiActivityDisable) F(cuptiActivitySetAttribute) F(cuptiActivityFlushAll) F(cuptiActivityGetNextRecord) \
    F(cuptiActivityGetNumDroppedRecords) F(cuptiGetResultString) F(cuptiGetGraphNodeId) F(cuptiGetGraphId) \
    F(cuptiGetGraphExecId) F(cuptiGetStreamIdEx) F(cuptiGetContextId) F(cuptiGetDeviceId) F(cuptiSubscribe_v2) \
    F(cuptiEnableCallback) F(cuptiGetCallbackName)
/* Absent from older drivers, or called by another version's name: each is asked for before its use. */
#define GT_DRIVER_FUNCTIONS(F) \
    F(cuFuncGetParamInfo) F(cuFuncGetName) F(cuKernelGetParamInfo) F(cuKernelGetName) F(cuStreamGetFlags) \
    F(cuStreamGetPriority) F(cuStreamIsCapturing) F(cuGraphGetNodes) F(cuGraphGetEdges) F(cuGraphNodeGetType) \
    F(cuGraphKernelNodeGetParams) F(cuGraphKernelNodeGetAttribute) F(cuGraphMemcpyNodeGetParams) \
    F(cuGraphMemsetNodeGetParams) F(cuGraphChildGraphNodeGetGraph) F(cuDeviceGet) F(cuDeviceGetName) \
    F(cuDeviceGetUuid) F(cuDeviceGetAttribute)
/* clang-format on */

struct gt_recorder_api {
#define GT_MEMBER(name) __typeof__(&name) name;
    GT_CUPTI_FUNCTIONS(GT_MEMBER)
    GT_DRIVER_FUNCTIONS(GT_MEMBER)
#undef GT_MEMBER
};
extern struct gt_recorder_api gt_api;

/* Find them. Returns NULL, or what is missing. */
const char *gt_api_open(void);

#endif
