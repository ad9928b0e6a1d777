/* base/device: qualifiers of functions, for C, C++ and CUDA. INLINE: always inlined, for loops with
 * constant arguments. The others are for functions that are compiled for both host and device.
 * PTAH_HD: always inlined, for point functions in loops. PTAH_HD_FN: the compiler decides.
 * PTAH_HD_OUT: the compiler decides on hosts, never inlined on a device, for large functions rarely
 * called. */
#pragma once

/* Builds without optimisation, such as those with sanitizers, inline nothing: compilers would need
 * minutes for the functions that result. */
#ifdef __OPTIMIZE__
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#if defined(__CUDACC__)
#define PTAH_HD static __host__ __device__ __forceinline__
#define PTAH_HD_FN static inline __host__ __device__ __attribute__((unused))
#define PTAH_HD_OUT static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define PTAH_HD INLINE
#define PTAH_HD_FN static inline
#define PTAH_HD_OUT static inline
#endif
