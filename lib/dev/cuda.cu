/* dev/cuda: the back end for NVIDIA GPUs, using the CUDA runtime library and CUB. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "dev/kernel.h"

extern "C" {
#include "dev/backend.h"
#include "dev/pool.h"
}

/* A measured launch. */
struct timed {
    const char *kernel;
    int64_t blocks;
    cudaEvent_t begin, end;
    struct timed *next;
};

struct cuda_dev {
    int number, processors;
    cudaError_t error; /* first error */
    struct dev_clock *clock;
    struct timed *timed; /* launches whose times are not yet taken */
    struct dev_pool pool;
};

/* Small copies to the host, up to SMALL bytes, go through a pinned buffer. The driver would stage
 * copies to pageable memory only when the stream reaches them; from the pinned buffer the host
 * copies when it waits. */
enum { SMALL = 1 << 14, LETTERS = 1 << 17 };
struct letter {
    void *to;
    size_t at, bytes;
};

/* State of a stream. scratch: workspace of scans and sorts, which run one after the other. */
struct cuda_stream {
    cudaStream_t s;
    void *scratch;
    size_t bytes;
    char *box; /* pinned buffer of LETTERS bytes, or NULL */
    size_t filled;
    struct letter letter[LETTERS / 256];
    int letters;
};

static void keep(void *dev, cudaError_t e)
{
    struct cuda_dev *d = (struct cuda_dev *)dev;
    if (d->error == cudaSuccess) d->error = e;
}

static cudaStream_t stream_of(void *stream)
{
    return ((struct cuda_stream *)stream)->s;
}

/* Opens a device; ranks of a node use its devices in turn. The process keeps freed memory. */
static void *cuda_open(const struct dev_how *how, struct dev_clock *c, char name[DEV_NAME],
                       char why[DEV_WHY])
{
    int n = 0;
    struct cudaDeviceProp prop;
    cudaMemPool_t pool;
    uint64_t max = UINT64_MAX;
    cudaError_t e = cudaGetDeviceCount(&n);
    if (e == cudaSuccess && n == 0) e = cudaErrorNoDevice;
    int number = n > 0 ? how->rank % n : 0;
    if (e == cudaSuccess) e = cudaSetDevice(number);
    if (e == cudaSuccess) e = cudaGetDeviceProperties(&prop, number);
    if (e == cudaSuccess) e = cudaDeviceGetDefaultMemPool(&pool, number);
    if (e == cudaSuccess) e = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &max);
    if (e != cudaSuccess) {
        snprintf(why, DEV_WHY, "CUDA: %s", cudaGetErrorString(e));
        return NULL;
    }
    struct cuda_dev *d = new cuda_dev();
    d->number = number;
    d->processors = prop.multiProcessorCount;
    d->error = cudaSuccess;
    d->clock = c;
    snprintf(name, DEV_NAME, "%s, device %d of %d", prop.name, number, n);
    return d;
}

/* Returns all pooled blocks to the driver; false if the pool was empty. */
static bool pool_empty(struct cuda_dev *d)
{
    bool any = false;
    while (void *p = pool_any(&d->pool)) {
        keep(d, cudaFreeAsync(p, 0));
        any = true;
    }
    return any;
}

static void cuda_close(void *dev)
{
    struct cuda_dev *d = (struct cuda_dev *)dev;
    cudaDeviceSynchronize();
    pool_empty(d);
    pool_free(&d->pool);
    delete d;
}

static int cuda_processors(const void *dev)
{
    return ((const struct cuda_dev *)dev)->processors;
}

static void *cuda_alloc(void *dev, size_t bytes, const char *name)
{
    struct cuda_dev *d = (struct cuda_dev *)dev;
    void *p = pool_take(&d->pool, bytes);
    if (p) return p;
    cudaError_t e = cudaMallocAsync(&p, pool_size(bytes), 0);
    if (e != cudaSuccess && pool_empty(d)) {
        cudaGetLastError(); /* clears the error, which is not sticky */
        e = cudaMallocAsync(&p, pool_size(bytes), 0);
    }
    if (e != cudaSuccess) {
        cudaGetLastError();
        return NULL;
    }
    keep(dev, cudaStreamSynchronize(0));
    return p;
}

static void cuda_release(void *dev, void *p, size_t bytes)
{
    struct cuda_dev *d = (struct cuda_dev *)dev;
    if (!pool_give(&d->pool, p, bytes)) keep(dev, cudaFreeAsync(p, 0));
}

/* ---- streams ---- */

