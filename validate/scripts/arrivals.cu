// Requests that arrive at given times at tenants that share a GPU.  validate/scripts/arrivals.py draws them, and judges
// Gridtide by what became of them.
//
//   nvcc -arch=sm_90 -O3 -o arrivals arrivals.cu -lcuda
//   arrivals FILE [SECONDS]                  no load begins after SECONDS
//
//   load NUMBER HOW POLICY MS                HOW: streams: one process, a thread and streams for each tenant
//                                            processes: one for each tenant (MPS_PERCENT=50,50: the
//                                            CUDA_MPS_ACTIVE_THREAD_PERCENTAGE of each)
//                                            green:SMS,SMS,...: as streams, a green context of so many SMs for each
//                                            POLICY: none; without processes also fifo, priority, gate, slices:BLOCKS
//   tenant NUMBER critical|best-effort
//   step TENANT kernel BLOCKS US             in the tenant's first stream
//   step TENANT other BLOCKS US              a kernel in its second stream, behind what the first one has so far
//   step TENANT join                         the first stream waits for the second one
//   step TENANT in|out BYTES                 a copy to or from the GPU, pinned memory, in the first stream
//   step TENANT host US                      the thread works
//   step TENANT sync                         it waits for the first stream
//   arrive TENANT US ...                     after the load's start, rising
//   closed TENANT                            instead: the next request comes when the one before is done, until the MS
//                                            are over and the tenants with arrivals have served them all
//
// A request is all steps of its tenant and a wait for its streams; a tenant serves its requests one by one.  Lines that
// begin with # are printed as they are; then CSV, in microseconds:
//   alone,LOAD,TENANT,K,BEGIN,END            ten requests 2 ms apart, no other tenant; from the first one's begin
//   kernel,LOAD,TENANT,K,LAUNCH,START,END    of these, from the request's begin
//   request,LOAD,TENANT,K,ARRIVAL,BEGIN,END  all tenants together, from the load's start
#include "sharing.cuh"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <fstream>
#include <immintrin.h>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include "arrivals_loads.cuh"

constexpr unsigned HANG_S = 120; // a load that takes longer never ends
enum { CHILDREN, TENANTS };      // places to come together

struct Board { // by all processes
    volatile double start_us[MOST_LOADS];
    volatile int open[MOST_LOADS]; // tenants whose arrivals are not all done
    volatile int stop_at;          // the first load that is not played
};
static Board *board;

struct Record {
    double arrival_us, begin_us, end_us;
};

struct Buffers { // of a tenant, for all loads
    char *host_in, *host_out, *device_in, *device_out;
    uint64_t *times; // of each launch of each request alone, and one for all others; on the GPU
};

struct Player { // a tenant's thread
    const Load *load;
    const Tenant *tenant;
    Buffers *buffers;
    int index, number; // of the load, of the tenant in it
    bool together, in_service;
    double start_us;
    cudaStream_t first, second;
    cudaEvent_t fork, joined;
    std::vector<Record> records;
    std::string text;
};

static void pause_a_little()
{
    for (int i = 0; i < 8; i++)
        _mm_pause();
}

// The gate: what runs in this process beside each other.
static std::atomic<int> critical_requests; // arrived and not done
static std::atomic<unsigned> gate_tickets, gate_turn;

static void pass_gate()
{
    for (unsigned mine = gate_tickets++; gate_turn != mine;)
        pause_a_little();
    while (critical_requests > 0)
        pause_a_little();
}

static void leave_gate(cudaStream_t stream)
{
    cudaError_t found;

    while ((found = cudaStreamQuery(stream)) == cudaErrorNotReady)
        pause_a_little();
    CHECK(found);
    cudaGetLastError(); // "not ready" is none
    gate_turn++;
}

// First come, first served.
static struct {
    std::atomic_flag lock;
    bool busy;
    double next_us[MOST_TENANTS]; // arrival of the request that each tenant serves next
} line;

static void lock_line()
{
    while (line.lock.test_and_set(std::memory_order_acquire))
        _mm_pause();
}

static bool line_begins(int tenant)
{
    lock_line();
    bool first = !line.busy;
    for (int i = 0; i < MOST_TENANTS; i++)
        first = first && (i < tenant ? line.next_us[i] > line.next_us[tenant] : line.next_us[i] >= line.next_us[tenant]);
    if (first) {
        line.busy = true;
        line.next_us[tenant] = INFINITY;
    }
    line.lock.clear(std::memory_order_release);
    return first;
}

