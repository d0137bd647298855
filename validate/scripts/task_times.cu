/* task_times.cu - what a task of each shape takes a worker while all workers do such tasks.
 *
 * nvcc -O3 -arch=sm_90 -o task_times task_times.cu; traces/networks/networks.py --shapes | ./task_times > times.csv
 *
 * Workers are resident blocks of 256 threads, so many an SM.  Each does task after task; the tasks' data lies one behind the
 * other in so many megabytes, all workers' turns interleaved.  The time is that between a worker's first and last task,
 * by the global timer, the median over workers.  All data is ones, by which results are checked.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

enum { THREADS = 256, WARPS = THREADS / 32, STEP = 16, MOST_WORKERS = 4096, AIM_US = 2000, MOST_SIDE = 64 };
enum sort { PRODUCT, TILE, WINDOW, CELL, SORTS };
static const char *const names[SORTS] = {"product", "tile", "window", "cell"};

struct shape {
    int what, a, b;
    unsigned long long floats; /* of data */
};

__device__ unsigned long long now_ns()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}

/* `a` rows of a matrix by a vector of `b`: a warp a row. */
__device__ void product(const shape &s, const float *data, const float *x, float *out)
{
    int lane = threadIdx.x % 32;
    for (int row = threadIdx.x / 32; row < s.a; row += WARPS) {
        const float4 *weights = (const float4 *)(data + (size_t)row * s.b);
        float sum = 0;
        for (int i = lane; i < s.b / 4; i += 32) {
            float4 w = __ldcg(&weights[i]), v = ((const float4 *)x)[i];
            sum += w.x * v.x + w.y * v.y + w.z * v.z + w.w * v.w;
        }
        for (int half = 16; half > 0; half /= 2)
            sum += __shfl_xor_sync(~0u, sum, half);
        if (lane == 0)
            out[row] = sum;
    }
}

/* SIDE x SIDE elements, each a sum of `b` terms, by shared memory; a thread has (SIDE / 16)^2 of them. */
template <int SIDE>
__device__ void tile(const shape &s, const float *data, float *out)
{
    __shared__ float left[STEP][SIDE + 4], right[STEP][SIDE + 4];
    const int each = SIDE / 16;
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    const float *a = data, *b = data + (size_t)SIDE * s.b;
    float sum[each][each] = {};
    for (int first = 0; first < s.b; first += STEP) {
        for (int i = threadIdx.x; i < SIDE * STEP; i += THREADS) {
            bool in = first + i / SIDE < s.b;
            left[i / SIDE][i % SIDE] = in ? __ldcg(&a[(size_t)(first + i / SIDE) * SIDE + i % SIDE]) : 0;
            right[i / SIDE][i % SIDE] = in ? __ldcg(&b[(size_t)(first + i / SIDE) * SIDE + i % SIDE]) : 0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < STEP; k++)
#pragma unroll
            for (int i = 0; i < each; i++)
#pragma unroll
                for (int j = 0; j < each; j++)
                    sum[i][j] += left[k][y * each + i] * right[k][x * each + j];
        __syncthreads();
    }
    for (int i = 0; i < each; i++)
        for (int j = 0; j < each; j++)
            out[(y * each + i) * SIDE + x * each + j] = sum[i][j];
}

/* `a` elements, each the sum of b x b about it, rows 32 apart. */
__device__ void window(const shape &s, const float *data, float *out)
{
    for (int i = threadIdx.x; i < s.a; i += THREADS) {
        float sum = 0;
        for (int y = 0; y < s.b; y++)
            for (int x = 0; x < s.b; x++)
                sum += data[i + y * 32 + x];
        out[i] = sum;
    }
}

/* An LSTM's cell of `a` elements: eight products' sums, the state, the output. */
__device__ void cell(const shape &s, const float *data, float *out)
{
    for (int i = threadIdx.x; i < s.a; i += THREADS) {
        float gate[4];
        for (int g = 0; g < 4; g++)
            gate[g] = __ldcg(&data[(2 * g) * s.a + i]) + __ldcg(&data[(2 * g + 1) * s.a + i]);
        float in = 1 / (1 + __expf(-gate[0])), forget = 1 / (1 + __expf(-gate[1])), exit = 1 / (1 + __expf(-gate[3]));
        float state = forget * out[s.a + i] + in * tanhf(gate[2]);
        out[s.a + i] = state;
        out[i] = exit * tanhf(state);
    }
}

static __host__ __device__ unsigned long long task_floats(const shape &s)
{
    return s.what == PRODUCT ? (unsigned long long)s.a * s.b
           : s.what == TILE  ? 2ull * s.a * s.b
           : s.what == CELL  ? 8ull * s.a
                             : (unsigned long long)s.a;
}

