/* branches.cu - kernels whose blocks end apart: each spins for so long and a hashed part of `spread_ns` more. */
__device__ unsigned hashed(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

__device__ unsigned long long global_ns()
{
    unsigned long long ns;

    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return ns;
}

__device__ void turn(int ns, int spread_ns, int seed)
{
    unsigned long long start = global_ns();
    unsigned more = (unsigned)(((unsigned long long)hashed(blockIdx.x * 7919u + seed) * (unsigned)spread_ns) >> 32);

    while (global_ns() - start < (unsigned long long)(ns + more))
        ;
}

extern "C" __global__ void spin(int ns, int spread_ns, int seed)
{
    turn(ns, spread_ns, seed);
}

extern "C" __global__ void __cluster_dims__(8, 1, 1) spin_cluster(int ns, int spread_ns, int seed)
{
    turn(ns, spread_ns, seed);
}
