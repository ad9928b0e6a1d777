/* dev/kernel: block kernels as one text for all back ends.
 *
 * A file lib/<module>/<name>_kernel.c is compiled by the C compiler for the emulated device and,
 * where there is nvcc, once more as CUDA. A kernel is
 *
 *     KERNEL(name, struct args, struct shared, threads)
 *     {
 *         PHASE (i, n) { … }
 *         for (int k = 0; k < m; k++)
 *             PHASE (i, n) { … }
 *     }
 *
 * with a (its arguments), s (shared memory of the block) and b->index of b->count blocks. The
 * threads of a block divide the iterations 0 ≤ i < n of a phase, concurrently and in any order; a
 * barrier ends each phase, so the next phase sees all its writes. Within a phase no iteration may
 * read a value written by another. Code outside of phases is executed by all threads alike. In a
 * phase `continue` is allowed, `break` and `return` are not. Values that outlive a phase are stored
 * in s or in device memory.
 *
 * DEV_FN: functions of kernels, which may contain phases; DEV_FN_OUT: functions rarely called.
 * dev_load(to, from): loads a number from device memory into s, valid once the phase has ended.
 * dev_add_i64, dev_add_i32: atomic integer sums in shared or device memory, independent of order.
 * dev_swap_if: atomic compare-and-swap; results must not depend on which thread succeeds.
 *
 * Results are bit for bit equal to the CPU's: no fused operations (-fmad=false), point functions
 * from headers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/device.h"

enum { DEV_THREADS = 256 }; /* default threads per block */
struct dev_nothing {        /* shared memory of a block without any */
    int unused;
};

/* Number of blocks for n threads. */
PTAH_HD int64_t dev_blocks(int64_t n)
{
    return (n + DEV_THREADS - 1) / DEV_THREADS;
}

struct dev_block {
    int index, count; /* index of this block; number of blocks */
    uint64_t random;  /* emulated device: state of the random order; 0: ascending order */
};

struct dev_kernel {
    const char *name;
    int threads;
    size_t shared, args; /* sizes in bytes */
    void (*host)(const void *args, void *shared, struct dev_block *b);
    /* launcher; NULL: built without CUDA */
    int (*cuda)(void *stream, unsigned blocks, const void *args);
};

#if defined(__CUDACC__)

/* clang-format off */
/* Defines name_cuda, a function for dev/cuda, which launches a kernel by the given statements; they
 * return an error of CUDA. */
#define DEV_CUDA_ENTRY(name, shared_type, ...)                                                     \
    __device__ int name##_shared = sizeof(shared_type); /* read by tests/property/kernels.py */    \
    extern "C" int name##_cuda(void *stream, unsigned blocks, const void *args)                    \
    {                                                                                              \
        static const cudaError_t room = cudaFuncSetAttribute(                                      \
            name, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(shared_type));          \
        if (room != cudaSuccess) return (int)room;                                                 \
        __VA_ARGS__                                                                                \
    }

#define KERNEL(name, args_type, shared_type, threads)                                              \
    static __device__ __forceinline__ void name##_block(const args_type *a, shared_type *s,        \
                                                        struct dev_block *b);                      \
    __global__ void __launch_bounds__(threads, (threads) > 512 ? 1 : (threads) > 128 ? 2 : 4)      \
        name(const __grid_constant__ args_type a)                                                  \
    {                                                                                              \
        extern __shared__ __align__(16) unsigned char shared_[];                                   \
        struct dev_block b = {(int)blockIdx.x, (int)gridDim.x, 0};                                 \
        name##_block(&a, (shared_type *)shared_, &b);                                              \
    }                                                                                              \
    DEV_CUDA_ENTRY(name, shared_type,                                                              \
                   name<<<blocks, threads, sizeof(shared_type), (cudaStream_t)stream>>>(           \
                       *(const args_type *)args);                                                  \
                   return (int)cudaGetLastError();)                                                \
    static __device__ __forceinline__ void name##_block(const args_type *a, shared_type *s,        \
                                                        struct dev_block *b)
