/* warnings.c - the table of warnings. */
#include "traces/import/warnings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINETO_SYNCS                                                                                                \
    "profile with experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True); if it " \
    "was set, record with Nsight Systems"
#define NSYS_EVENTS "record with nsys profile --trace=cuda --cuda-event-trace=true"
#define NSYS_AGAIN  "export the report again with the nsys that recorded it"
#define NAME_DEVICE "name the GPU with gridtide run --device NAME"
#define NCU_AGAIN   "profile it again with ncu --set full"

const struct gt_warning_kind gt_warning_kinds[] = {
    { "accesses-unknown", NULL,
      "operations with unknown accesses: the execution trace does not state what operations of graphs, of "
      "libraries' own calls, and of operators without a schema read and write",
      NULL },
    { "allocations-unreadable", NULL,
      "allocations of more memory than any GPU has, or frees of more than was allocated; they were ignored", NULL },
    { "blocks-missing", NULL, "thread blocks that the trace leaves out; they are taken to execute what the others do",
      "trace the whole grid: set no limit of thread blocks" },
    { "caches-modelled", NULL,
      "programs whose hit rates are those of a model of the caches of the device named: empty before each "
      "launch, blocks one after the other, each on the next SM, the warps of a block in turns",
      "import a profile by ncu --set full, which has measured ones" },
    { "call-names-missing", NULL, "calls whose name is not in StringIds; they only take host time", NSYS_AGAIN },
    { "calls-missing", NULL,
      "operations without the call that submitted them; a call was added at the start of each one, or before the "
      "calls of later work in its stream",
      "record from before the first launch" },
    { "calls-missing", "kineto",
      "operations without the call that submitted them; a call was added at the start of each one, or before the "
      "calls of later work in its stream",
      "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] and begin while the GPU is idle "
      "(torch.cuda.synchronize())" },
    { "calls-missing", "nsys",
      "operations without the call that submitted them; a call was added at the start of each one, or before the "
      "calls of later work in its stream",
      "record with nsys profile --trace=cuda from the program's start, or begin while the GPU is idle" },
    { "calls-without-end", NULL,
      "calls that had not returned when the recording ended, or that end before their start; they are treated as "
      "taking no time",
      "let the program end before the recording does" },
    { "calls-without-operation", NULL,
      "launches, copies, memsets or host functions whose GPU operation was not recorded (or was added to a "
      "graph); they only take host time",
      "let the GPU finish before the recording ends" },
    { "calls-without-operation", "kineto",
      "launches, copies, memsets or host functions whose GPU operation was not recorded (or was added to a "
      "graph); they only take host time",
      "call torch.cuda.synchronize() before the profile ends" },
    { "clocks-apart", NULL,
      "recordings that share no collective with the others and do not state the time of day; they are assumed to "
      "begin together",
      "record a step in which all ranks take part" },
    { "clocks-drift", NULL,
      "recordings whose clocks run faster or slower than the first rank's; their times were scaled such that "
      "collectives end at the same time",
      NULL },
    { "collectives-alone", NULL,
      "kernels of collectives without the kernels of the other ranks; they keep their recorded duration, "
      "including waiting",
      "record all ranks over the same steps and import them together: gridtide import RANK0 RANK1 ..." },
    { "collectives-alone", "chakra",
      "nodes of communication without those of the other ranks; they take their stated duration, else comm_size "
      "bytes over one link",
      "import the files of all ranks together: gridtide import FOLDER" },
    { GT_WARNING_EXTRAPOLATED, NULL,
      "collectives of more GPUs than the device file has measured (collective.measured_ranks), or over slower "
      "links, "
      "without NVLink's multicast (NVLS); their times are extrapolated",
      "measure them with 'gridtide calibrate' on this many GPUs, or record the run on them" },
    { GT_WARNING_CONTENTION, NULL,
      "kernels that, corrected for concurrent work in the recording, would be shorter than an empty kernel (1.2 "
      "us); they are treated as empty kernels, so something else delayed them",
      "give these kernels \"block_us\" in the trace, or record them on one stream" },
    { "control-guessed", NULL,
      "programs whose stall cycles and barriers the trace does not have; they are set as the operands need "
      "them, by the latencies of compute capability 9.0 on every GPU",
      "import a profile by ncu --set full, which has the compiler's" },
    { "copy-directions-unknown", NULL,
      "copies whose name does not state their direction; they are treated as device to device", NULL },
    { "copy-kinds-unknown", NULL,
      "copies of unknown kind; their direction follows from their source and destination memory", NSYS_AGAIN },
    { "counts-differ", NULL,
      "launches whose instruction counts differ between the source page and the launch's "
      "totals",
      "profile a launch that does the same work each time; otherwise results are uncertain" },
    { "cubins-unreadable", NULL, "cubins that cannot be read",
      "import the report itself (.ncu-rep), or copy it again" },
    { GT_WARNING_CONTRADICTING, NULL,
      "inferred dependencies were dropped because they contradict the recorded order; the operations that "
      "depended on them start without waiting",
      "check that the recording's clocks agree and that it is complete: operations that start before their call, "
      "and missing calls, cause wrong inferences" },
    { "device-inconsistent", NULL, "the device block is inconsistent or too incomplete to describe a GPU",
      NAME_DEVICE },
    { "device-unknown", NULL, "the profile does not name the GPU", NAME_DEVICE },
    { "device-values-refused", NULL, "invalid numbers in the device block; they were ignored", NAME_DEVICE },
    { "durations-unreadable", NULL, "events whose duration (dur) is missing or negative; it is treated as 0",
      "stop the profiler before the export" },
    { "early-starts", NULL,
      "kernels that started before the kernel ahead of them in their stream ended, and waited for its end "
      "(programmatic launches); "
      "they start with that end",
      NULL },
    { "event-queries-unknown", NULL, "event queries whose event was not recorded",
      "no profiler records this; add \"event\" to these calls in the trace" },
    { "event-records-unknown", NULL, "event records whose stream or event was not recorded",
      "add \"stream\" and \"event\" to these calls in the trace" },
    { "event-records-unknown", "kineto", "event records whose stream or event was not recorded", KINETO_SYNCS },
    { "event-records-unknown", "nsys", "event records whose stream or event was not recorded", NSYS_EVENTS },
    { "event-syncs-unknown", NULL, "event synchronizations whose event was not recorded",
      "add \"event\" to these calls in the trace" },
    { "event-syncs-unknown", "kineto", "event synchronizations whose event was not recorded", KINETO_SYNCS },
    { "event-syncs-unknown", "nsys", "event synchronizations whose event was not recorded", NSYS_EVENTS },
    { "event-waits-unknown", NULL, "stream waits whose stream or event was not recorded",
      "add \"stream\" and \"event\" to these calls in the trace" },
    { "event-waits-unknown", "kineto", "stream waits whose stream or event was not recorded", KINETO_SYNCS },
    { "event-waits-unknown", "nsys", "stream waits whose stream or event was not recorded", NSYS_EVENTS },
    { "flow-broken", NULL, "launches whose instruction counts contradict the control flow", NCU_AGAIN },
    { "flow-broken", "accelsim", "launches whose instruction counts contradict the control flow",
      "trace again: threads that ran on after the tracer stopped, or blocks that are missing, do this" },
    { "flow-too-large", NULL, "kernels with too much control flow to reconstruct", NULL },
    { GT_WARNING_UNMODELLED, NULL,
      "the recording is of a GPU of another maker than NVIDIA, of which there is no model: recorded durations are "
      "replayed; what would change them, and which kernels could run at once, is unknown",
      "ask it for what recorded durations answer: run, explain, stats, export; changes of whatif that need no "
      "model" },
    { "gpu-shared", NULL, "other programs used the GPU: measured times may include their work",
      "measure again while no other program uses it" },
    { "graph-changes-unknown", NULL,
      "operations of executable graphs, or updates of such graphs, whose accesses are unknown from then on", NULL },
    { "graph-conditions", NULL,
      "operations in the bodies of graphs' conditional nodes (IF, WHILE, SWITCH): they are simulated as often as "
      "they ran, and dependencies within these launches are inferred from times",
      NULL },
    { "graph-edges-unknown", NULL,
      "graph launches of several operations whose dependencies were not recorded; they are inferred from times",
      "record with gridtide record, or add \"after\" to the nodes in the trace" },
    { "graph-edges-unknown", "record",
      "graph launches of several operations whose dependencies were not recorded; they are inferred from times",
      "add \"after\" to the nodes in the trace" },
    { "graph-nodes-hidden", NULL, "graph launches recorded as a whole; each is treated as one kernel of one block",
      "record with nsys profile --trace=cuda --cuda-graph-trace=node" },
    { "graph-nodes-hidden", "xplane",
      "graph launches recorded as a whole; each is treated as one kernel of one block",
      "profile with XLA_FLAGS=--xla_gpu_enable_command_buffer= (no command buffers)" },
    { "green-contexts", NULL,
      "operations in green contexts whose SMs the recording does not state, or that are more than the GPU has; they "
      "are simulated with all SMs",
      "record with the driver of CUDA 12.5 or later" },
    { "groups-unnamed", NULL,
      "collectives whose process group was not recorded; GPUs whose collectives end together are treated as a "
      "group",
      "record with PyTorch 2.2 or later" },
    { "instructions-ambiguous", NULL,
      "executed instructions at an address where the kernel has another one, as of functions that it "
      "calls; they are counted as that one",
      NULL },
    { "l1-size-assumed", NULL,
      "programs for a GPU whose L1 and shared memory are not known by its compute capability; the model of caches "
      "assumes 256 KiB of both in an SM",
      NULL },
    { "launch-shapes-unknown", NULL, "grid or block dimensions that are missing or 0; they are treated as 1",
      "record with a newer PyTorch" },
    { "launch-shapes-unknown", "chakra",
      "kernels that do not state their grid and block; they are assumed to have one block of 256 threads on each "
      "second SM",
      "write the attributes \"grid\" and \"block\", three numbers each" },
    { "launch-shapes-unknown", "rpd", "grid or block dimensions that are missing or 0; they are treated as 1",
      "record from before the first launch, without graphs" },
    { GT_WARNING_PENDING, NULL,
      "device-side launches that failed with CUDA error 69 (cudaErrorLaunchPendingCountExceeded), because too "
      "many were pending; their kernels did not run",
      "reduce the number of pending launches, or set device_launch.pending to the program's "
      "cudaLimitDevRuntimePendingLaunchCount" },
    { GT_WARNING_DEPTH, NULL,
      "device-side launches that failed with CUDA error 65 (cudaErrorLaunchMaxDepthExceeded), because they were "
      "nested too deeply; their kernels did not run",
      "reduce the nesting depth, or set device_launch.depth" },
    { "launches-unreadable", NULL, "rows of raw.csv that do not describe a launch",
      "export it again with ncu -i REPORT --page raw --csv --print-kernel-base mangled" },
    { "launches-without-code", NULL, "launches whose machine code is not in the cubins",
      "import the report itself (.ncu-rep), which contains the cubins" },
    { "launches-without-counts", NULL, "launches whose instructions were not counted",
      "profile with ncu --set full, and export with ncu -i REPORT --page source --print-source sass --csv "
      "--launch-skip N --launch-count 1" },
    { "mig-documented", NULL,
      "processes on MIG instances: SMs as NVIDIA documents; memory, L2 cache and copy engines are shared as without "
      "MIG; "
      "nothing of it was measured",
      NULL },
    { "names-missing", NULL, "kernels whose name is not in StringIds", NSYS_AGAIN },
    { "no-gpu-plane", NULL,
      "the profile has no plane of a GPU (/device:GPU:N): the program ran on the CPU or a TPU, or the profiler could "
      "not "
      "use CUPTI; the trace holds only operators and annotations of the host",
      "record where jax.devices() or tf.config.list_physical_devices() names a GPU" },
    { "no-gpu-work", NULL, "the profile has no kernel, copy or memset", "record the GPU's work too" },
    { "no-gpu-work", "kineto", "the profile has no kernel, copy or memset",
      "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]" },
    { "no-gpu-work", "nsys", "the profile has no kernel, copy or memset", "record with nsys profile --trace=cuda" },
    { "no-program", NULL,
      "launches of kernels whose name and block size are in no profile: they keep their "
      "measured duration",
      "profile these kernels with ncu --set full and give the imported report to --programs" },
    { "node-parents-missing", "chakra",
      "control dependences on nodes that the file does not have (Chakra's converter removes some); they were left "
      "out",
      NULL },
    { "node-streams-unknown", "chakra",
      "nodes of the GPU that do not state their stream; compute nodes, memory nodes, each group's collectives and "
      "messages of "
      "each pair of ranks run on a stream each, one after the other",
      "write the attribute \"stream\"" },
    { "node-times-estimated", "chakra",
      "compute nodes without a duration; they take the roofline's time for num_ops and tensor_size on the trace's "
      "device: "
      "tensor cores with 16-bit numbers, or DRAM, at their peak",
      "write duration_micros" },
    { "node-times-missing", "chakra",
      "compute nodes of 0 microseconds without num_ops and tensor_size; they are assumed to take 1 ns",
      "write duration_micros; a duration of less than a microsecond is not 0" },
    { "opcodes-unknown", NULL, "unknown instructions; they are treated as simple ones", NULL },
    { "overlapping-calls", NULL,
      "calls of one thread that overlap without being nested; the earlier call was "
      "shortened",
      NULL },
    { "priorities-clamped", NULL, "stream priorities beyond 32 bits; the nearest 32-bit value is used",
      "set \"priority\" of these streams in the trace" },
    { "priorities-out-of-range", NULL,
      "streams whose priority the device does not support; the nearest supported priority is used",
      "set \"priority\" of these streams from scheduling.priority_high (gridtide devices NAME) to 0" },
    { "priorities-unknown", NULL, "the profile does not state stream priorities: all are treated as 0",
      "record with PyTorch of April 2026 or later or with Nsight Systems, or set \"priority\" of the streams in "
      "the "
      "trace" },
    { "priorities-unknown", "rocpd", "the profile does not state stream priorities: all are treated as 0",
      "set \"priority\" of the streams in the trace" },
    { "priorities-unknown", "rpd", "the profile does not state stream priorities: all are treated as 0",
      "set \"priority\" of the streams in the trace" },
    { "programs-apart", NULL,
      "kernels without machine code (--programs) that share a GPU with other programs: they are simulated as if "
      "these "
      "took no cache and no memory bandwidth from them",
      NULL },
    { "ranges-unreadable", NULL, "operators, annotations or steps without a readable time or name; they were ignored",
      "record them again: the file is damaged there" },
    { "ranks-missing", NULL,
      "ranks of the job without a recording; collectives with them keep their recorded duration, including "
      "waiting",
      "name the recordings of all ranks" },
    { "ranks-on-other-gpus", NULL,
      "recordings of another GPU model than the first rank's; all are simulated as the first rank's", NULL },
    { "recorder-problems", NULL, "problems of the recorder", NULL },
    { "recording-cut-off", NULL,
      "processes whose end the recorder did not see (killed, or ended by _exit()); records that they had not "
      "written yet are missing",
      "let them exit normally" },
    { "records-dropped", NULL, "records that were dropped, because buffers or files were full",
      "record a part of the program (gridtide record --duration, --range)" },
    { "resources-unreadable", NULL,
      "kernels with more registers or shared memory than any GPU has; they are treated as unknown",
      "trace again with a tracer built for this version of CUDA" },
    { "sizes-unknown", NULL, "copies or memsets of unknown size; it is treated as 0 bytes",
      "record with a newer PyTorch" },
    { "steps-differ", NULL,
      "recordings with fewer steps than others; collectives of the additional steps do not "
      "wait for them",
      "record the same steps of all ranks" },
    { "stream-queries-unknown", NULL, "stream queries whose stream was not recorded",
      "no profiler records this; add \"stream\" to these calls in the trace" },
    { "stream-syncs-unknown", NULL, "stream synchronizations whose stream was not recorded",
      "add \"stream\" to these calls in the trace" },
    { "stream-syncs-unknown", "kineto", "stream synchronizations whose stream was not recorded", KINETO_SYNCS },
    { "stream-syncs-unknown", "nsys", "stream synchronizations whose stream was not recorded",
      "record with nsys profile --trace=cuda from the program's start" },
    { "streams-taken-for-blocking", NULL,
      "streams treated as blocking, because their times show that they and the default stream wait for each "
      "other; the profile does not state how they were created",
      "record with Nsight Systems, or set \"flags\" of these streams in the trace" },
    { GT_WARNING_MISSPELT, NULL, "fields whose name differs by one letter from a known one",
      "correct the name: an unknown field is kept, but has no effect" },
    { "values-not-json", NULL, "NaN or inf instead of a JSON number; the value is treated as unknown", NULL },
    { "waits-left-out", NULL,
      "stream operations that wait for or write values in memory, wait for or signal external semaphores, or "
      "wait "
      "for a whole context; they are not simulated",
      NULL },
    { "waits-missing", NULL,
      "the profile has no event, wait or synchronization: streams wait for each other, and the host for the GPU, as "
      "long as they did "
      "in the recording",
      "record with Nsight Systems or gridtide record what such waits decide" },
    { "warps-missing", NULL,
      "warps without instructions in the thread blocks traced; they are taken to execute what the others do",
      "trace all warps of a block" },
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
