// How processes share a GPU: time slices, MPS, green contexts.  validate/recordings/sharing.txt sums up what it measured.
//
//   nvcc -arch=sm_90 -O3 -o sharing sharing.cu -lcuda
//   sharing pauses PROCESSES BLOCKS MS          each process runs one kernel of BLOCKS blocks; when a block did not run
//   sharing idle BLOCKS MS                      a kernel beside a process that has a context and nothing to do
//   sharing requests BLOCKS MS KERNEL_US GAP_US a kernel beside a process that asks for short ones, one after the other
//   sharing copies BLOCKS MS BYTES              a kernel beside a process that copies to the GPU
//   sharing sms                                 on which SMs a full grid runs
//   sharing green COUNT                         SMs of green contexts of at least COUNT SMs
//   sharing play FILE                           programs of several processes: lines "program PROCESSES", "PROCESS kernel BLOCKS US",
//                                               "PROCESS host US", "PROCESS sync"; alone first, then together
//   sharing partition BLOCKS_A US_A BLOCKS_B US_B REPEATS
//                                               a kernel now and then (process 1) beside another process' queue of
//                                               them: each block's SM, start, duration
// Prints CSV: what, process, numbers.  Times by %globaltimer, which all processes see alike, in microseconds.
#include "sharing.cuh"

constexpr int PAUSES = 4096, PAUSE_NS = 15000, LAUNCHES = 512, BLOCKS_NOTED = 1056;

struct Note { // of one block
    uint64_t start_ns, end_ns;
    uint32_t sm;
};

struct Partition { // what its two processes tell each other
    double alone_us[2];
    uint64_t first_ns; // of process 0's blocks
};
static Partition *partition_shared;

// Blocks that look at the clock for so long; the first one notes when it could not.
__global__ void watch(uint64_t ns, uint64_t *pauses, uint32_t *count)
{
    uint64_t start = global_ns(), last = start, now = start;

    while (now - start < ns) {
        now = global_ns();
        if (blockIdx.x == 0 && threadIdx.x == 0 && now - last > PAUSE_NS && *count < PAUSES) {
            pauses[2 * *count] = last;
            pauses[2 * *count + 1] = now;
            ++*count;
        }
        last = now;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        pauses[2 * PAUSES] = start;
        pauses[2 * PAUSES + 1] = now;
    }
}

__global__ void where(uint32_t *sms)
{
    uint32_t sm;
    asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
    atomicAdd(&sms[sm], 1);
    for (uint64_t start = global_ns(); global_ns() - start < 2000000;)
        ;
}

// As `work`; each block notes where and when it ran.
__global__ void work_noted(uint64_t rounds, float *out, Note *notes)
{
    float x = threadIdx.x;
    uint64_t start = global_ns();

    for (uint64_t i = 0; i < rounds; i++)
#pragma unroll
        for (int j = 0; j < 32; j++)
            x = x * 1.0001f + 0.5f;
    if (x == 1)
        *out = x;
    if (threadIdx.x == 0 && blockIdx.x < BLOCKS_NOTED) {
        uint32_t sm;
        asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
        notes[blockIdx.x] = { start, global_ns(), sm };
    }
}

static void watch_and_print(const char *what, int process, int blocks, double ms, cudaStream_t stream)
{
    uint64_t *pauses;
    uint32_t *count;

    CHECK(cudaMallocManaged(&pauses, (PAUSES + 1) * 2 * sizeof *pauses));
    CHECK(cudaMallocManaged(&count, sizeof *count));
    *count = 0;
    watch<<<blocks, 32, 0, stream>>>(1, pauses, count);
    CHECK(cudaDeviceSynchronize());
    *count = 0;
    meet(0, shared->arrived[63]);
    watch<<<blocks, 32, blocks > 1 ? SHARED_BYTES : 0, stream>>>((uint64_t)(ms * 1e6), pauses, count);
    CHECK(cudaStreamSynchronize(stream));
    meet(1, shared->arrived[63]);
    for (uint32_t i = 0; i < *count; i++)
        printf("%s,%d,%u,%.1f,%.1f,%.1f\n", what, process, i, (pauses[2 * i] - pauses[2 * PAUSES]) / 1e3,
               (pauses[2 * i + 1] - pauses[2 * i]) / 1e3,
               i > 0 ? (pauses[2 * i] - pauses[2 * i - 1]) / 1e3 : (pauses[0] - pauses[2 * PAUSES]) / 1e3);
    printf("%s-end,%d,%u,%.1f,%.1f,%llu\n", what, process, *count, (pauses[2 * PAUSES + 1] - pauses[2 * PAUSES]) / 1e3, 0.0,
           (unsigned long long)pauses[2 * PAUSES]);
}