/* clang-format on */

#define DEV_FN static __device__ __forceinline__
#define DEV_FN_OUT static __device__ __noinline__

static __device__ __forceinline__ void dev_load(double *to, const double *from)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at), "l"(from) : "memory");
}

static __device__ __forceinline__ void dev_barrier(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
}

/* Atomic compare-and-swap: *at := to if *at equals `is`; returns the old value. */
static __device__ __forceinline__ int32_t dev_swap_if(int32_t *at, int32_t is, int32_t to)
{
    return atomicCAS((int *)at, is, to);
}
#define PHASE(i, n)                                                                                \
    for (int phase_ = 1; phase_; phase_ = 0, dev_barrier())                                        \
        for (int i = (int)threadIdx.x; i < (n); i += (int)blockDim.x)

/* Atomic addition; returns the old value. */
DEV_FN int64_t dev_add_i64(int64_t *to, int64_t x)
{
    return (int64_t)atomicAdd((unsigned long long *)to, (unsigned long long)x);
}
DEV_FN int32_t dev_add_i32(int32_t *to, int32_t x)
{
    return atomicAdd(to, x);
}

#else

/* Permutation of 0 ≤ at < n: random start, step coprime to n. */
struct dev_walk {
    int left, at, step, n;
};

/* Atomic compare-and-swap: *at := to if *at equals `is`; returns the old value. */
static inline int32_t dev_swap_if(int32_t *at, int32_t is, int32_t to)
{
    __atomic_compare_exchange_n(at, &is, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return is;
}

static inline uint64_t dev_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline struct dev_walk dev_walk(struct dev_block *b, int n)
{
    struct dev_walk w = {n, 0, 1, n};
    if (b->random == 0 || n < 2) return w;
    w.at = (int)(dev_random(&b->random) % (uint64_t)n);
    int x = n, y;
    do { /* Euclid's algorithm */
        w.step = 1 + (int)(dev_random(&b->random) % (uint64_t)(n - 1));
        for (x = n, y = w.step; y != 0;) {
            int r = x % y;
            x = y;
            y = r;
        }
    } while (x != 1);
    return w;
}

static inline void dev_walk_on(struct dev_walk *w)
{
    w->left--;
    w->at += w->step;
    if (w->at >= w->n) w->at -= w->n;
}

#ifdef PTAH_CUDA
#define DEV_CUDA_DECLARE(name) int name##_cuda(void *stream, unsigned blocks, const void *args);
#define DEV_CUDA_OF(name) name##_cuda
#else
#define DEV_CUDA_DECLARE(name)
#define DEV_CUDA_OF(name) NULL
#endif

/* clang-format off */
#define KERNEL(name, args_type, shared_type, threads)                                              \
    static void name##_block(const args_type *a, shared_type *s, struct dev_block *b);             \
    static void name##_host(const void *a, void *s, struct dev_block *b)                           \
    {                                                                                              \
        name##_block(a, s, b);                                                                     \
    }                                                                                              \
    DEV_CUDA_DECLARE(name)                                                                         \
    const struct dev_kernel name = {#name, threads, sizeof(shared_type), sizeof(args_type),        \
                                    name##_host, DEV_CUDA_OF(name)};                               \
    static void name##_block(const args_type *a, shared_type *s, struct dev_block *b)
/* clang-format on */

#define DEV_FN static inline
#define DEV_FN_OUT static

static inline void dev_load(double *to, const double *from)
{
    *to = *from;
}

#define PHASE(i, n)                                                                                \
    for (struct dev_walk walk_ = dev_walk(b, (n)); walk_.left > 0; dev_walk_on(&walk_))            \
        for (int i = walk_.at, once_ = 1; once_; once_ = 0, (void)(i))

static inline int64_t dev_add_i64(int64_t *to, int64_t x)
{
    return __atomic_fetch_add(to, x, __ATOMIC_RELAXED);
}
static inline int32_t dev_add_i32(int32_t *to, int32_t x)
{
    return __atomic_fetch_add(to, x, __ATOMIC_RELAXED);
}

#endif
