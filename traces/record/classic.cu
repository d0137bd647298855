/* classic.cu - kernels as textbooks and benchmark suites have them, for a profiler: classic [CASE...]. */
#include "cases.cuh"

/* Graphs and grids. */

__global__ void bfs_level(const int *first, const int *edges, int *level, int vertices, int now)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices || level[v] != now)
        return;
    for (int e = first[v]; e < first[v + 1]; e++)
        if (level[edges[e]] < 0)
            level[edges[e]] = now + 1;
}

static launches make_bfs()
{
    const int vertices = 1 << 20, degree = 8;
    std::vector<int> first(vertices + 1), level(vertices), where = random_values<int>(vertices, 16);
    first[0] = 0;
    for (int v = 0; v < vertices; v++) {
        first[v + 1] = first[v] + where[v] * degree / 8;
        level[v] = where[v] % 4 == 0 ? 3 : where[v] % 4 == 1 ? 1 : -1;
    }
    int *f = device_copy(first), *l = device_copy(level);
    int *edges = device_copy(random_values<int>(first[vertices], vertices));
    return [=] { bfs_level<<<vertices / 256, 256>>>(f, edges, l, vertices, 3); };
}

__global__ void floyd_warshall(float *distance, int n, int k)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    float through = distance[row * n + k] + distance[k * n + column];
    if (through < distance[row * n + column])
        distance[row * n + column] = through;
}

static launches make_floyd()
{
    const int n = 2048;
    float *distance = device_copy(random_values<float>((size_t)n * n, 100));
    return [=] { floyd_warshall<<<dim3(n / 256, n), 256>>>(distance, n, n / 2); };
}

/* Acoustic wave, a star of radius 4: planes pass through registers, each plane through shared memory. */
__global__ void fdtd3d(const float *now, float *next, int nx, int ny, int nz)
{
    enum { RADIUS = 4, WIDE = 32, HIGH = 8 };
    __shared__ float plane[HIGH + 2 * RADIUS][WIDE + 2 * RADIUS];
    const float weight[RADIUS + 1] = {-2.85f, 1.6f, -0.2f, 0.025f, -0.0018f};
    int x = blockIdx.x * WIDE + threadIdx.x + RADIUS, y = blockIdx.y * HIGH + threadIdx.y + RADIUS;
    size_t stride = (size_t)nx * ny, at = (size_t)y * nx + x;
    float column[2 * RADIUS + 1];
    for (int i = 0; i < 2 * RADIUS; i++)
        column[i + 1] = now[at + i * stride];
    for (int z = RADIUS; z < nz - RADIUS; z++) {
        for (int i = 0; i < 2 * RADIUS; i++)
            column[i] = column[i + 1];
        column[2 * RADIUS] = now[at + (z + RADIUS) * stride];
        __syncthreads();
        plane[threadIdx.y + RADIUS][threadIdx.x + RADIUS] = column[RADIUS];
        const float *row = now + z * stride;
        if (threadIdx.y < RADIUS) {
            plane[threadIdx.y][threadIdx.x + RADIUS] = row[at - RADIUS * nx];
            plane[threadIdx.y + HIGH + RADIUS][threadIdx.x + RADIUS] = row[at + HIGH * nx];
        }
        if (threadIdx.x < RADIUS) {
            plane[threadIdx.y + RADIUS][threadIdx.x] = row[at - RADIUS];
            plane[threadIdx.y + RADIUS][threadIdx.x + WIDE + RADIUS] = row[at + WIDE];
        }
        __syncthreads();
        float value = 3 * weight[0] * column[RADIUS];
        for (int i = 1; i <= RADIUS; i++)
            value += weight[i] * (column[RADIUS - i] + column[RADIUS + i] +
                                  plane[threadIdx.y + RADIUS][threadIdx.x + RADIUS - i] +
                                  plane[threadIdx.y + RADIUS][threadIdx.x + RADIUS + i] +
                                  plane[threadIdx.y + RADIUS - i][threadIdx.x + RADIUS] +
                                  plane[threadIdx.y + RADIUS + i][threadIdx.x + RADIUS]);
        next[at + z * stride] = 2 * column[RADIUS] - next[at + z * stride] + 0.1f * value;
    }
}