static void line_ends(int tenant, double next_us)
{
    lock_line();
    line.busy = false;
    line.next_us[tenant] = next_us;
    line.lock.clear(std::memory_order_release);
}

static void launch(Player &p, cudaStream_t stream, const Step &step, uint64_t *times)
{
    bool gated = p.together && p.load->gated() && !p.tenant->critical;
    int most = gated && p.load->slice > 0 ? p.load->slice : step.blocks;

    for (int left = step.blocks; left > 0; left -= most) {
        if (gated)
            pass_gate();
        work<<<std::min(left, most), 32, SHARED_BYTES, stream>>>(rounds_of(step.us), (float *)p.buffers->device_out, times, times + 1);
        if (gated)
            leave_gate(stream);
    }
}

// `stride`: from one launch's times to the next one's.
static void request(Player &p, uint64_t *times, int stride)
{
    for (const Step &step : p.tenant->steps) {
        if (step.what == "kernel") {
            launch(p, p.first, step, times);
            times += stride;
        } else if (step.what == "other") {
            CHECK(cudaEventRecord(p.fork, p.first));
            CHECK(cudaStreamWaitEvent(p.second, p.fork, 0));
            launch(p, p.second, step, times);
            times += stride;
        } else if (step.what == "join") {
            CHECK(cudaEventRecord(p.joined, p.second));
            CHECK(cudaStreamWaitEvent(p.first, p.joined, 0));
        } else if (step.what == "in") {
            CHECK(cudaMemcpyAsync(p.buffers->device_in, p.buffers->host_in, step.bytes, cudaMemcpyHostToDevice, p.first));
        } else if (step.what == "out") {
            CHECK(cudaMemcpyAsync(p.buffers->host_out, p.buffers->device_out, step.bytes, cudaMemcpyDeviceToHost, p.first));
        } else if (step.what == "host") {
            spin_us(step.us);
        } else {
            CHECK(cudaStreamSynchronize(p.first));
        }
    }
    CHECK(cudaPeekAtLastError());
    CHECK(cudaStreamSynchronize(p.first));
    if (p.tenant->two_streams)
        CHECK(cudaStreamSynchronize(p.second));
}

template <typename... Numbers> static void note(Player &p, const char *format, Numbers... numbers)
{
    char text[256];
    snprintf(text, sizeof text, format, numbers...);
    p.text += text;
}

static void play_alone(Player &p)
{
    std::vector<uint64_t> times(2 * KERNELS * (WARM + ALONE) + 2);
    uint64_t day[WARM + ALONE];
    double begin_us[WARM + ALONE], end_us[WARM + ALONE];

    for (size_t i = 0; i < times.size(); i += 2)
        times[i] = UINT64_MAX;
    CHECK(cudaMemcpy(p.buffers->times, times.data(), 8 * times.size(), cudaMemcpyHostToDevice));
    for (int k = 0; k < WARM + ALONE; k++) {
        spin_us(2000);
        day[k] = day_ns();
        begin_us[k] = now_us();
        request(p, p.buffers->times + 2 * KERNELS * k, 2);
        end_us[k] = now_us();
    }
    CHECK(cudaMemcpy(times.data(), p.buffers->times, 8 * times.size(), cudaMemcpyDeviceToHost));
    for (int k = WARM; k < WARM + ALONE; k++) {
        note(p, "alone,%d,%d,%d,%.1f,%.1f\n", p.load->number, p.number, k - WARM, begin_us[k] - begin_us[WARM], end_us[k] - begin_us[WARM]);
        for (int i = 0; i < p.tenant->kernels; i++) {
            uint64_t *launch_ns = &times[2 * (KERNELS * k + i)];
            note(p, "kernel,%d,%d,%d,%d,%.3f,%.3f\n", p.load->number, p.number, k - WARM, i, (int64_t)(launch_ns[0] - day[k]) / 1e3,
                 (int64_t)(launch_ns[1] - day[k]) / 1e3);
        }
    }
}

// Of the request after those served so far; INFINITY: there is none.
static double next_arrival(const Player &p)
{
    size_t served = p.records.size();

    if (!p.tenant->closed)
        return served < p.tenant->arrivals_us.size() ? p.tenant->arrivals_us[served] : INFINITY;
    double now = served > 0 ? p.records.back().end_us : 0;
    return now >= p.load->us && board->open[p.index] == 0 ? INFINITY : now;
}

