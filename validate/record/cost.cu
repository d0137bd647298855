/* cost.cu - what calls and operations take on this machine.
 *
 * `gridtide record` runs it behind a program, a few times without the recorder in it and a few times with it, and puts what it
 * prints beside the records: lines of the word that it is given, a sort (gt_recording_sort_names) and ns.  It ends by itself
 * where a GPU does not answer.
 */
#include <cstdio>
#include <ctime>
#include <unistd.h>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#define CHECK(call)                \
    do {                           \
        if ((call) != cudaSuccess) \
            return false;          \
    } while (0)

enum { MOST_SECONDS = 20, ROUNDS = 7, EVENTS = 64, CHAIN = 60, COPY_BYTES = 64 << 10 };
static const int short_nodes = 4, long_nodes = 44;
static const long long LONG_CYCLES = 40000; /* some 20 us */

static cudaStream_t one, two;
static cudaEvent_t events[EVENTS];
static char *device_data, *pinned;
static cudaGraphExec_t short_graph, long_graph, timed_graph;

__global__ void nothing()
{
}

__global__ void turn(long long cycles)
{
    long long start = clock64();

    while (clock64() - start < cycles)
        ;
}

/* Calls that the host sets the pace of. */
static bool launch(int)
{
    nothing<<<1, 32, 0, one>>>();
    return true;
}

static bool copy(int)
{
    CHECK(cudaMemcpyAsync(device_data, pinned, 64, cudaMemcpyHostToDevice, one));
    return true;
}

static bool set(int)
{
    CHECK(cudaMemsetAsync(device_data, 0, 64, one));
    return true;
}

static bool record(int i)
{
    CHECK(cudaEventRecord(events[i % EVENTS], one));
    return true;
}

static bool wait(int i)
{
    CHECK(cudaStreamWaitEvent(two, events[i % EVENTS], 0));
    return true;
}

static bool query(int i)
{
    (void)cudaEventQuery(events[i % EVENTS]);
    return true;
}

static bool synchronise(int)
{
    CHECK(cudaStreamSynchronize(one));
    return true;
}

static bool allocate(int)
{
    static void *memory;

    if (memory == NULL) {
        CHECK(cudaMallocAsync(&memory, 1024, one));
        return true;
    }
    CHECK(cudaFreeAsync(memory, one));
    memory = NULL;
    return true;
}

static bool range(int)
{
    nvtxRangePushA("a range");
    nvtxRangePop();
    return true;
}

static bool launch_short_graph(int)
{
    CHECK(cudaGraphLaunch(short_graph, one));
    return true;
}

static bool launch_long_graph(int)
{
    CHECK(cudaGraphLaunch(long_graph, one));
    return true;
}

/* Operations that the GPU sets the pace of. */
static bool kernel(int)
{
    turn<<<1, 32, 0, one>>>(LONG_CYCLES);
    return true;
}

static bool kernel_of_either(int i)
{
    turn<<<1, 32, 0, i % 2 ? two : one>>>(LONG_CYCLES);
    CHECK(cudaEventRecord(events[i % EVENTS], i % 2 ? two : one));
    CHECK(cudaStreamWaitEvent(i % 2 ? one : two, events[i % EVENTS], 0));
    return true;
}

static bool kernel_and_copy(int)
{
    turn<<<1, 32, 0, one>>>(LONG_CYCLES);
    CHECK(cudaMemcpyAsync(device_data, pinned, COPY_BYTES, cudaMemcpyHostToDevice, one));
    return true;
}

static bool launch_timed_graph(int)
{
    CHECK(cudaGraphLaunch(timed_graph, one));
    return true;
}

static const struct {
    const char *name; /* of a sort; of graphs' launches by their length, from which both sorts follow */
    bool (*call)(int);
    int count, parts; /* calls of a round; what a call's time is divided by */
    bool whole;       /* to the end of the GPU's work */
} rows[] = {
    { "launch", launch, 300, 1, false },
    { "copy", copy, 200, 1, false },
    { "memset", set, 200, 1, false },
    { "event-record", record, 300, 1, false },
    { "event-wait", wait, 300, 1, false },
    { "query", query, 300, 1, false },
    { "sync", synchronise, 300, 1, false },
    { "alloc", allocate, 100, 1, false },
    { "range", range, 300, 1, false },
    { NULL, launch_short_graph, 20, 1, false },
    { NULL, launch_long_graph, 20, 1, false },
    { "kernel", kernel, CHAIN, 1, true },
    { "event-kernel", kernel_of_either, CHAIN, 1, true },
    { "kernel-copy", kernel_and_copy, CHAIN, 1, true },
    { "node", launch_timed_graph, 4, CHAIN, true },
};
enum { ROWS = sizeof rows / sizeof rows[0], OF_SHORT_GRAPH = 9, OF_LONG_GRAPH };

static bool make_graph(cudaGraphExec_t *made, int nodes, long long cycles)
{
    cudaGraph_t graph;

    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < nodes; i++)
        if (cycles > 0)
            turn<<<1, 32, 0, one>>>(cycles);
        else
            nothing<<<1, 32, 0, one>>>();
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaGraphInstantiate(made, graph, 0));
    CHECK(cudaGraphUpload(*made, one));
    return true;
}

static bool set_up()
{
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    for (int i = 0; i < EVENTS; i++) {
        CHECK(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
        CHECK(cudaEventRecord(events[i], one));
    }
    CHECK(cudaMalloc(&device_data, COPY_BYTES));
    CHECK(cudaMallocHost(&pinned, COPY_BYTES));
    return make_graph(&short_graph, short_nodes, 0) && make_graph(&long_graph, long_nodes, 0) &&
           make_graph(&timed_graph, CHAIN, LONG_CYCLES / 2);
}

static double now_ns()
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static bool measure_round(int row, double *ns)
{
    double start_ns = now_ns();

    for (int i = 0; i < rows[row].count; i++)
        if (!rows[row].call(i))
            return false;
    *ns = now_ns() - start_ns;
    CHECK(cudaDeviceSynchronize());
    if (rows[row].whole)
        *ns = now_ns() - start_ns;
    *ns /= rows[row].count * rows[row].parts;
    return true;
}

/* Of the round in the middle. */
static bool measure(int row, double *ns)
{
    double rounds[ROUNDS];

    for (int round = 0; round < ROUNDS; round++) {
        double now;
        int at = round;

        if (!measure_round(row, &now))
            return false;
        for (; at > 0 && rounds[at - 1] > now; at--)
            rounds[at] = rounds[at - 1];
        rounds[at] = now;
    }
    *ns = rounds[ROUNDS / 2];
    return true;
}

static bool measure_all(double *ns)
{
    for (int i = 0; i < ROWS; i++)
        if (!measure(i, &ns[i]))
            return false;
    return true;
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "plain";
    double ns[ROWS], node_ns;

    alarm(MOST_SECONDS);
    if (!set_up() || !measure_all(ns))
        return 1;
    for (int i = 0; i < ROWS; i++)
        if (rows[i].name != NULL)
            printf("%s %s %.0f\n", how, rows[i].name, ns[i]);
    /* What a node adds, and a launch of none takes. */
    node_ns = (ns[OF_LONG_GRAPH] - ns[OF_SHORT_GRAPH]) / (long_nodes - short_nodes);
    printf("%s graph-node %.0f\n", how, node_ns > 1 ? node_ns : 1);
    printf("%s graph-launch %.0f\n", how, ns[OF_SHORT_GRAPH] - short_nodes * node_ns);
    return 0;
}