static launches make_fdtd()
{
    const int side = 256, padded = side + 8;
    float *now = device_copy(random_values<float>((size_t)padded * padded * padded, 1));
    float *next = device_array<float>((size_t)padded * padded * padded);
    return [=] { fdtd3d<<<dim3(side / 32, side / 8), dim3(32, 8)>>>(now, next, padded, padded, padded); };
}

/* Lattice Boltzmann, nine directions, one relaxation time; the grid is a torus. */
__global__ void lattice_boltzmann(const float *from, float *to, int width, int height)
{
    const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    size_t cells = (size_t)width * height;
    float f[9], density = 0, ux = 0, uy = 0;
    for (int i = 0; i < 9; i++) {
        int sx = (x - dx[i] + width) % width, sy = (y - dy[i] + height) % height;
        f[i] = from[i * cells + (size_t)sy * width + sx];
        density += f[i];
        ux += f[i] * dx[i];
        uy += f[i] * dy[i];
    }
    ux /= density;
    uy /= density;
    for (int i = 0; i < 9; i++) {
        float weight = i == 0 ? 4 / 9.f : i < 5 ? 1 / 9.f : 1 / 36.f, along = 3 * (dx[i] * ux + dy[i] * uy);
        float rest = weight * density * (1 + along + along * along / 2 - 1.5f * (ux * ux + uy * uy));
        to[i * cells + (size_t)y * width + x] = f[i] + 0.6f * (rest - f[i]);
    }
}

static launches make_boltzmann()
{
    const int width = 2048, height = 1024;
    float *from = device_copy(random_values<float>((size_t)9 * width * height, 1));
    float *to = device_array<float>((size_t)9 * width * height);
    return [=] { lattice_boltzmann<<<dim3(width / 128, height), 128>>>(from, to, width, height); };
}

/* One diagonal of 32x32 tiles of Needleman and Wunsch's alignment, a warp a tile. */
__global__ void needleman_wunsch(int *score, const signed char *likeness, int n, int diagonal)
{
    enum { TILE = 32 };
    __shared__ int cell[TILE + 1][TILE + 2];
    int lane = threadIdx.x, row = blockIdx.x * TILE, column = (diagonal - blockIdx.x) * TILE;
    for (int i = 0; i <= TILE; i++)
        cell[i][lane + 1] = score[(size_t)(row + i) * (n + 1) + column + lane + 1];
    cell[lane + 1][0] = score[(size_t)(row + lane + 1) * (n + 1) + column];
    if (lane == 0)
        cell[0][0] = score[(size_t)row * (n + 1) + column];
    __syncwarp();
    for (int step = 0; step < 2 * TILE - 1; step++) {
        int y = lane + 1, x = step - lane + 1;
        if (x >= 1 && x <= TILE) {
            int same = cell[y - 1][x - 1] + likeness[(size_t)(row + y - 1) * n + column + x - 1];
            cell[y][x] = max(same, max(cell[y - 1][x], cell[y][x - 1]) - 2);
        }
        __syncwarp();
    }
    for (int i = 1; i <= TILE; i++)
        score[(size_t)(row + i) * (n + 1) + column + lane + 1] = cell[i][lane + 1];
}

static launches make_needleman()
{
    const int n = 8192, tiles = n / 32;
    int *score = device_copy(random_values<int>((size_t)(n + 1) * (n + 1), 100));
    signed char *likeness = device_copy(random_values<signed char>((size_t)n * n, 10));
    return [=] { needleman_wunsch<<<tiles, 32>>>(score, likeness, n, tiles - 1); };
}

/* Dense algebra and pictures. */

/* LU factors of a matrix of 32x32 without pivots, a warp each; four a block. */
__global__ void lu_batched(float *matrices)
{
    enum { N = 32 };
    __shared__ float all[4][N][N + 1];
    float (*a)[N + 1] = all[threadIdx.y];
    float *matrix = matrices + ((size_t)blockIdx.x * 4 + threadIdx.y) * N * N;
    int lane = threadIdx.x;
    for (int i = 0; i < N; i++)
        a[i][lane] = matrix[i * N + lane] + (i == lane ? 64 : 0);
    for (int k = 0; k < N - 1; k++) {
        __syncwarp();
        if (lane > k) {
            float factor = a[lane][k] / a[k][k];
            a[lane][k] = factor;
            for (int j = k + 1; j < N; j++)
                a[lane][j] -= factor * a[k][j];
        }
    }
    __syncwarp();
    for (int i = 0; i < N; i++)
        matrix[i * N + lane] = a[i][lane];
}

