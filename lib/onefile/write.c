/* onefile/write: the parts of a file that every solver writes. */
#include "onefile/onefile.h"

#ifdef PTAH_HDF5
#include "hdf5/file.h"

void onefile_fill_head(struct hdf5_file *f, const struct onefile_head *h, const char *solver,
                       int version)
{
    const int32_t v = version;
    hdf5_small(f, "header/", 'i', 0, NULL); /* an empty group */
    hdf5_word(f, "header", "solver", solver);
    hdf5_scalar(f, "header", "version", 'i', &v);
    hdf5_scalar(f, "header", "it", 'q', &h->it);
    hdf5_scalar(f, "header", "t", 'd', &h->t);
    hdf5_scalar(f, "header", "dt", 'd', &h->dt);
    hdf5_list(f, "header", "keys", h->keys->n, ONEFILE_NAME, h->keys->name[0]);
    hdf5_attr(f, "header", "values", 'd', h->keys->n, h->keys->value);
}

void onefile_fill_texts(struct hdf5_file *f, const char *namelist, const char *provenance)
{
    hdf5_words(f, "parameters", namelist ? namelist : "");
    hdf5_words(f, "history", provenance ? provenance : "");
}
#endif

enum err onefile_write(struct ckpt_out *o, struct out_pending *out, onefile_write_fn *write,
                       void *ctx)
{
    const bool root = o->c->rank == 0;
    enum err err = err_agree(o->c, root ? out_begin(o) : OK);
    if (err == OK) err = err_agree(o->c, root ? out_run_texts(o) : OK);
    if (err == OK) err = err_agree(o->c, write(ctx));
    return out_hand_over(o, out, err);
}
