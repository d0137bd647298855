/* warnings.c - the table of warnings. */
#include "traces/import/warnings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINETO_SYNCS                                                                                                \
    "profile with experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True); where " \
    "that was so, record with Nsight Systems"
#define NSYS_EVENTS "record with nsys profile --trace=cuda --cuda-event-trace=true"
#define NSYS_AGAIN  "export the report again with the nsys that recorded it"
#define NAME_DEVICE "name the GPU with gridtide run --device NAME"
#define NCU_AGAIN   "profile it again with ncu --set full"

const struct gt_warning_kind gt_warning_kinds[] = {
    { "accesses-unknown", NULL,
      "operations for which the execution trace does not state what they read and write: of "
      "graphs, of libraries' own calls, of operators without a schema",
      NULL },
    { "call-names-missing", NULL, "calls whose name is not in StringIds; they only take host time", NSYS_AGAIN },
    { "calls-missing", NULL,
      "operations without the call that submitted them; a call was added at each one's start, or "
      "before the calls of what its stream executed later",
      "record from before the first launch" },
    { "calls-missing", "kineto",
      "operations without the call that submitted them; a call was added at each one's start, or "
      "before the calls of what its stream executed later",
      "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] and begin while the GPU is idle "
      "(torch.cuda.synchronize())" },
    { "calls-missing", "nsys",
      "operations without the call that submitted them; a call was added at each one's start, or "
      "before the calls of what its stream executed later",
      "record with nsys profile --trace=cuda from the program's start, or begin while the GPU is idle" },
    { "calls-without-end", NULL,
      "calls that had not returned when the recording ended, or end before their start; taken to last no time",
      "let the program end before the recording does" },
    { "calls-without-operation", NULL,
      "launches, copies, memsets or host functions whose GPU part was not recorded (or is part "
      "of a graph); they only take host time",
      "let the GPU finish before the recording ends" },
    { "calls-without-operation", "kineto",
      "launches, copies, memsets or host functions whose GPU part was not recorded (or is part "
      "of a graph); they only take host time",
      "call torch.cuda.synchronize() before the profile ends" },
    { "clocks-apart", NULL,
      "recordings that share no collective with the others and do not say the time of day; they begin together",
      "record a step that all ranks take part in" },
    { "clocks-drift", NULL,
      "recordings whose clocks run faster or slower than the first rank's; their times were stretched so that "
      "collectives end at once",
      NULL },
    { "collectives-alone", NULL,
      "kernels of collectives whose other ranks' are not in the recording; they take as long as they were recorded "
      "to, waiting included",
      "record all ranks over the same steps and import them together: gridtide import RANK0 RANK1 ..." },
    { GT_WARNING_EXTRAPOLATED, NULL,
      "collectives of more GPUs than the device file has measured (collective.measured_ranks), or over slower links, "
      "without NVLink's multicast (NVLS); their times are extrapolated",
      "measure them with 'gridtide calibrate' on that many GPUs, or record the run there" },
    { GT_WARNING_CONTENTION, NULL,
      "kernels that would last less than an empty one (1.2 us) were it for what ran beside them in the recording; "
      "that was taken, and something else held them up",
      "give these kernels \"block_us\" in the trace, or record them on one stream" },
    { "copy-directions-unknown", NULL,
      "copies whose name does not state their direction; they are treated as device to device", NULL },
    { "copy-kinds-unknown", NULL, "copies of unknown kind; their direction was taken from the memories they join",
      NSYS_AGAIN },
    { "counts-differ", NULL, "the source page and the whole launch count differently",
      "profile a launch that runs alike each time, or take what it says with care" },
    { "cubins-unreadable", NULL, "cubins that cannot be read",
      "import the report itself (.ncu-rep), or copy it again" },
    { GT_WARNING_CONTRADICTING, NULL,
      "inferred dependencies were dropped because they contradict the recorded order; what waited for them starts as "
      "if "
      "it did not",
      "check that the recording's clocks agree and that it is complete: operations that start before their call, or "
      "calls that are missing, make such guesses wrong" },
    { "device-inconsistent", NULL, "the device block contradicts itself or leaves out too much to build a GPU of it",
      NAME_DEVICE },
    { "device-unknown", NULL, "the profile does not say what GPU it was recorded on", NAME_DEVICE },
    { "device-values-refused", NULL, "numbers of the device block that no GPU can have; they were left out",
      NAME_DEVICE },
    { "durations-unreadable", NULL, "events whose duration (dur) is missing or negative; 0 was taken",
      "let the profile end before it is exported" },
    { "event-queries-unknown", NULL, "event queries whose event was not recorded",
      "nothing that a profiler offers; add \"event\" to these calls in the trace" },
    { "event-records-unknown", NULL, "event records whose stream or event was not recorded",
      "add \"stream\" and \"event\" to these calls in the trace" },
    { "event-records-unknown", "kineto", "event records whose stream or event was not recorded", KINETO_SYNCS },
    { "event-records-unknown", "nsys", "event records whose stream or event was not recorded", NSYS_EVENTS },
    { "event-syncs-unknown", NULL, "event synchronisations whose event was not recorded",
      "add \"event\" to these calls in the trace" },
    { "event-syncs-unknown", "kineto", "event synchronisations whose event was not recorded", KINETO_SYNCS },
    { "event-syncs-unknown", "nsys", "event synchronisations whose event was not recorded", NSYS_EVENTS },
    { "event-waits-unknown", NULL, "stream waits whose stream or event was not recorded",
      "add \"stream\" and \"event\" to these calls in the trace" },
    { "event-waits-unknown", "kineto", "stream waits whose stream or event was not recorded", KINETO_SYNCS },
    { "event-waits-unknown", "nsys", "stream waits whose stream or event was not recorded", NSYS_EVENTS },
    { "flow-broken", NULL, "counts contradict the control flow", NCU_AGAIN },
    { "flow-too-large", NULL, "more control flow than can be rebuilt", NULL },
    { "gpu-shared", NULL, "somebody else used the GPU: measured times are not the trace's alone",
      "measure again when nobody else uses it" },
    { "graph-changes-unknown", NULL,
      "operations of executable graphs, or updates of them, whose accesses from then on are "
      "unknown",
      NULL },
    { "graph-conditions", NULL,
      "operations in the bodies of graphs' conditional nodes (IF, WHILE, SWITCH): they are played as often as they "
      "ran, and what "
      "waited for which in these launches is concluded from their times",
      NULL },
    { "graph-edges-unknown", NULL,
      "graph launches of several operations; which of them waited for which was not recorded, and is "
      "concluded from their times",
      "record with gridtide record, or add \"after\" to the nodes in the trace" },
    { "graph-edges-unknown", "record",
      "graph launches of several operations; which of them waited for which was not recorded, and is "
      "concluded from their times",
      "add \"after\" to the nodes in the trace" },
    { "graph-nodes-hidden", NULL, "graph launches recorded as a whole, each taken for one kernel of one block",
      "record with nsys profile --trace=cuda --cuda-graph-trace=node" },
    { "green-contexts", NULL,
      "operations in green contexts, which have a part of the GPU's SMs; they are simulated with all of them", NULL },
    { "groups-unnamed", NULL,
      "collectives whose group is not recorded; GPUs whose collectives end together are treated "
      "as a group",
      "record with PyTorch 2.2 or later" },
    { "launch-shapes-unknown", NULL, "sides of a grid or block that are missing or 0; 1 was taken",
      "record with a newer PyTorch" },
    { GT_WARNING_PENDING, NULL,
      "launches by blocks that failed with CUDA error 69 (cudaErrorLaunchPendingCountExceeded), because too many "
      "were "
      "pending; what they launch did not happen",
      "launch less at a time, or set device_launch.pending to what cudaLimitDevRuntimePendingLaunchCount is set to" },
    { GT_WARNING_DEPTH, NULL,
      "launches by blocks that failed with CUDA error 65 (cudaErrorLaunchMaxDepthExceeded), being nested too deep; "
      "what "
      "they launch did not happen",
      "launch less deep, or give device_launch.depth" },
    { "launches-unreadable", NULL, "rows of raw.csv that are no launch",
      "export it again with ncu -i REPORT --page raw --csv --print-kernel-base mangled" },
    { "launches-without-code", NULL, "launches whose machine code is not in the cubins",
      "import the report itself (.ncu-rep), which holds them" },
    { "launches-without-counts", NULL, "launches whose instructions were not counted",
      "profile with ncu --set full, and export with ncu -i REPORT --page source --print-source sass --csv "
      "--launch-skip N --launch-count 1" },
    { "names-missing", NULL, "kernels whose name is not in StringIds", NSYS_AGAIN },
    { "no-gpu-work", NULL, "the profile holds no kernel, copy or memset", "record the GPU's work too" },
    { "no-gpu-work", "kineto", "the profile holds no kernel, copy or memset",
      "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]" },
    { "no-gpu-work", "nsys", "the profile holds no kernel, copy or memset", "record with nsys profile --trace=cuda" },
    { "no-program", NULL, "launches of kernels that no profile has, by name and block: they last as measured",
      "profile these kernels with ncu --set full and give the imported report to --programs" },
    { "opcodes-unknown", NULL, "instructions that are not known; taken as simple ones", NULL },
    { "overlapping-calls", NULL, "calls of one thread overlapped without being nested; the earlier one was cut",
      NULL },
    { "priorities-clamped", NULL, "priorities of streams beyond 32 bits, which no stream has; the nearest was taken",
      "set \"priority\" of these streams in the trace" },
    { "priorities-out-of-range", NULL,
      "streams whose priority the device does not have; the nearest that it has was taken",
      "set \"priority\" of these streams from scheduling.priority_high (gridtide devices NAME) to 0" },
    { "priorities-unknown", NULL, "the profile does not say the priorities of streams: all are taken to be 0",
      "record with PyTorch of April 2026 or later or with Nsight Systems, or set \"priority\" of the streams in the "
      "trace" },
    { "ranges-unreadable", NULL,
      "operators, annotations or steps without a time or a name that can be read; they were left out",
      "record them again: the file is damaged there" },
    { "ranks-missing", NULL,
      "ranks of the job whose recordings are not given; collectives with them take as long as they were recorded to, "
      "waiting included",
      "name the recordings of all ranks" },
    { "ranks-on-other-gpus", NULL,
      "recordings of another kind of GPU than the first rank's; all are simulated as that one", NULL },
    { "recorder-problems", NULL, "what hindered the recorder", NULL },
    { "recording-cut-off", NULL,
      "processes whose end the recorder did not see (killed, or ended by _exit()); what they had not handed over is "
      "missing",
      "let them end by themselves" },
    { "records-dropped", NULL, "records that were dropped: there was no room for them",
      "record a part of the program (gridtide record --duration, --range)" },
    { "sizes-unknown", NULL, "copies or memsets without a number of bytes; 0 was used",
      "record with a newer PyTorch" },
    { "steps-differ", NULL,
      "recordings with fewer steps than others; collectives that only the others have wait for "
      "no other rank",
      "record the same steps of all ranks" },
    { "stream-queries-unknown", NULL, "stream queries whose stream was not recorded",
      "nothing that a profiler offers; add \"stream\" to these calls in the trace" },
    { "stream-syncs-unknown", NULL, "stream synchronisations whose stream was not recorded",
      "add \"stream\" to these calls in the trace" },
    { "stream-syncs-unknown", "kineto", "stream synchronisations whose stream was not recorded", KINETO_SYNCS },
    { "stream-syncs-unknown", "nsys", "stream synchronisations whose stream was not recorded",
      "record with nsys profile --trace=cuda from the program's start" },
    { "streams-taken-for-blocking", NULL,
      "streams that, by their times, wait for the default stream and it for them; how they were created was not "
      "recorded",
      "record with Nsight Systems, or set \"flags\" of these streams in the trace" },
    { GT_WARNING_MISSPELT, NULL, "fields one letter away from one that is known",
      "it was kept and means nothing: correct its name" },
    { "values-not-json", NULL, "NaN or inf where JSON wants a number; taken as not known", NULL },
    { "waits-left-out", NULL,
      "calls by which streams wait for values in memory or semaphores of other interfaces, write or signal these, or "
      "wait "
      "for all of a context; they are not played",
      NULL },
    { NULL, NULL, NULL, NULL },
};

