/* pairs.cu - kernels as textbooks have them, alone and two at a time.
 *
 *   pairs size FILE             work for each launch with which it takes about the time drawn for it, into FILE
 *   pairs times FILE REPEATS    launches alone and in pairs: a line a run, when kernels began and ended
 *   pairs profile FILE SET      each launch of learn, check or probe once in a window of the profiler, run before
 *
 * Two sets of launches, one to learn from and one to check with, are drawn at random (SEED), as are the pairs, each
 * of one set.  A third is of simple ones in one shape, all pairs of them.  Times are those of the global timer, ns,
 * by the first and the last block of a kernel.
 */
#include <algorithm>

#include "pairs_kernels.cuh"

enum { SEED = 20261122, PAIRS_OF_A_SET = 60 };
enum { KINDS = sizeof kinds / sizeof *kinds, A_SET = 20, PROBES = 13 };

struct shape {
    const kind *of;
    function call;
    char name[40];
    int blocks, threads, work;
    double target_us;
};

static std::mt19937_64 generator(SEED);

static int below(int limit)
{
    return (int)((generator() >> 11) * 0x1p-53 * limit);
}

static const char *const sets[SETS] = { "learn", "check", "probe" };

static shape shape_of(const kind *of, int set)
{
    shape s = { of, of->of_set[set] };
    snprintf(s.name, sizeof s.name, "%s_%s", sets[set], of->name);
    s.threads = of->fewest_threads;
    return s;
}

/* Launches of a set: so many of the kinds, drawn without putting back, each of a random shape. */
static std::vector<shape> draw(int set)
{
    std::vector<int> order(KINDS);
    std::vector<shape> shapes;
    const int grids[] = { 66, 132, 132, 132, 264, 264, 396, 528, 1056 };
    for (int i = 0; i < KINDS; i++)
        order[i] = i;
    for (int i = KINDS - 1; i > 0; i--)
        std::swap(order[i], order[below(i + 1)]);
    for (int i = 0; i < A_SET; i++) {
        shape s = shape_of(&kinds[order[i]], set);
        for (int doublings = below(4); doublings > 0 && 2 * s.threads <= s.of->most_threads; doublings--)
            s.threads *= 2;
        s.blocks = grids[below(9)];
        s.target_us = 60 + below(141);
        shapes.push_back(s);
    }
    return shapes;
}

/* A block an SM; alone all take about as long. */
static std::vector<shape> probes()
{
    std::vector<shape> shapes;
    for (int i = 0; i < PROBES; i++) {
        shape s = shape_of(&kinds[i], PROBE);
        s.threads = std::max(s.threads, std::min(256, s.of->most_threads));
        s.blocks = 132;
        s.target_us = 100;
        shapes.push_back(s);
    }
    return shapes;
}

static arrays memory;
static span *spans; /* of two kernels */
static cudaStream_t streams[2];

static void clear_spans()
{
    const span empty[2] = { { ~0ull, 0, ~0ull, 0, {} }, { ~0ull, 0, ~0ull, 0, {} } };
    check(cudaMemcpy(spans, empty, sizeof empty, cudaMemcpyHostToDevice), "spans");
}

/* Launch one or two; their spans into `got`. */
static void play(const shape *first, const shape *second, span *got)
{
    clear_spans();
    first->call<<<first->blocks, first->threads, 0, streams[0]>>>(memory, first->work, spans);
    if (second)
        second->call<<<second->blocks, second->threads, 0, streams[1]>>>(memory, second->work, spans + 1);
    check(cudaGetLastError(), first->name);
    check(cudaDeviceSynchronize(), first->name);
    check(cudaMemcpy(got, spans, 2 * sizeof *got, cudaMemcpyDeviceToHost), first->name);
}

static void size(shape *s)
{
    span got[2];
    s->work = std::min(256, s->of->most_work);
    for (int round = 0; round < 8; round++) {
        play(s, nullptr, got);
        double us = (got[0].end - got[0].start) / 1e3;
        double times = std::min(16.0, s->target_us / std::max(us, 1.0));
        if (times > 0.95 && times < 1.05)
            break;
        s->work = (int)std::max(1.0, std::min<double>(s->of->most_work, s->work * times));
    }
}