static void serve(Player &p)
{
    bool in_line = p.load->policy == "fifo";
    uint64_t *no_times = p.buffers->times + 2 * KERNELS * (WARM + ALONE);

    for (double arrival_us = next_arrival(p); arrival_us < INFINITY;) {
        Record record = { arrival_us, 0, 0 };

        while (now_us() - p.start_us < arrival_us)
            _mm_pause();
        if (p.tenant->critical && !p.in_service) {
            p.in_service = true;
            critical_requests++;
        }
        while (in_line && !line_begins(p.number))
            pause_a_little();
        record.begin_us = now_us() - p.start_us;
        request(p, no_times, 0);
        record.end_us = now_us() - p.start_us;
        p.records.push_back(record);
        arrival_us = next_arrival(p);
        if (p.in_service && arrival_us > record.end_us) { // else the next one is already there
            p.in_service = false;
            critical_requests--;
        }
        if (in_line)
            line_ends(p.number, arrival_us);
    }
    if (!p.tenant->closed)
        __sync_sub_and_fetch(&board->open[p.index], 1);
}

static void play_tenant(Player &p)
{
    int tenants = (int)p.load->tenants.size();

    CHECK(cudaSetDevice(0));
    for (int turn = 0; turn < tenants; turn++) {
        come_together(tenants, TENANTS);
        if (turn == p.number)
            play_alone(p);
    }
    p.records.reserve(1 << 16);
    p.together = true;
    come_together(tenants, TENANTS);
    if (p.number == 0)
        board->start_us[p.index] = now_us() + 2000;
    while (board->start_us[p.index] == 0)
        _mm_pause();
    p.start_us = board->start_us[p.index];
    serve(p);
    come_together(tenants, TENANTS);
}

// One for each number of "SMS,SMS,...".
static const std::vector<CUgreenCtx> &green_contexts(const std::string &list)
{
    static std::map<std::string, std::vector<CUgreenCtx>> all;
    std::vector<CUgreenCtx> &contexts = all[list];
    std::vector<unsigned> sizes;
    unsigned unit = 0, sum = 0, count;
    CUdevResource whole, rest;
    CUdevice device;

    if (!contexts.empty())
        return contexts;
    for (const char *at = list.c_str(); at != NULL; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        sizes.push_back(atoi(at));
        unit = std::gcd(unit, sizes.back());
        sum += sizes.back();
    }
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetDevResource(device, &whole, CU_DEV_RESOURCE_TYPE_SM));
    // What is split off cannot be split again, but what one split makes can be put together.
    count = sum / unit;
    std::vector<CUdevResource> groups(count);
    CHECK(cuDevSmResourceSplitByCount(groups.data(), &count, &whole, &rest, 0, unit));
    if (count < sum / unit || groups[0].sm.smCount != unit) {
        fprintf(stderr, "arrivals: green:%s: the GPU has %u groups of %u SMs\n", list.c_str(), count, groups[0].sm.smCount);
        _exit(1);
    }
    for (unsigned i = 0, at = 0; i < sizes.size(); at += sizes[i++] / unit) {
        CUdevResourceDesc desc;
        contexts.emplace_back();
        CHECK(cuDevResourceGenerateDesc(&desc, &groups[at], sizes[i] / unit));
        CHECK(cuGreenCtxCreate(&contexts.back(), desc, device, CU_GREEN_CTX_DEFAULT_STREAM));
    }
    return contexts;
}

static void make_streams(Player &p)
{
    bool priorities = p.load->policy == "priority" || p.load->gated();
    int lowest, highest;

    CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    for (cudaStream_t *stream : { &p.first, &p.second }) {
        int priority = priorities && p.tenant->critical ? highest : lowest;
        if (stream == &p.second && !p.tenant->two_streams)
            continue;
        if (p.load->how.compare(0, 6, "green:") == 0)
            CHECK(cuGreenCtxStreamCreate(stream, green_contexts(p.load->how.substr(6))[p.number], CU_STREAM_NON_BLOCKING, priority));
        else
            CHECK(cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, priority));
    }
    if (p.tenant->two_streams) { // an event must be of its stream's context
        CUcontext context = NULL;
        if (p.load->how.compare(0, 6, "green:") == 0) {
            CHECK(cuCtxFromGreenCtx(&context, green_contexts(p.load->how.substr(6))[p.number]));
            CHECK(cuCtxPushCurrent(context));
        }
        CHECK(cuEventCreate(&p.fork, CU_EVENT_DISABLE_TIMING));
        CHECK(cuEventCreate(&p.joined, CU_EVENT_DISABLE_TIMING));
        if (context != NULL)
            CHECK(cuCtxPopCurrent(&context));
    }
}