static launches make_lu()
{
    const int blocks = 2112;
    float *matrices = device_copy(random_values<float>((size_t)blocks * 4 * 1024, 1));
    return [=] { lu_batched<<<blocks, dim3(32, 4)>>>(matrices); };
}

__global__ void transpose_add(const float *a, const float *b, float *sum, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int i = threadIdx.y; i < 32; i += 8)
        tile[i][threadIdx.x] = b[(size_t)(blockIdx.x * 32 + i) * n + y + threadIdx.x];
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8)
        sum[(size_t)(y + i) * n + x] = a[(size_t)(y + i) * n + x] + tile[threadIdx.x][i];
}

static launches make_transpose_add()
{
    const int n = 4096;
    float *a = device_copy(random_values<float>((size_t)n * n, 1)), *b = device_array<float>((size_t)n * n);
    float *sum = device_array<float>((size_t)n * n);
    return [=] { transpose_add<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(a, b, sum, n); };
}

__constant__ float taps[17] = {.01f, .02f, .03f, .05f, .06f, .08f, .09f, .1f, .12f,
                               .1f, .09f, .08f, .06f, .05f, .03f, .02f, .01f};

__global__ void convolve_rows(const float *in, float *out, int width)
{
    enum { RADIUS = 8, STEPS = 8, WIDE = 16, HIGH = 4 };
    __shared__ float tile[HIGH][(STEPS + 2) * WIDE];
    int first = blockIdx.x * STEPS * WIDE - WIDE, y = blockIdx.y * HIGH + threadIdx.y;
    for (int i = 0; i < STEPS + 2; i++) {
        int x = first + i * WIDE + threadIdx.x;
        tile[threadIdx.y][i * WIDE + threadIdx.x] = x >= 0 && x < width ? in[(size_t)y * width + x] : 0;
    }
    __syncthreads();
    for (int i = 1; i <= STEPS; i++) {
        float sum = 0;
        for (int j = -RADIUS; j <= RADIUS; j++)
            sum += taps[RADIUS + j] * tile[threadIdx.y][i * WIDE + threadIdx.x + j];
        out[(size_t)y * width + first + i * WIDE + threadIdx.x] = sum;
    }
}

static launches make_convolve()
{
    const int n = 4096;
    float *in = device_copy(random_values<float>((size_t)n * n, 1));
    float *out = device_array<float>((size_t)n * n);
    return [=] { convolve_rows<<<dim3(n / 128, n / 4), dim3(16, 4)>>>(in, out, n); };
}

__global__ void kmeans_assign(const float *points, const float *centres, int *nearest, int count)
{
    enum { DIMENSIONS = 8, CENTRES = 32 };
    __shared__ float centre[CENTRES][DIMENSIONS];
    centre[threadIdx.x / DIMENSIONS][threadIdx.x % DIMENSIONS] = centres[threadIdx.x];
    __syncthreads();
    int p = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
    float point[DIMENSIONS], least = 1e30f;
    for (int d = 0; d < DIMENSIONS; d++)
        point[d] = points[(size_t)d * count + p];
    for (int c = 0; c < CENTRES; c++) {
        float square = 0;
        for (int d = 0; d < DIMENSIONS; d++)
            square += (point[d] - centre[c][d]) * (point[d] - centre[c][d]);
        if (square < least) {
            least = square;
            best = c;
        }
    }
    nearest[p] = best;
}

static launches make_kmeans()
{
    const int count = 1 << 20;
    float *points = device_copy(random_values<float>((size_t)8 * count, 1));
    float *centres = device_copy(random_values<float>(256, 1));
    int *nearest = device_array<int>(count);
    return [=] { kmeans_assign<<<count / 256, 256>>>(points, centres, nearest, count); };
}

/* Lennard-Jones forces of atoms with 64 neighbours each. */
__global__ void md_forces(const float4 *position, const int *neighbour, float4 *force, int atoms)
{
    int atom = blockIdx.x * blockDim.x + threadIdx.x;
    float4 here = position[atom], sum = {0, 0, 0, 0};
    for (int i = 0; i < 64; i++) {
        float4 there = position[neighbour[(size_t)i * atoms + atom]];
        float dx = here.x - there.x, dy = here.y - there.y, dz = here.z - there.z;
        float square = dx * dx + dy * dy + dz * dz;
        if (square < 0.25f && square > 0) {
            float inverse = 1 / square, sixth = inverse * inverse * inverse;
            float strength = inverse * sixth * (1.5f * sixth - 2);
            sum.x += dx * strength;
            sum.y += dy * strength;
            sum.z += dz * strength;
        }
    }
    force[atom] = sum;
}

