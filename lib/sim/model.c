/* sim/model: is a checkpoint of the model that the namelist describes?
 *
 * A checkpoint contains the namelist of its run, and its header has facts about it. Both together
 * are compared with the parameters of this run. A difference in a parameter that defines the model
 * stops the run, unless option --change-model was given; the log lists all changes. A namelist of
 * another program may be missing or unreadable: then only the header is compared. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "sim/sim.h"

struct changes {
    const struct sim *s;
    int model, told;
    char list[600]; /* what differs, for one message */
};

/* Differences that no option can accept. */
static enum err check_possible(const struct sim *s)
{
    const struct ckpt_head *h = &s->restart.from->head;
    const struct params *p = s->par;
    const char *path = s->restart.from->path;
    if (p->run.hydro && !h->hydro)
        FAIL(ERR_PARAM,
             "%s: has no gas, but this run has run_params/hydro=.true.: set hydro=.false.", path);
    if (p->run.pic && !h->particles)
        FAIL(ERR_PARAM,
             "%s: has no particles, but this run has run_params/pic=.true.: set pic=.false.", path);
    if (p->run.cosmo != h->cosmo)
        FAIL(ERR_PARAM, "%s: was made with run_params/cosmo=%s, which must be the same here", path,
             h->cosmo ? ".true." : ".false.");
    double box = p->run.cosmo ? 1 : p->amr.boxlen, fuzz = s->restart.from->narrow ? 1e-6 : 1e-12;
    if (!(fabs(h->boxlen - box) <= fuzz * box))
        FAIL(ERR_PARAM,
             "%s: was made with amr_params/boxlen=%.15g, but this run has %.15g: set boxlen as it "
             "was",
             path, h->boxlen, box);
    return OK;
}

/* The parameters of the run that wrote the checkpoint. */
static enum err read_model(const struct sim *s, struct params *was)
{
    const struct ckpt_head *h = &s->restart.from->head;
    char *text = NULL;
    size_t bytes;
    int left_out = 0;
    TRY(source_text(s->restart.from, FILES_NAMELIST, &text, &bytes));
    bool read = !text || param_read_loose(was, text, bytes, "its namelist", &left_out) == OK;
    bool known = text && read && bytes > 0;
    if (!read) log_info(" %s", err_message());
    if (!known) {
        log_info(" %s contains no readable namelist: only its header is compared with this run's",
                 s->restart.from->path);
        *was = *s->par;
    }
    if (left_out > 0)
        log_info(" %d settings in the namelist of the checkpoint are not known to this program",
                 left_out);
    mem_free(text);
    was->run.cosmo = h->cosmo;
    was->run.hydro = h->hydro;
    was->run.pic = h->particles;
    was->run.poisson = h->gravity;
    was->amr.levelmin = h->levelmin;
    was->amr.levelmax = h->levelmax;
    was->amr.boxlen = s->par->amr.boxlen; /* compared before */
    bool same_gamma = s->restart.from->narrow &&
                      fabs(h->gamma - s->par->hydro.gamma) <= 1e-6 * h->gamma;
    if (h->hydro) was->hydro.gamma = same_gamma ? s->par->hydro.gamma : h->gamma;
    return OK;
}

/* More levels leave the state as it is: a run may become deeper. */
static bool only_deeper(const struct sim *s, const struct param_change *change)
{
    return strcmp(change->name, "amr_params/levelmax") == 0 &&
           s->par->amr.levelmax > s->restart.from->head.levelmax;
}

static void tell(void *ctx, const struct param_change *change)
{
    struct changes *c = ctx;
    size_t n = strlen(c->list), room = sizeof c->list - n;
    if (c->s->restart.change_model || !change->model || only_deeper(c->s, change)) {
        log_info(" Changed since the checkpoint: %s=%.80s, it was %.80s", change->name, change->is,
                 change->was);
        return;
    }
    c->model++;
    if (room < 200) return;
    snprintf(c->list + n, room, "%s%s=%.40s (now %.40s)", n ? ", " : "", change->name, change->was,
             change->is);
    c->told++;
}

static enum err check_changes(const struct sim *s)
{
    struct changes c = {.s = s};
    TRY(check_possible(s));
    struct params *was = mem_zero(sizeof *was, "parameters");
    enum err err = read_model(s, was);
    if (err == OK) {
        param_compare(was, s->par, tell, &c);
        int had = s->restart.from->head.nvar, have = s->mesh.nvar;
        struct param_change scalars = {.name = "the number of gas variables", .model = true};
        char old[16], new[16];
        snprintf(old, sizeof old, "%d", had);
        snprintf(new, sizeof new, "%d", have);
        scalars.was = old, scalars.is = new;
        if (s->par->run.hydro && had != have) tell(&c, &scalars);
    }
    mem_free(was);
    if (err == OK && c.model)
        FAIL(ERR_PARAM, "%s: was made with %s%s; --change-model resumes it with the new values",
             s->restart.from->path, c.list, c.model > c.told ? ", and other differences" : "");
    return err;
}

enum err sim_check_model(const struct sim *s)
{
    return err_agree(&s->comm, s->comm.rank == 0 ? check_changes(s) : OK);
}