/* Next multiple of the driver's alignment. */
static size_t aligned(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Waits for the stream, then copies the pinned results to their destinations. */
static void letters_open(void *dev, struct cuda_stream *s)
{
    keep(dev, cudaStreamSynchronize(s->s));
    for (int i = 0; i < s->letters; i++)
        memcpy(s->letter[i].to, s->box + s->letter[i].at, s->letter[i].bytes);
    s->letters = 0;
    s->filled = 0;
}

static bool letter_send(void *dev, struct cuda_stream *s, void *to, const void *from, size_t bytes)
{
    const size_t room = aligned(bytes);
    if (!s->box || bytes > SMALL) return false;
    if (s->filled + room > LETTERS) letters_open(dev, s);
    s->letter[s->letters++] = (struct letter){to, s->filled, bytes};
    keep(dev, cudaMemcpyAsync(s->box + s->filled, from, bytes, cudaMemcpyDeviceToHost, s->s));
    s->filled += room;
    return true;
}

/* Whether a copy from the host reads memory whose pending result has not yet arrived. */
static bool letters_meet(const struct cuda_stream *s, const void *from, size_t bytes)
{
    const char *begin = (const char *)from, *end = begin + bytes;
    bool meet = false;
    for (int i = 0; i < s->letters; i++) {
        const char *to = (const char *)s->letter[i].to;
        meet |= to < end && begin < to + s->letter[i].bytes;
    }
    return meet;
}

static void *cuda_stream_new(void *dev)
{
    struct cuda_stream *s = new cuda_stream();
    keep(dev, cudaStreamCreateWithFlags(&s->s, cudaStreamNonBlocking));
    if (cudaMallocHost(&s->box, LETTERS) != cudaSuccess) {
        s->box = NULL;
        cudaGetLastError();
    }
    return s;
}

static void cuda_stream_free(void *dev, void *stream)
{
    struct cuda_stream *s = (struct cuda_stream *)stream;
    if (s->scratch) keep(dev, cudaFreeAsync(s->scratch, s->s));
    letters_open(dev, s);
    keep(dev, cudaStreamDestroy(s->s));
    if (s->box) keep(dev, cudaFreeHost(s->box));
    delete s;
}

static void *cuda_event_new(void *dev)
{
    cudaEvent_t e = NULL;
    keep(dev, cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    return e;
}

static void cuda_event_free(void *dev, void *event)
{
    keep(dev, cudaEventDestroy((cudaEvent_t)event));
}

static void cuda_record(void *dev, void *event, void *stream)
{
    keep(dev, cudaEventRecord((cudaEvent_t)event, stream_of(stream)));
}

static void cuda_after(void *dev, void *stream, void *event)
{
    keep(dev, cudaStreamWaitEvent(stream_of(stream), (cudaEvent_t)event, 0));
}

/* Takes the times of all launches, on all streams. */
static void take_times(struct cuda_dev *d)
{
    while (struct timed *t = d->timed) {
        float ms = 0;
        keep(d, cudaEventSynchronize(t->end));
        keep(d, cudaEventElapsedTime(&ms, t->begin, t->end));
        dev_clock_add(d->clock, t->kernel, t->blocks, 1e-3 * ms);
        keep(d, cudaEventDestroy(t->begin));
        keep(d, cudaEventDestroy(t->end));
        d->timed = t->next;
        delete t;
    }
}

static bool cuda_wait(void *dev, void *stream, char why[DEV_WHY])
{
    struct cuda_dev *d = (struct cuda_dev *)dev;
    letters_open(dev, (struct cuda_stream *)stream);
    take_times(d);
    if (d->error == cudaSuccess) return true;
    snprintf(why, DEV_WHY, "%s", cudaGetErrorString(d->error));
    return false;
}

static void cuda_move(void *dev, void *stream, enum dev_way way, void *to, const void *from,
                      size_t bytes)
{
    cudaMemcpyKind kind = way == DEV_PUT   ? cudaMemcpyHostToDevice
                          : way == DEV_GET ? cudaMemcpyDeviceToHost
                                           : cudaMemcpyDeviceToDevice;
    struct cuda_stream *s = (struct cuda_stream *)stream;
    if (way == DEV_GET && letter_send(dev, s, to, from, bytes)) return;
    if (way == DEV_PUT && letters_meet(s, from, bytes)) letters_open(dev, s);
    keep(dev, cudaMemcpyAsync(to, from, bytes, kind, stream_of(stream)));
}

static void cuda_fill(void *dev, void *stream, void *to, int byte, size_t bytes)
{
    keep(dev, cudaMemsetAsync(to, byte, bytes, stream_of(stream)));
}

static void cuda_launch(void *dev, void *stream, const struct dev_kernel *k, int64_t blocks,
                        int stages, const void *args)
{
    struct cuda_dev *d = (struct cuda_dev *)dev;
    struct timed t = {k->name, blocks, NULL, NULL, d->timed};
    if (d->clock) {
        keep(dev, cudaEventCreate(&t.begin));
        keep(dev, cudaEventCreate(&t.end));
        keep(dev, cudaEventRecord(t.begin, stream_of(stream)));
    }
    keep(dev, (cudaError_t)k->cuda(stream_of(stream), (unsigned)blocks, args));
    if (!d->clock) return;
    keep(dev, cudaEventRecord(t.end, stream_of(stream)));
    d->timed = new struct timed(t);
}

/* The driver answers by admitting a launch without stages or not. It knows more than an occupancy
 * calculation, as a debugger or a service may have reserved multiprocessors. */
static int cuda_together(void *dev, void *stream, const struct dev_kernel *k)
{
    static const char args[4096] = {0}; /* no stages */
    const struct cuda_dev *d = (const struct cuda_dev *)dev;
    int can = 0, n = d->processors;
    cudaError_t e = cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, d->number);
    if (e != cudaSuccess || !can || d->error != cudaSuccess || k->args > sizeof args) return 0;
    while (n > 0 && k->cuda(stream_of(stream), (unsigned)n, args) != (int)cudaSuccess) {
        cudaGetLastError(); /* clears the error, which is not sticky */
        n /= 2;
    }
    return n;
}

/* Workspace of at least this many bytes for the next operation of the stream; it only grows. */
static void *scratch(void *dev, void *stream, size_t bytes)
{
    struct cuda_stream *s = (struct cuda_stream *)stream;
    if (s->bytes >= bytes) return s->scratch;
    if (s->scratch) keep(dev, cudaFreeAsync(s->scratch, s->s));
    s->bytes = bytes + bytes / 2;
    s->scratch = NULL;
    keep(dev, cudaMallocAsync(&s->scratch, s->bytes, s->s));
    return s->scratch;
}

/* Input iterator over from[i], with 0 appended, so that n+1 sums need one scan. */
struct ended {
    const int32_t *from;
    int64_t n;
    __device__ int32_t operator()(int64_t i) const
    {
        return i < n ? from[i] : 0;
    }
};

enum { SCAN_THREADS = 1024, SCAN_EACH = 4, SCAN_SHORT = 4 * SCAN_THREADS * SCAN_EACH };

/* Scan in a single block: short scans then need one launch instead of the two of CUB. */
__global__ void __launch_bounds__(SCAN_THREADS) scan_short(int32_t *to, const struct ended from)
{
    typedef cub::BlockScan<int32_t, SCAN_THREADS> block_scan;
    __shared__ typename block_scan::TempStorage shared;
    int32_t before = 0;
    for (int64_t begin = 0; begin <= from.n; begin += SCAN_THREADS * SCAN_EACH) {
        const int64_t at = begin + (int64_t)threadIdx.x * SCAN_EACH;
        int32_t x[SCAN_EACH], all;
        for (int k = 0; k < SCAN_EACH; k++) x[k] = from(at + k);
        block_scan(shared).ExclusiveSum(x, x, all);
        for (int k = 0; k < SCAN_EACH; k++)
            if (at + k <= from.n) to[at + k] = before + x[k];
        before += all;
        __syncthreads();
    }
}

static void cuda_scan(void *dev, void *stream, int32_t *to, const int32_t *from, int64_t n)
{
    cudaStream_t s = stream_of(stream);
    const struct ended all = {from, n};
    if (n < SCAN_SHORT) {
        scan_short<<<1, SCAN_THREADS, 0, s>>>(to, all);
        keep(dev, cudaGetLastError());
        return;
    }
    auto in = thrust::make_transform_iterator(thrust::make_counting_iterator((int64_t)0), all);
    size_t room = 0;
    keep(dev, cub::DeviceScan::ExclusiveSum(NULL, room, in, to, n + 1, s));
    void *p = scratch(dev, stream, room);
    keep(dev, cub::DeviceScan::ExclusiveSum(p, room, in, to, n + 1, s));
}

static void cuda_sort(void *dev, void *stream, uint64_t *key, int32_t *value, int64_t n)
{
    cudaStream_t s = stream_of(stream);
    const size_t of_key = (size_t)n * sizeof *key, of_value = (size_t)n * sizeof *value,
                 second = aligned(of_key), third = second + aligned(of_value);
    size_t room = 0;
    cub::DoubleBuffer<uint64_t> k(key, key);
    cub::DoubleBuffer<int32_t> v(value, value);
    keep(dev, cub::DeviceRadixSort::SortPairs(NULL, room, k, v, n, 0, 64, s));
    char *p = (char *)scratch(dev, stream, third + room);
    k = cub::DoubleBuffer<uint64_t>(key, (uint64_t *)p);
    v = cub::DoubleBuffer<int32_t>(value, (int32_t *)(p + second));
    keep(dev, cub::DeviceRadixSort::SortPairs(p + third, room, k, v, n, 0, 64, s));
    if (k.Current() != key)
        keep(dev, cudaMemcpyAsync(key, k.Current(), of_key, cudaMemcpyDeviceToDevice, s));
    if (v.Current() != value)
        keep(dev, cudaMemcpyAsync(value, v.Current(), of_value, cudaMemcpyDeviceToDevice, s));
}

extern "C" const struct dev_ops dev_ops_cuda = {
    .kind = "cuda",
    .host = false,
    .open = cuda_open,
    .close = cuda_close,
    .processors = cuda_processors,
    .together = cuda_together,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .stream_new = cuda_stream_new,
    .stream_free = cuda_stream_free,
    .event_new = cuda_event_new,
    .event_free = cuda_event_free,
    .record = cuda_record,
    .after = cuda_after,
    .wait = cuda_wait,
    .move = cuda_move,
    .fill = cuda_fill,
    .launch = cuda_launch,
    .scan = cuda_scan,
    .sort = cuda_sort,
};