static launches make_md()
{
    const int atoms = 73728;
    std::vector<float> values = random_values<float>((size_t)4 * atoms, 1);
    float4 *position = (float4 *)device_copy(values), *force = device_array<float4>(atoms);
    int *neighbour = device_copy(random_values<int>((size_t)64 * atoms, atoms));
    return [=] { md_forces<<<atoms / 128, 128>>>(position, neighbour, force, atoms); };
}

/* Integers, bits, strings, tables. */

__global__ void bitonic_step(int *keys, int distance, int span)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = 2 * i - (i & (distance - 1)), high = low + distance;
    int a = keys[low], b = keys[high];
    if ((a > b) == ((low & span) == 0)) {
        keys[low] = b;
        keys[high] = a;
    }
}

static launches make_bitonic()
{
    const int count = 1 << 22;
    int *keys = device_copy(random_values<int>(count, 1e9));
    return [=] { bitonic_step<<<count / 512, 256>>>(keys, 1 << 14, 1 << 16); };
}

__global__ void monte_carlo_pi(unsigned long long *inside, int tries)
{
    uint32_t a = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345, b = a ^ 0x9e3779b9u;
    int hits = 0;
    for (int i = 0; i < tries; i++) {
        a ^= a << 13, a ^= a >> 17, a ^= a << 5;
        b = b * 1664525u + 1013904223u;
        float x = a * 0x1p-32f, y = b * 0x1p-32f;
        hits += x * x + y * y < 1;
    }
    for (int distance = 16; distance > 0; distance /= 2)
        hits += __shfl_xor_sync(~0u, hits, distance);
    if (threadIdx.x % 32 == 0)
        atomicAdd(inside, (unsigned long long)hits);
}

static launches make_pi()
{
    return [inside = device_array<unsigned long long>(1)] { monte_carlo_pi<<<1056, 256>>>(inside, 512); };
}

__constant__ char needle[16] = {1, 3, 2, 0, 1, 1, 2, 3, 0, 0, 2, 1, 3, 3, 1, 0};

__global__ void string_match(const char *text, int *found, int length)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x, same = 0;
    if (at + 16 > length)
        return;
    while (same < 16 && text[at + same] == needle[same])
        same++;
    if (same > 6)
        atomicAdd(found + same, 1);
}

static launches make_match()
{
    const int length = 16 << 20;
    char *text = device_copy(random_values<char>(length, 4));
    return [=, found = device_array<int>(32)] { string_match<<<length / 256, 256>>>(text, found, length); };
}

__global__ void hash_insert(const uint32_t *keys, uint32_t *table, uint32_t mask, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    uint32_t key = keys[i] | 1, at = key * 2654435761u >> 10 & mask;
    while (true) {
        uint32_t before = atomicCAS(table + at, 0, key);
        if (before == 0 || before == key)
            return;
        at = (at + 1) & mask;
    }
}

static launches make_hash()
{
    const int count = 1 << 21, slots = 1 << 22;
    uint32_t *keys = device_copy(random_values<uint32_t>(count, 4e9)), *table = device_array<uint32_t>(slots);
    return [=] { hash_insert<<<count / 256, 256>>>(keys, table, slots - 1, count); };
}

/* Nearest of 512 codes of 256 bits, by population counts. */
__global__ void hamming_nearest(const uint4 *codes, const uint4 *queries, int *nearest, int many)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x, best = 0, least = 1 << 30;
    uint4 a = queries[2 * q], b = queries[2 * q + 1];
    for (int i = 0; i < many; i++) {
        uint4 c = codes[2 * i], d = codes[2 * i + 1];
        int bits = __popc(a.x ^ c.x) + __popc(a.y ^ c.y) + __popc(a.z ^ c.z) + __popc(a.w ^ c.w) +
                   __popc(b.x ^ d.x) + __popc(b.y ^ d.y) + __popc(b.z ^ d.z) + __popc(b.w ^ d.w);
        if (bits < least) {
            least = bits;
            best = i;
        }
    }
    nearest[q] = best;
}

