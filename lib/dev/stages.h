/* dev/stages: kernels of several stages, between which all blocks wait for each other, so that many
 * small dependent launches become one.
 *
 *     KERNEL_STAGES(name, struct args, struct shared, threads)
 *     {
 *         … stage …
 *     }
 *
 * is a kernel as in dev/kernel.h whose text runs once per stage, 0 ≤ stage < a->each.stages, by all
 * blocks; a stage sees all writes of the stages before it, but shared memory does not outlast a
 * stage. The first member of its arguments is `struct dev_stages each`. All blocks run at the same
 * time, so there are at most dev_together blocks; a device or driver may admit none, and callers
 * then use launches for the stages. */
#pragma once
#include "dev/kernel.h"

struct dev_stages {
    int stages;
    int stage; /* set by the emulated device; other callers leave 0 */
};

#if defined(__CUDACC__)
#include <cooperative_groups.h>

/* clang-format off */
#define KERNEL_STAGES(name, args_type, shared_type, threads)                                       \
    static __device__ __forceinline__ void name##_block(const args_type *a, shared_type *s,        \
                                                        struct dev_block *b, int stage);           \
    __global__ void __launch_bounds__(threads, 1) name(const __grid_constant__ args_type a)        \
    {                                                                                              \
        extern __shared__ __align__(16) unsigned char shared_[];                                   \
        struct dev_block b = {(int)blockIdx.x, (int)gridDim.x, 0};                                 \
        for (int stage = 0; stage < a.each.stages; stage++) {                                      \
            name##_block(&a, (shared_type *)shared_, &b, stage);                                   \
            cooperative_groups::this_grid().sync();                                                \
        }                                                                                          \
    }                                                                                              \
    DEV_CUDA_ENTRY(name, shared_type,                                                              \
                   void *all[] = {(void *)args};                                                   \
                   return (int)cudaLaunchCooperativeKernel(                                        \
                       (const void *)name, dim3(blocks), dim3(threads), all, sizeof(shared_type),  \
                       (cudaStream_t)stream);)                                                     \
    static __device__ __forceinline__ void name##_block(const args_type *a, shared_type *s,        \
                                                        struct dev_block *b, int stage)

#else

struct dev;
struct dev_stream;
/* Number of blocks of such a kernel that run at the same time: dev_processors, fewer if the driver
 * admits only fewer, or 0 if the device has no such launches. The driver is asked once. */
int dev_together(struct dev_stream *s, const struct dev_kernel *k);
/* dev_launch of such a kernel, of at most dev_together blocks. Without stages there is no launch.
 */
void dev_launch_stages(struct dev_stream *s, const struct dev_kernel *k, int64_t blocks,
                       const void *args);
/* For the log: a stage does the work of a launch of so many blocks of a kernel; the name, a
 * literal, is "stage_" and the name of that kernel. */
void dev_stage_count(struct dev_stream *s, const char *name, int64_t blocks);

#define KERNEL_STAGES(name, args_type, shared_type, threads)                                       \
    _Static_assert(offsetof(args_type, each) == 0, "stages come first");                           \
    static void name##_block(const args_type *a, shared_type *s, struct dev_block *b, int stage);  \
    static void name##_host(const void *a, void *s, struct dev_block *b)                           \
    {                                                                                              \
        name##_block(a, s, b, ((const args_type *)a)->each.stage);                                 \
    }                                                                                              \
    DEV_CUDA_DECLARE(name)                                                                         \
    const struct dev_kernel name = {#name, threads, sizeof(shared_type), sizeof(args_type),        \
                                    name##_host, DEV_CUDA_OF(name)};                               \
    static void name##_block(const args_type *a, shared_type *s, struct dev_block *b, int stage)
/* clang-format on */

#endif
