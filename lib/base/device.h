/* base/device: qualifiers of functions compiled for both host and device. PTAH_HD: always inlined,
 * for point functions in loops. PTAH_HD_FN: the compiler decides. PTAH_HD_OUT: the compiler decides
 * on hosts, never inlined on a device, for large functions rarely called. For C, C++ and CUDA. */
#pragma once

#if defined(__CUDACC__)
#define PTAH_HD static __host__ __device__ __forceinline__
#define PTAH_HD_FN static inline __host__ __device__ __attribute__((unused))
#define PTAH_HD_OUT static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define PTAH_HD static inline __attribute__((always_inline))
#define PTAH_HD_FN static inline
#define PTAH_HD_OUT static inline
#endif
