/* observe/clumps: tables of clumps and of the halos that consist of them, in each checkpoint
 * (clumpfind) and after coarse steps (clumpfind_every), in RAMSES's format. */
#include "clump/clump.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/stream.h"
#include "observe/observe.h"
#include "oct/field_sets.h"

static bool wanted(const struct params *p)
{
    return p->run.clumpfind;
}

static int every(const struct params *p)
{
    return p->run.clumpfind_every;
}

static int by_index(const void *a, const void *b)
{
    const struct clump *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

static enum err write_text(const struct observation *o, enum files_kind kind,
                           const struct clumps *k, bool halos)
{
    char path[PATH_MAX];
    struct stream f;
    size_t bytes;
    TRY(files_path(o->dir, kind, (int)o->head->nstep_coarse, 0, path));
    TRY(stream_open(&f, path));
    char *text = clump_text(k, halos, &bytes);
    fwrite(text, 1, bytes, f.f);
    mem_free(text);
    return stream_close(&f, 0);
}

/* Clumps of all ranks, in the order of their numbers, as files next to the outputs. */
static enum err write_step(const struct observation *o, const struct clumps *k)
{
    struct clumps all = *k;
    all.at = comm_exchange_root(o->comm, k->at, k->n, sizeof *k->at, &all.n);
    mem_sort(all.at, (size_t)all.n, sizeof *all.at, by_index);
    enum err err = OK;
    if (o->comm->rank == 0) err = write_text(o, FILES_CLUMP_STEP, &all, false);
    if (o->comm->rank == 0 && err == OK && k->has_halos)
        err = write_text(o, FILES_CLUMP_HALO_STEP, &all, true);
    mem_free(all.at);
    return err_agree(o->comm, err);
}

static void set_tags(struct observation *o, const struct clumps *k)
{
    size_t bytes = sizeof(int64_t) * (size_t)k->nmember + 1;
    o->tags = (struct ckpt_tags){k->nmember, mem_new(bytes, "clump members"),
                                 mem_new(bytes, "clump members")};
    for (int64_t i = 0; i < k->nmember; i++) {
        o->tags.id[i] = k->member[i].id;
        o->tags.clump[i] = k->member[i].clump;
    }
}

/* This rank's files of an output. */
static void add_files(struct observation *o, const struct clumps *k)
{
    static const enum files_kind kind[2] = {FILES_CLUMPS, FILES_CLUMP_HALOS};
    for (int i = 0; i < (k->has_halos ? 2 : 1); i++) {
        struct ckpt_file *f = &o->file[o->nfile++];
        f->kind = kind[i];
        f->text = clump_text(k, i == 1, &f->bytes);
    }
    if (o->par->run.unbind) set_tags(o, k);
}

static enum err run(struct observation *o)
{
    const struct clumps *k;
    TRY(observe_clumps(o, &k));
    if (o->when == OBSERVE_STEP) return write_step(o, k);
    add_files(o, k);
    return OK;
}

const struct observer observer_clumps = {.name = "clumps",
                                         .wanted = wanted,
                                         .when = OBSERVE_WITHIN,
                                         .every = every,
                                         .reads = ALL | PARTS,
                                         .table = FILES_KINDS,
                                         .step_table = FILES_CLUMP_STEP,
                                         .run = run};
