/* Unit tests of ckpt/files: names of the files of a checkpoint. */
#include "ckpt/files.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

/* Fails if a name that is made is not recognised, or is recognised as another kind. */
static void test_round_trip(void)
{
    for (int k = 0; k < FILES_KINDS; k++) {
        const char *form = files_form((enum files_kind)k);
        char name[FILES_NAME];
        files_name((enum files_kind)k, 407, 12345, name);
        struct files_name f = files_of(name);
        CHECK(f.kind == (enum files_kind)k, "%s", name);
        CHECK(strlen(name) == strlen(form) && strlen(name) < FILES_NAME, "%s", name);
        CHECK(f.number == (strstr(form, "NNNNN") ? 407 : -1), "%s", name);
        CHECK(f.rank == (strstr(form, "RRRRR") ? 12345 : -1), "%s", name);
    }
}

static void test_odd_names(void)
{
    static const char *const none[] = {
        "",
        ".",
        "info_00001.txt~",
        "info_0001.txt",
        "info_000001.txt",
        "info_0000a.txt",
        "Info_00001.txt",
        "info_NNNNN.txt",
        "clump_00001.txt",
        "clump_00001.txt0001",
        "clump_00001.txt000011",
        "data_00001.h5.part.part",
        "namelist.txt ",
        " namelist.txt",
        "info_-0001.txt",
        "amr_00001.out+0001",
        "notes.txt",
        ".part",
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        CHECK(files_of(none[i]).kind == FILES_KINDS, "'%s'", none[i]);
        CHECK(!files_may_go(none[i]), "'%s'", none[i]);
    }
}

/* Fails if a leftover of Ptah is not recognised, or a table is taken for a part of a checkpoint. */
static void test_may_go(void)
{
    static const char *const ours[] = {"info_00001.txt",
                                       "data_00099.h5",
                                       "clump_00002.txt00001",
                                       "halo_00002.txt00512",
                                       "spill.00001",
                                       "checksums_00001.txt",
                                       "timer_00001.txt",
                                       "rt_00001.out00001",
                                       "sink_00001.out00001",
                                       "mergertree_00004.txt00001",
                                       "info_00001.txt.ptah-a1B2c3.part",
                                       "info_00001.txt.part"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        CHECK(files_may_go(ours[i]), "%s", ours[i]);
    CHECK(!files_may_go("halos_00001.tsv") && !files_may_go("pk_00001.tsv.part"));
    CHECK(files_has_role(FILES_HALO_TABLE, FILES_BESIDE) &&
          !files_has_role(FILES_KINDS, FILES_MAIN));
    CHECK(files_fate(FILES_KINDS) == FILES_LEFT && files_fate(FILES_CLUMPS) == FILES_COPIED);
}

int main(void)
{
    test_round_trip();
    test_odd_names();
    test_may_go();
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
