/* base/device: functions that a device runs as the host does. PTAH_HD: always inlined, for point
 * functions in loops; PTAH_HD_FN: the compiler decides. For C, C++ and CUDA. */
#pragma once

#if defined(__CUDACC__)
#define PTAH_HD static __host__ __device__ __forceinline__
#define PTAH_HD_FN static inline __host__ __device__ __attribute__((unused))
#else
#define PTAH_HD static inline __attribute__((always_inline))
#define PTAH_HD_FN static inline
#endif