static void requests(int process, double kernel_us, double gap_us, double ms)
{
    uint64_t *times;
    float *out;
    double began;

    CHECK(cudaMallocManaged(&times, 2 * sizeof *times));
    CHECK(cudaMalloc(&out, 4));
    work<<<1, 32>>>(1000, out, times, times + 1);
    CHECK(cudaDeviceSynchronize());
    meet(0, shared->arrived[63]);
    spin_us(20000);
    for (began = now_us(); now_us() - began < ms * 1000 - 40000;) {
        double start = now_us();
        times[0] = UINT64_MAX;
        times[1] = 0;
        work<<<1, 32>>>(rounds_of(kernel_us), out, times, times + 1);
        CHECK(cudaDeviceSynchronize());
        printf("request,%d,%.1f,%.1f,%.1f\n", process, start - began, now_us() - start, (times[1] - times[0]) / 1e3);
        spin_us(gap_us);
    }
    meet(1, shared->arrived[63]);
}

static void copies(int process, size_t bytes, double ms)
{
    void *host, *device;
    double began;

    CHECK(cudaMallocHost(&host, bytes));
    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    meet(0, shared->arrived[63]);
    spin_us(20000);
    for (began = now_us(); now_us() - began < ms * 1000 - 40000;) {
        double start = now_us();
        CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, 0));
        CHECK(cudaDeviceSynchronize());
        printf("copy,%d,%.1f,%.1f\n", process, start - began, now_us() - start);
        spin_us(300);
    }
    meet(1, shared->arrived[63]);
}

static void print_sms(const char *what, int process, int slots, cudaStream_t stream)
{
    uint32_t *sms, used = 0;

    CHECK(cudaMallocManaged(&sms, 256 * sizeof *sms));
    memset(sms, 0, 256 * sizeof *sms);
    CHECK(cudaDeviceSynchronize());
    where<<<slots, 32, SHARED_BYTES, stream>>>(sms);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 256; i++)
        used += sms[i] > 0;
    printf("%s,%d,%u", what, process, used);
    for (int i = 0; i < 256; i++)
        if (sms[i] > 0)
            printf(",%d", i);
    printf("\n");
}

static void green(unsigned count)
{
    CUdevResource all, groups[32], rest;
    CUdevice device;
    unsigned n = 32;

    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(cuDevSmResourceSplitByCount(groups, &n, &all, &rest, 0, count));
    printf("green,%u,%u", count, n);
    for (unsigned i = 0; i < n; i++)
        printf(",%u", groups[i].sm.smCount);
    printf(",rest,%u\n", rest.sm.smCount);
    for (unsigned i = 0; i < n && i < 2; i++) {
        CUdevResourceDesc desc;
        CUgreenCtx context;
        CUstream stream;
        CHECK(cuDevResourceGenerateDesc(&desc, &groups[i], 1));
        CHECK(cuGreenCtxCreate(&context, desc, device, CU_GREEN_CTX_DEFAULT_STREAM));
        CHECK(cuGreenCtxStreamCreate(&stream, context, CU_STREAM_NON_BLOCKING, 0));
        print_sms("green-sms", i, SLOTS_PER_SM * groups[i].sm.smCount, stream);
    }
    print_sms("all-sms", 9, 264, 0);
}

struct Step {
    int process, blocks; // 0 blocks: host; -1: sync
    double us;
};

static void clear(uint64_t *times, uint64_t *device_times)
{
    for (int i = 0; i < LAUNCHES; i++)
        times[2 * i] = UINT64_MAX, times[2 * i + 1] = 0;
    CHECK(cudaMemcpy(device_times, times, LAUNCHES * 16, cudaMemcpyHostToDevice));
}

// The calls of one process; when it began, by the clock of the day.
static uint64_t play_once(const std::vector<Step> &steps, int process, float *out, uint64_t *device_times)
{
    int launches = 0;
    uint64_t began_ns = day_ns();

    for (const Step &step : steps) {
        if (step.process != process)
            continue;
        if (step.blocks > 0) {
            work<<<step.blocks, 32, SHARED_BYTES>>>(rounds_of(step.us), out, device_times + 2 * launches,
                                                    device_times + 2 * launches + 1);
            launches++;
        } else if (step.blocks == 0) {
            spin_us(step.us);
        } else {
            CHECK(cudaStreamSynchronize(0));
        }
    }
    CHECK(cudaDeviceSynchronize());
    return began_ns;
}