static const struct gt_warning_kind *find(const struct gt_workload *workload, const char *kind)
{
    const struct gt_warning_kind *found = NULL;

    for (const struct gt_warning_kind *row = gt_warning_kinds; row->kind != NULL; row++) {
        if (strcmp(row->kind, kind) != 0)
            continue;
        if (row->source == NULL || (workload->source != NULL && strcmp(row->source, workload->source) == 0))
            found = row; /* that of a source stands below that of any */
    }
    if (found == NULL)
        gt_bug("no warning '%s' in the table", kind);
    return found;
}

void gt_import_warn_text(struct gt_workload *workload, const char *kind, uint64_t count, const char *text)
{
    const struct gt_warning_kind *row;
    char *whole = NULL;

    if (count == 0)
        return;
    for (uint32_t i = 0; i < workload->warning_count; i++) {
        if (strcmp(workload->warnings[i].kind, kind) == 0) {
            workload->warnings[i].count += count;
            return;
        }
    }
    row = find(workload, kind);
    if (asprintf(&whole, "%s%s%s", text != NULL ? text : row->text, row->remedy != NULL ? "; " : "",
                 row->remedy != NULL ? row->remedy : "") < 0)
        gt_bug("asprintf failed");
    gt_workload_warn(workload, kind, count, whole);
    free(whole);
}

void gt_import_warn(struct gt_workload *workload, const char *kind, uint64_t count)
{
    gt_import_warn_text(workload, kind, count, NULL);
}