static launches make_hamming()
{
    const int queries = 1 << 17, codes = 512;
    uint4 *c = (uint4 *)device_copy(random_values<uint32_t>((size_t)codes * 8, 4e9));
    uint4 *q = (uint4 *)device_copy(random_values<uint32_t>((size_t)queries * 8, 4e9));
    int *nearest = device_array<int>(queries);
    return [=] { hamming_nearest<<<queries / 128, 128>>>(c, q, nearest, codes); };
}

/* The cipher XTEA, 32 rounds, two words a thread. */
__global__ void xtea_encrypt(uint2 *data, uint4 key)
{
    const uint32_t k[4] = {key.x, key.y, key.z, key.w};
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint2 v = data[at];
    uint32_t sum = 0;
#pragma unroll 4
    for (int i = 0; i < 32; i++) {
        v.x += ((v.y << 4 ^ v.y >> 5) + v.y) ^ (sum + k[sum & 3]);
        sum += 0x9e3779b9;
        v.y += ((v.x << 4 ^ v.x >> 5) + v.x) ^ (sum + k[sum >> 11 & 3]);
    }
    data[at] = v;
}

static launches make_xtea()
{
    const int count = 1 << 21;
    uint2 *data = device_array<uint2>(count);
    return [=] { xtea_encrypt<<<count / 256, 256>>>(data, make_uint4(11, 22, 33, 44)); };
}

__global__ void collatz(int *most, int from)
{
    unsigned long long n = (unsigned long long)from + blockIdx.x * blockDim.x + threadIdx.x;
    int steps = 0;
    for (; n != 1; steps++)
        n = n & 1 ? 3 * n + 1 : n >> 1;
    atomicMax(most + blockIdx.x % 64, steps);
}

static launches make_collatz()
{
    return [most = device_array<int>(64)] { collatz<<<2048, 128>>>(most, 1000001); };
}

/* Sums and finance. */

__global__ void dot(const float *a, const float *b, float *result, int count)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    __shared__ float part[32];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int distance = 16; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(~0u, sum, distance);
        if (threadIdx.x == 0)
            atomicAdd(result, sum);
    }
}

template <int BLOCKS> static launches make_dot()
{
    const int count = 1 << 20;
    float *a = device_copy(random_values<float>(count, 1)), *b = device_array<float>(count);
    float *result = device_array<float>(1);
    return [=] { dot<<<BLOCKS, 512>>>(a, b, result, count); };
}

__device__ double below(double d) { return 0.5 * erfc(-d * 0.70710678118654752); }

__global__ void black_scholes(const double *price, const double *strike, double *call, double years)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    double s = price[i] + 5, x = strike[i] + 1, spread = 0.3 * sqrt(years);
    double d1 = (log(s / x) + (0.02 + 0.045) * years) / spread, d2 = d1 - spread;
    call[i] = s * below(d1) - x * exp(-0.02 * years) * below(d2);
}

static launches make_black_scholes()
{
    const int count = 1 << 20;
    double *price = device_copy(random_values<double>(count, 25));
    double *strike = device_copy(random_values<double>(count, 100)), *call = device_array<double>(count);
    return [=] { black_scholes<<<count / 128, 128>>>(price, strike, call, 0.5); };
}

static const profile_case cases[] = {
    {"bfs_level", make_bfs}, {"floyd_warshall", make_floyd}, {"fdtd3d", make_fdtd},
    {"lattice_boltzmann", make_boltzmann}, {"needleman_wunsch", make_needleman}, {"lu_batched", make_lu},
    {"transpose_add", make_transpose_add}, {"convolve_rows", make_convolve}, {"kmeans_assign", make_kmeans},
    {"md_forces", make_md}, {"bitonic_step", make_bitonic}, {"monte_carlo_pi", make_pi},
    {"string_match", make_match}, {"hash_insert", make_hash}, {"hamming_nearest", make_hamming},
    {"xtea_encrypt", make_xtea}, {"collatz", make_collatz}, {"dot_8_blocks", make_dot<8>},
    {"dot_66_blocks", make_dot<66>}, {"black_scholes_fp64", make_black_scholes},
};

int main(int argc, char **argv)
{
    return run_cases(cases, argc, argv);
}