// "kernel,PROGRAM,PROCESS,alone|together,LAUNCH,START_US,END_US,BEGAN_US"
static void print_once(int program, int process, const char *how, uint64_t began_ns, uint64_t *times, uint64_t *device_times)
{
    CHECK(cudaMemcpy(times, device_times, LAUNCHES * 16, cudaMemcpyDeviceToHost));
    for (int i = 0; i < LAUNCHES && times[2 * i + 1] > 0; i++)
        printf("kernel,%d,%d,%s,%d,%.3f,%.3f,%.3f\n", program, process, how, i, times[2 * i] / 1e3, times[2 * i + 1] / 1e3,
               began_ns / 1e3);
}

static void play(const char *path, int process, int processes)
{
    std::vector<std::vector<Step>> programs;
    char line[256];
    FILE *file = fopen(path, "r");
    float *out;
    uint64_t *times = (uint64_t *)malloc(LAUNCHES * 16), *device_times;

    while (fgets(line, sizeof line, file)) {
        Step step;
        if (strncmp(line, "program", 7) == 0)
            programs.emplace_back();
        else if (sscanf(line, "%d kernel %d %lf", &step.process, &step.blocks, &step.us) == 3)
            programs.back().push_back(step);
        else if (sscanf(line, "%d host %lf", &step.process, &step.us) == 2)
            programs.back().push_back({ step.process, 0, step.us });
        else if (strstr(line, "sync"))
            programs.back().push_back({ atoi(line), -1, 0 });
    }
    fclose(file);
    CHECK(cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMalloc(&device_times, LAUNCHES * 16));
    for (int warm = 0; warm < 3; warm++)
        work<<<264, 32, SHARED_BYTES>>>(20000, out, device_times, device_times + 1);
    CHECK(cudaDeviceSynchronize());
    for (size_t i = 0; i < programs.size(); i++) {
        for (int alone = 0; alone <= processes; alone++) {
            bool plays = alone == processes || alone == process;
            uint64_t began_ns = 0;

            clear(times, device_times);
            usleep(2000); // what it asked of the GPU is over
            come_together(processes);
            if (plays)
                began_ns = play_once(programs[i], process, out, device_times);
            come_together(processes);
            if (plays)
                print_once(i, process, alone == processes ? "together" : "alone", began_ns, times, device_times);
        }
    }
}

// Of one kernel's blocks: the first start, the last end.
static Note span_of(const Note *notes, int noted)
{
    Note span = notes[0];

    for (int i = 1; i < noted; i++) {
        span.start_ns = notes[i].start_ns < span.start_ns ? notes[i].start_ns : span.start_ns;
        span.end_ns = notes[i].end_ns > span.end_ns ? notes[i].end_ns : span.end_ns;
    }
    return span;
}

// "partition,PROCESS,KERNEL,START_US,END_US,SM:START_US:DURATION_US;...": a block's start from its kernel's first on.
static void print_notes(int process, int kernel, const Note *notes, int noted)
{
    Note span = span_of(notes, noted);

    printf("partition,%d,%d,%.3f,%.3f", process, kernel, (int64_t)(span.start_ns - partition_shared->first_ns) / 1e3,
           (int64_t)(span.end_ns - partition_shared->first_ns) / 1e3);
    for (int i = 0; i < noted; i++)
        printf("%c%u:%.1f:%.1f", i > 0 ? ';' : ',', notes[i].sm, (notes[i].start_ns - span.start_ns) / 1e3,
               (notes[i].end_ns - notes[i].start_ns) / 1e3);
    printf("\n");
}