static void print_shape(FILE *file, const shape *s)
{
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, s->call), s->name);
    fprintf(file, "%s %d %d %d %d %d\n", s->name, s->blocks, s->threads, s->work, attributes.numRegs,
            (int)attributes.sharedSizeBytes);
}

static void read_work(const char *path, std::vector<shape> *shapes)
{
    FILE *file = fopen(path, "r");
    char name[64];
    int blocks, threads, work, registers, shared;
    if (!file)
        exit((perror(path), 1));
    while (fscanf(file, "%63s %d %d %d %d %d", name, &blocks, &threads, &work, &registers, &shared) == 6)
        for (shape &s : *shapes)
            if (strcmp(s.name, name) == 0)
                s.work = work;
    fclose(file);
}

/* First and last start, first and last end, SMs with blocks, most blocks that one of them had in all. */
static void print_span(const span *s, unsigned long long zero)
{
    int sms = 0;
    unsigned most = 0;
    for (unsigned blocks : s->blocks_on) {
        sms += blocks > 0;
        most = std::max(most, blocks);
    }
    printf(" %llu %llu %llu %llu %d %u", s->start - zero, s->last_start - zero, s->first_end - zero, s->end - zero,
           sms, most);
}

static void print_pair(const shape *a, const shape *b, int repeats)
{
    span got[2];
    for (int r = -1; r < repeats; r++) {
        play(a, b, got);
        unsigned long long zero = std::min(got[0].start, got[1].start);
        if (r >= 0) {
            printf("pair %s %s", a->name, b->name);
            print_span(&got[0], zero);
            print_span(&got[1], zero);
            printf("\n");
        }
    }
}

/* The first run of each is not told: code comes into caches. */
static void times(std::vector<shape> *launches, int repeats)
{
    span got[2];
    for (int set = 0; set < SETS; set++)
        for (const shape &s : launches[set])
            for (int r = -1; r < repeats; r++) {
                play(&s, nullptr, got);
                if (r >= 0) {
                    printf("alone %s", s.name);
                    print_span(&got[0], got[0].start);
                    printf("\n");
                }
            }
    for (int set = 0; set < PROBE; set++)
        for (int pair = 0; pair < PAIRS_OF_A_SET; pair++) {
            int first = below(A_SET), second = (first + 1 + below(A_SET - 1)) % A_SET;
            print_pair(&launches[set][first], &launches[set][second], repeats);
        }
    for (const shape &a : launches[PROBE])
        for (const shape &b : launches[PROBE])
            if (&a != &b)
                print_pair(&a, &b, repeats);
}

static void profile(const std::vector<shape> &launches)
{
    span got[2];
    for (const shape &s : launches) {
        play(&s, nullptr, got);
        check(cudaProfilerStart(), s.name);
        play(&s, nullptr, got);
        check(cudaProfilerStop(), s.name);
        printf("%s\n", s.name);
        fflush(stdout);
    }
}

static void fill_memory()
{
    std::vector<float> values = random_values<float>(VALUES, 1);
    memory.a = device_copy(values);
    memory.b = device_copy(values);
    memory.c = device_array<float>(VALUES + 8192);
    memory.index = device_copy(random_values<unsigned>(VALUES, VALUES));
    check(cudaMalloc(&spans, 2 * sizeof *spans), "spans");
    for (cudaStream_t &stream : streams)
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
}

int main(int argc, char **argv)
{
    std::vector<shape> launches[SETS] = { draw(LEARN), draw(CHECK), probes() };
    if (argc < 3) {
        fprintf(stderr, "usage: pairs size FILE, times FILE REPEATS or profile FILE SET\n");
        return 2;
    }
    fill_memory();
    if (strcmp(argv[1], "size") == 0) {
        FILE *file = fopen(argv[2], "w");
        for (std::vector<shape> &set : launches)
            for (shape &s : set) {
                size(&s);
                print_shape(file, &s);
            }
        return fclose(file);
    }
    for (std::vector<shape> &set : launches)
        read_work(argv[2], &set);
    if (strcmp(argv[1], "times") == 0)
        times(launches, argc > 3 ? atoi(argv[3]) : 5);
    for (int set = 0; set < SETS; set++)
        if (strcmp(argv[1], "profile") == 0 && argc > 3 && strcmp(argv[3], sets[set]) == 0)
            profile(launches[set]);
    return 0;
}