static void remove_streams(Player &p)
{
    CHECK(cudaStreamDestroy(p.first));
    if (p.tenant->two_streams) {
        CHECK(cudaStreamDestroy(p.second));
        CHECK(cudaEventDestroy(p.fork));
        CHECK(cudaEventDestroy(p.joined));
    }
}

// What this process does of a load.
static void play(const Load &load, int index, int child, std::vector<Buffers> &buffers)
{
    std::vector<Player> players;
    std::vector<std::thread> threads;

    critical_requests = 0;
    gate_tickets = gate_turn = 0;
    std::fill(line.next_us, line.next_us + MOST_TENANTS, INFINITY);
    for (int i = 0; i < (int)load.tenants.size(); i++) {
        if (load.processes() ? i != child : child != 0)
            continue;
        Player p = {};
        p.load = &load;
        p.tenant = &load.tenants[i];
        p.buffers = &buffers[i];
        p.index = index;
        p.number = i;
        line.next_us[i] = next_arrival(p);
        make_streams(p);
        players.push_back(p);
    }
    for (Player &p : players)
        threads.emplace_back(play_tenant, std::ref(p));
    for (std::thread &thread : threads)
        thread.join();
    for (Player &p : players) {
        fputs(p.text.c_str(), stdout);
        for (size_t k = 0; k < p.records.size(); k++)
            printf("request,%d,%d,%zu,%.1f,%.1f,%.1f\n", load.number, p.number, k, p.records[k].arrival_us, p.records[k].begin_us,
                   p.records[k].end_us);
        remove_streams(p);
    }
    fflush(stdout);
}

static int run(const std::vector<Load> &loads, int child, int children, double end_us)
{
    std::vector<Buffers> buffers(MOST_TENANTS);
    size_t bytes = 1 << 16;

    alarm(HANG_S);
    take_percentage(child);
    CHECK(cuInit(0));
    CHECK(cudaSetDevice(0));
    CHECK(cudaFree(0));
    CHECK(cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    for (const Load &load : loads)
        for (const Tenant &tenant : load.tenants)
            for (const Step &step : tenant.steps)
                bytes = std::max(bytes, step.bytes);
    for (Buffers &b : buffers) {
        CHECK(cudaMallocHost(&b.host_in, bytes));
        CHECK(cudaMallocHost(&b.host_out, bytes));
        CHECK(cudaMalloc(&b.device_in, bytes));
        CHECK(cudaMalloc(&b.device_out, bytes));
        CHECK(cudaMalloc(&b.times, 8 * (2 * KERNELS * (WARM + ALONE) + 2)));
    }
    for (int warm = 0; warm < 3; warm++)
        work<<<264, 32, SHARED_BYTES>>>(20000, (float *)buffers[0].device_out, buffers[0].times, buffers[0].times + 1);
    CHECK(cudaDeviceSynchronize());
    for (int index = 0; index < (int)loads.size(); index++) {
        if (child == 0 && now_us() > end_us)
            board->stop_at = index;
        come_together(children, CHILDREN);
        if (index >= board->stop_at)
            break;
        alarm(HANG_S);
        play(loads[index], index, child, buffers);
    }
    return 0;
}

int main(int argc, char **argv)
{
    std::vector<FILE *> files; // each process writes one
    std::vector<pid_t> pids;
    int children = 1, failed = 0;

    if (argc < 2)
        return 2;
    std::vector<Load> loads = read_loads(argv[1]);
    shared = (Shared *)share_memory(sizeof *shared);
    board = (Board *)share_memory(sizeof *board);
    board->stop_at = MOST_LOADS;
    for (size_t i = 0; i < loads.size(); i++) {
        for (const Tenant &tenant : loads[i].tenants)
            board->open[i] = board->open[i] + !tenant.closed;
        if (loads[i].processes())
            children = std::max(children, (int)loads[i].tenants.size());
    }
    double end_us = now_us() + 1e6 * (argc > 2 ? atof(argv[2]) : 1e6);
    fflush(stdout);
    for (int i = 0; i < children; i++) {
        files.push_back(tmpfile());
        pids.push_back(fork());
        if (pids[i] == 0) {
            dup2(fileno(files[i]), 1);
            setvbuf(stdout, NULL, _IOFBF, 1 << 20);
            _exit(run(loads, i, children, end_us));
        }
    }
    for (int i = 0; i < children; i++) {
        int status;
        pid_t ended = wait(&status);
        std::replace(pids.begin(), pids.end(), ended, 0);
        if (status != 0 && !failed) { // the others would wait for it
            failed = 1;
            for (pid_t pid : pids)
                if (pid > 0)
                    kill(pid, SIGKILL);
        }
    }
    print_files(files);
    return failed;
}