/* out: room for a task's results a worker, and then some. */
__global__ void __launch_bounds__(THREADS, 4)
    work(shape s, const float *data, const float *x, float *out, int tasks, unsigned long long *begin, unsigned long long *end)
{
    unsigned long long each = task_floats(s), places = s.floats / each - 1;
    out += (size_t)blockIdx.x * MOST_SIDE * MOST_SIDE * 2;
    if (threadIdx.x == 0)
        begin[blockIdx.x] = now_ns();
    for (int i = 0; i < tasks; i++) {
        const float *mine = data + (((unsigned long long)i * gridDim.x + blockIdx.x) % places) * each;
        switch (s.what) {
        case PRODUCT: product(s, mine, x, out); break;
        case TILE:
            if (s.a == 32)
                tile<32>(s, mine, out);
            else
                tile<64>(s, mine, out);
            break;
        case WINDOW: window(s, mine, out); break;
        default: cell(s, mine, out);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        end[blockIdx.x] = now_ns();
}

static void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "task_times: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

struct memory {
    float *data, *x, *out;
    unsigned long long *begin, *end;
};

/* Microseconds a task, the median worker. */
static double run(const shape &s, const memory &m, int workers, size_t shared, int tasks)
{
    std::vector<unsigned long long> begin(workers), end(workers);
    std::vector<double> us(workers);
    work<<<workers, THREADS, shared>>>(s, m.data, m.x, m.out, tasks, m.begin, m.end);
    check(cudaDeviceSynchronize(), "a run");
    cudaMemcpy(begin.data(), m.begin, workers * sizeof begin[0], cudaMemcpyDeviceToHost);
    cudaMemcpy(end.data(), m.end, workers * sizeof end[0], cudaMemcpyDeviceToHost);
    for (int i = 0; i < workers; i++)
        us[i] = (end[i] - begin[i]) * 1e-3 / tasks;
    std::sort(us.begin(), us.end());
    return us[workers / 2];
}

static bool right(const shape &s, const memory &m)
{
    float got;
    float expected = s.what == WINDOW ? (float)s.b * s.b : (float)s.b;
    cudaMemcpy(&got, m.out, sizeof got, cudaMemcpyDeviceToHost);
    return s.what == CELL ? got > 0.5f && got < 1.01f : got == expected;
}

int main()
{
    const size_t most = 260ull << 20, out_bytes = (size_t)MOST_WORKERS * MOST_SIDE * MOST_SIDE * 2 * sizeof(float);
    std::vector<std::pair<shape, int>> shapes;
    char name[16];
    shape s;
    int megabytes, sms, opted;
    memory m;
    while (scanf("%15s %d %d %d", name, &s.a, &s.b, &megabytes) == 4) {
        s.what = (int)(std::find_if(names, names + SORTS, [&](const char *n) { return strcmp(n, name) == 0; }) - names);
        s.floats = (unsigned long long)megabytes << 18;
        if (s.what < SORTS)
            shapes.push_back({s, megabytes});
    }
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "no GPU");
    cudaDeviceGetAttribute(&opted, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    check(cudaMalloc(&m.data, most), "memory");
    check(cudaMalloc(&m.x, 1 << 20), "memory");
    check(cudaMalloc(&m.out, out_bytes), "memory");
    check(cudaMalloc(&m.begin, MOST_WORKERS * 8), "memory");
    check(cudaMalloc(&m.end, MOST_WORKERS * 8), "memory");
    std::vector<float> ones(most / 4, 1.0f);
    cudaMemcpy(m.data, ones.data(), most, cudaMemcpyHostToDevice);
    cudaMemcpy(m.x, ones.data(), 1 << 20, cudaMemcpyHostToDevice);
    cudaMemset(m.out, 0, out_bytes);
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, work);
    cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize, opted - (int)attributes.sharedSizeBytes);
    printf("# measured on an NVIDIA H200: %d registers a thread, %d SMs\n", attributes.numRegs, sms);
    printf("task,a,b,megabytes,workers_per_sm,task_us,least_us,most_us\n");
    for (int per_sm : {4, 1, 2})
        for (auto &[each, mb] : shapes) {
            /* Shared memory that keeps one more worker out. */
            size_t share = 227 * 1024 / (per_sm + 1) + 1024;
            size_t shared = share > attributes.sharedSizeBytes ? share - attributes.sharedSizeBytes : 0;
            double pilot = run(each, m, sms * per_sm, shared, 8), us[3];
            int tasks = std::max(4, (int)(AIM_US / pilot));
            for (double &one : us)
                one = run(each, m, sms * per_sm, shared, tasks);
            std::sort(us, us + 3);
            if (!right(each, m))
                fprintf(stderr, "task_times: %s %d %d: a wrong result\n", names[each.what], each.a, each.b);
            printf("%s,%d,%d,%d,%d,%.4f,%.4f,%.4f\n", names[each.what], each.a, each.b, mb, per_sm, us[1], us[0], us[2]);
            fflush(stdout);
        }
    return 0;
}
