/* inspect: the files of a plot: the picture of -o, and the numbers of --data. */
#include "inspect.h"
#include "io/temp.h"
#include "plot/picture.h"

enum err plot_allowed(const struct options *o)
{
    if (o->out) TRY(temp_may_write(o->out, o->force));
    return o->data ? temp_may_write(o->data, o->force) : OK;
}

const char *plot_file(const struct options *o)
{
    return o->out ? o->out : o->data;
}

enum err plot_save(const struct options *o, const char *path, const struct picture *p)
{
    if (o->out && o->format != FORMAT_H5) TRY(picture_save(o->out, p)); /* else a table */
    return picture_save_numbers(o->data, path, p);
}