// Process 0's kernels, back to back, last for all that process 1 does; at most LAUNCHES.
static void partition(int process, const int *blocks, const double *us, int repeats)
{
    constexpr double LEAD_US = 3000, WAIT_US = 137, CALLS_US = 50;
    int launches = process == 0 ? LAUNCHES : repeats;
    int noted = blocks[process] < BLOCKS_NOTED ? blocks[process] : BLOCKS_NOTED;
    double *alone_us = partition_shared->alone_us;
    uint64_t rounds = rounds_of(us[process]);
    std::vector<Note> notes((size_t)launches * noted);
    Note *device_notes;
    float *out;

    CHECK(cudaFuncSetAttribute(work_noted, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMalloc(&device_notes, notes.size() * sizeof(Note)));
    if (process == 1)
        meet(0, 2); // process 0 is measured first
    for (int warm = 0; warm < 3; warm++)
        work_noted<<<blocks[process], 32, SHARED_BYTES>>>(rounds, out, device_notes);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(notes.data(), device_notes, noted * sizeof(Note), cudaMemcpyDeviceToHost));
    Note span = span_of(notes.data(), noted);
    alone_us[process] = (span.end_ns - span.start_ns) / 1e3;
    if (process == 0)
        meet(0, 2);
    meet(1, 2);
    if (process == 0) {
        double needed_us = LEAD_US + repeats * (2 * alone_us[1] + alone_us[0] + WAIT_US + CALLS_US);
        launches = needed_us < (LAUNCHES - 1) * alone_us[0] ? (int)(needed_us / alone_us[0]) + 1 : LAUNCHES;
    } else {
        spin_us(LEAD_US);
    }
    for (int i = 0; i < launches; i++) {
        work_noted<<<blocks[process], 32, SHARED_BYTES>>>(rounds, out, device_notes + (size_t)i * noted);
        if (process == 1) {
            CHECK(cudaDeviceSynchronize());
            spin_us(WAIT_US);
        }
    }
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(notes.data(), device_notes, (size_t)launches * noted * sizeof(Note), cudaMemcpyDeviceToHost));
    if (process == 0)
        partition_shared->first_ns = span_of(notes.data(), noted).start_ns;
    meet(2, 2);
    for (int i = 0; i < launches; i++)
        print_notes(process, i, &notes[(size_t)i * noted], noted);
}

// Before any process has CUDA: each is forked first.
static int run(int argc, char **argv, int process, int processes)
{
    const char *what = argv[1];

    setvbuf(stdout, NULL, _IOFBF, 1 << 20);
    take_percentage(process);
    CHECK(cuInit(0));
    CHECK(cudaSetDevice(0));
    CHECK(cudaFree(0));
    CHECK(cudaFuncSetAttribute(watch, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    CHECK(cudaFuncSetAttribute(where, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    if (strcmp(what, "pauses") == 0)
        watch_and_print("pause", process, atoi(argv[3]), atof(argv[4]), 0);
    else if (strcmp(what, "play") == 0)
        play(argv[2], process, processes);
    else if (strcmp(what, "partition") == 0) {
        int blocks[] = { atoi(argv[2]), atoi(argv[4]) };
        double us[] = { atof(argv[3]), atof(argv[5]) };
        partition(process, blocks, us, atoi(argv[6]));
    } else if (strcmp(what, "sms") == 0) {
        print_sms("sms", process, 264, 0);
        meet(2, processes);
        print_sms("sms-together", process, 264, 0);
    } else if (strcmp(what, "green") == 0)
        green(atoi(argv[2]));
    else if (process == 0)
        watch_and_print("pause", process, atoi(argv[2]), atof(argv[3]), 0);
    else if (strcmp(what, "idle") == 0) {
        meet(0, processes);
        meet(1, processes);
    } else if (strcmp(what, "requests") == 0)
        requests(process, atof(argv[4]), atof(argv[5]), atof(argv[3]));
    else if (strcmp(what, "copies") == 0)
        copies(process, atol(argv[4]), atof(argv[3]));
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    int processes = 2, failed = 0;

    if (argc < 2 || (strcmp(argv[1], "partition") == 0 && argc < 7))
        return 2;
    if (strcmp(argv[1], "pauses") == 0)
        processes = atoi(argv[2]);
    if (strcmp(argv[1], "play") == 0) {
        FILE *file = fopen(argv[2], "r");
        if (file == NULL || fscanf(file, "program %d", &processes) != 1)
            return 2;
        fclose(file);
    }
    if (strcmp(argv[1], "green") == 0)
        processes = 1;
    if (strcmp(argv[1], "sms") == 0 && argc > 2)
        processes = atoi(argv[2]);
    shared = (Shared *)share_memory(sizeof *shared);
    shared->arrived[63] = processes;
    partition_shared = (Partition *)share_memory(sizeof *partition_shared);
    std::vector<FILE *> files; // each process writes one
    for (int i = 0; i < processes; i++) {
        files.push_back(tmpfile());
        if (fork() == 0) {
            dup2(fileno(files[i]), 1);
            _exit(run(argc, argv, i, processes));
        }
    }
    for (int i = 0; i < processes; i++) {
        int status;
        wait(&status);
        failed |= status != 0;
    }
    print_files(files);
    return failed;
}
