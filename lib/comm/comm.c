/* comm: see comm.h. A thin layer over MPI; counts above 2^31 are split into pieces. */
#include "comm/comm.h"

#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "comm/transport.h"

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

static bool is_many(const char *name)
{
    return strtol(getenv(name), NULL, 10) > 1;
}

/* Environment variables of launchers: number of processes, and rank (NULL if not provided). Slurm
 * sets its variables per step; a job script is a single process outside of any step. */
static const struct {
    const char *size, *rank;
} LAUNCHERS[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                 {"PMI_SIZE", "PMI_RANK"},
                 {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
                 {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
                 {"PALS_SIZE", "PALS_RANKID"},
                 {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
enum { LAUNCHER_COUNT = sizeof LAUNCHERS / sizeof *LAUNCHERS };

/* Warns that several processes run without MPI: each would do all the work and write the same
 * files. Only the first process prints. */
static void log_alone(const char *program)
{
    const char *slash = program ? strrchr(program, '/') : NULL;
    for (int i = 0; i < LAUNCHER_COUNT; i++) {
        const char *size = LAUNCHERS[i].size, *rank = getenv(LAUNCHERS[i].rank);
        if (!is_set(size)) continue;
        if (is_many(size) && (!rank || strtol(rank, NULL, 10) == 0))
            fprintf(stderr,
                    "%s: MPI counts 1 rank, but the launcher started %s (%s): each does all the "
                    "work; use the launcher of the MPI that Ptah was built with\n",
                    slash     ? slash + 1
                    : program ? program
                              : "",
                    getenv(size), size);
        return;
    }
}

/* Whether a launcher started several processes, according to the environment. With a single task
 * MPI is not needed, and might fail to start (Open MPI under srun without PMIx). Processes of a
 * Slurm job script are in step `batch` and are no tasks. */
static bool launched(void)
{
    static const char *const signs[] = {"PMIX_RANK",       "PMI_RANK",          "PMI_FD",
                                        "MPI_LOCALNRANKS", "ALPS_APP_PE",       "PALS_RANKID",
                                        "FLUX_TASK_RANK",  "JSM_NAMESPACE_RANK"};
    if (is_set("PTAH_MPI")) return true;
    for (int i = 0; i < LAUNCHER_COUNT; i++)
        if (is_set(LAUNCHERS[i].size)) return is_many(LAUNCHERS[i].size);
    if (is_set("SLURM_PROCID")) return is_set("SLURM_STEP_ID");
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (is_set(signs[i])) return true;
    return false;
}

/* Without a launcher MPI is not started: its start needs a daemon and is slower than most tools. */
void comm_init(int *argc, char ***argv, struct comm *c)
{
    int started, level;
    *c = (struct comm){.rank = 0, .size = 1, .node_size = 1, .empty_messages = COMM_EMPTY_MESSAGES};
    MPI_Initialized(&started);
    if (!started && !launched()) return;
    if (!started) MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c->size);
    if (c->size == 1) log_alone(argc && *argc > 0 ? (*argv)[0] : NULL);
    comm_nodes(c);
}

void comm_nodes(struct comm *c)
{
    const char *ranks = getenv("PTAH_NODE_RANKS");
    long each = ranks ? strtol(ranks, NULL, 10) : 0;
    MPI_Comm machine, node;
    if (c->size == 1) return;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &machine);
    MPI_Comm_split(machine, each > 0 ? c->rank / (int)each : 0, c->rank, &node);
    MPI_Comm_free(&machine);
    MPI_Comm_rank(node, &c->node_rank);
    MPI_Comm_size(node, &c->node_size);
    c->node = MPI_Comm_c2f(node);
}

void comm_fini(void)
{
    int started;
    MPI_Initialized(&started);
    if (started) MPI_Finalize();
}

int comm_share_threads(struct comm *c)
{
    int here = c->node_size, max = omp_get_max_threads();
    if (!getenv("OMP_NUM_THREADS")) omp_set_num_threads(max > here ? max / here : 1);
    c->threads = omp_get_max_threads();
    return c->threads;
}

void comm_use_threads(const struct comm *c, int64_t octs)
{
    const int64_t OCTS_PER_THREAD = 512;
    if (getenv("OMP_NUM_THREADS")) return;
    int64_t want = 1 + octs / OCTS_PER_THREAD;
    omp_set_num_threads(want < c->threads ? (int)want : c->threads);
}

void comm_barrier(const struct comm *c)
{
    if (c->size > 1) MPI_Barrier(MPI_COMM_WORLD);
}

void comm_mark(const struct comm *c)
{
    if (c->size > 1) MPI_Pcontrol(1, "coarse step");
}

static void reduce(const struct comm *c, void *x, int n, MPI_Datatype type, MPI_Op op)
{
    if (c->size > 1) MPI_Allreduce(MPI_IN_PLACE, x, n, type, op, MPI_COMM_WORLD);
}

void comm_min_f64(const struct comm *c, double *x, int n)
{
    reduce(c, x, n, MPI_DOUBLE, MPI_MIN);
}

void comm_max_f64(const struct comm *c, double *x, int n)
{
    reduce(c, x, n, MPI_DOUBLE, MPI_MAX);
}

void comm_add_f64(const struct comm *c, double *x, int n)
{
    reduce(c, x, n, MPI_DOUBLE, MPI_SUM);
}

void comm_min_i64(const struct comm *c, int64_t *x, int n)
{
    reduce(c, x, n, MPI_INT64_T, MPI_MIN);
}

void comm_max_i64(const struct comm *c, int64_t *x, int n)
{
    reduce(c, x, n, MPI_INT64_T, MPI_MAX);
}

void comm_add_i64(const struct comm *c, int64_t *x, int n)
{
    reduce(c, x, n, MPI_INT64_T, MPI_SUM);
}

void comm_or_u64(const struct comm *c, uint64_t *x, int n)
{
    reduce(c, x, n, MPI_UINT64_T, MPI_BOR);
}

int64_t comm_scan_i64(const struct comm *c, int64_t x)
{
    int64_t before = 0;
    if (c->size > 1) MPI_Exscan(&x, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return c->rank ? before : 0;
}

void comm_sum(const struct comm *c, struct sum *s)
{
    comm_sums(c, s, 1);
}

void comm_sums(const struct comm *c, struct sum *s, int n)
{
    comm_sums_min(c, s, n, NULL);
}

void comm_sums_min(const struct comm *c, struct sum *s, int n, struct comm_minima *min)
{
    /* int64_t members of a sum, which has no others */
    enum { NUMBERS = sizeof *s / sizeof(int64_t) };
    _Static_assert(NUMBERS == SUM_DIGITS + 2, "a sum is digits, bad and count");
    for (int i = 0; i < n; i++) sum_carry(&s[i]);
    if (min)
        comm_union_min(c, 0, 0, 0, NULL, n * NUMBERS, (int64_t *)s, min);
    else
        comm_add_i64(c, (int64_t *)s, n * NUMBERS);
    for (int i = 0; i < n; i++) s[i].count = c->size;
}

void comm_bcast(const struct comm *c, void *p, size_t bytes, int root)
{
    if (c->size == 1) return;
    for (size_t at = 0; at < bytes; at += comm_piece_max)
        MPI_Bcast((char *)p + at, comm_piece(bytes - at), MPI_BYTE, root, MPI_COMM_WORLD);
}

void comm_reduce_by(void *x, int n, size_t bytes, MPI_User_function *join)
{
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(join, 1, &op);
    MPI_Allreduce(MPI_IN_PLACE, x, n, type, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

/* ---- union of rows ---- */

/* Operand of the reduction: this header, then the numbers to be added, the minima, the rows. */
struct bundle {
    int64_t n, max, row, nadd, nmin;
};

static int64_t *bundle_add(struct bundle *b)
{
    return (int64_t *)(b + 1);
}

static double *bundle_min(struct bundle *b)
{
    return (double *)(bundle_add(b) + b->nadd);
}

static char *bundle_rows(struct bundle *b)
{
    return (char *)(bundle_min(b) + b->nmin);
}

static void bundle_join(void *in, void *inout, int *len, MPI_Datatype *type)
{
    struct bundle *a = in, *b = inout;
    if (b->n <= b->max && a->n <= b->max - b->n)
        memcpy(bundle_rows(b) + b->n * b->row, bundle_rows(a), (size_t)(a->n * a->row));
    b->n += a->n;
    for (int64_t i = 0; i < b->nadd; i++) bundle_add(b)[i] += bundle_add(a)[i];
    for (int64_t i = 0; i < b->nmin; i++)
        if (bundle_min(a)[i] < bundle_min(b)[i]) bundle_min(b)[i] = bundle_min(a)[i];
}

int64_t comm_union(const struct comm *c, int64_t n, int64_t max, size_t row, void *rows, int nadd,
                   int64_t *add)
{
    return comm_union_min(c, n, max, row, rows, nadd, add, NULL);
}

int64_t comm_union_min(const struct comm *c, int64_t n, int64_t max, size_t row, void *rows,
                       int nadd, int64_t *add, struct comm_minima *min)
{
    size_t nmin = min ? (size_t)min->n : 0, rest = sizeof *add * (size_t)nadd;
    if (min) min->n = 0;
    if (c->size == 1) return n;
    size_t bytes = sizeof(struct bundle) + rest + sizeof(double) * nmin + row * (size_t)max;
    struct bundle *b = mem_zero(bytes, "comm union");
    *b = (struct bundle){n, max, (int64_t)row, nadd, (int64_t)nmin};
    if (nadd) memcpy(bundle_add(b), add, rest);
    if (nmin) memcpy(bundle_min(b), min->x, sizeof(double) * nmin);
    if (n > 0 && n <= max) memcpy(bundle_rows(b), rows, row * (size_t)n);
    comm_reduce_by(b, 1, bytes, bundle_join);
    n = b->n;
    if (nadd) memcpy(add, bundle_add(b), rest);
    if (nmin) memcpy(min->x, bundle_min(b), sizeof(double) * nmin);
    if (n > 0 && n <= max) memcpy(rows, bundle_rows(b), row * (size_t)n);
    FREE(b);
    return n;
}

enum err err_agree(const struct comm *c, enum err e)
{
    int64_t first = e == OK ? c->size : c->rank;
    comm_min_i64(c, &first, 1);
    if (first == c->size) return OK;
    struct {
        enum err code;
        char text[1024];
    } word = {.code = e};
    snprintf(word.text, sizeof word.text, "%s", e == OK ? "" : err_message());
    comm_bcast(c, &word, sizeof word, (int)first);
    return err_set(word.code, "%s", word.text);
}
