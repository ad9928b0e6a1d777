/* io_test: text tables are read to the end of each line and file, and files appear under their name
 * complete or not at all. Catches: ignored words after the last column, or text behind a zero
 * byte; a number that is read in part; an open that waits for a FIFO; a link or a file of another
 * program that is written into; a temporary file that stays, or is taken from a process that still
 * writes it. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "io/file.h"
#include "io/stream.h"
#include "io/table.h"

static void put(const char *name, const char *text, size_t n)
{
    FILE *f = fopen(name, "w");
    if (!f || fwrite(text, 1, n, f) != n || fclose(f) != 0) exit(2);
}

static void put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

/* Content of a file, up to 100 bytes. */
static const char *held(const char *name)
{
    static char text[101];
    int fd = open(name, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    return fd < 0 ? "(nothing)" : text;
}

static bool says(enum err err, const char *what)
{
    if (err != OK && strstr(err_message(), what)) return true;
    printf("  got %d \"%s\"\n", (int)err, err_message());
    return false;
}

/* ---- tables ---- */

/* Sums all rows of n numbers in a file. */
static enum err sum_rows(const char *path, unsigned how, int n, double *sum, long *rows)
{
    struct table t;
    bool got = true;
    double x[16];
    *sum = 0, *rows = 0;
    TRY(table_open(&t, path, how, 1 << 24));
    enum err err = OK;
    while (err == OK && (err = table_next(&t, &got)) == OK && got) {
        err = table_row(&t, n, "numbers", x);
        for (int i = 0; i < n && err == OK; i++) *sum += x[i];
        ++*rows;
    }
    table_close(&t);
    return err;
}

static enum err sum_text(const char *text, int n, double *sum)
{
    long rows;
    put_text("t", text);
    return sum_rows("t", TABLE_NOTES, n, sum, &rows);
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        double x;
    } good[] = {{"1", 1},         {"-1.5", -1.5},        {"+.5", .5},   {"5.", 5},
                {"1d2", 100},     {"1.5D-1", .15},       {"2E1", 20},   {"1q1", 10},
                {"1.5-3", .0015}, {"25+1", 250},         {"1e-400", 0}, {"000012", 12},
                {"1\r", 1},       {"\t1 \v\f", 1},       {"1,", 1},     {"1 # and more", 1},
                {"1#2", 1},       {"4.9e-324", 4.9e-324}};
    static const char *const bad[] = {"x",    "1x", "0x10", "nan", "inf",   "-Infinity", "1e",
                                      "1e+",  "e5", ".",    "+",   "1.2.3", "1e5.5",     "1e400",
                                      "2*.5", "1/", "'1'",  "1;2", "--1",   "1d1d1",     "1 2",
                                      "1,,",  ",1", "1,2",  "1 x"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double x;
        CHECK(sum_text(good[i].text, 1, &x) == OK && x == good[i].x, "%s: %g", good[i].text, x);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double x;
        CHECK(says(sum_text(bad[i], 1, &x), "t: line 1"), "%s", bad[i]);
    }
}

/* Any number printed by C is read back, with any blanks around it. */
static void test_drawn_numbers(void)
{
    enum { TIMES = 2000 };
    static const char *const form[] = {"%.17g", "%.17e", "%+.17E"}, *const gap[] = {" ", ",", "\t",
                                                                                    " , "};
    struct rng r = rng_make(1, 2, 3);
    for (int i = 0; i < TIMES; i++) {
        char text[400] = "";
        double sum, want = 0;
        for (int k = 0; k < 3; k++) {
            double x = ldexp(rng_uniform(&r) - 0.5, (int)(rng_word(&r) % 40) - 20);
            size_t n = strlen(text);
            want += x;
            n += (size_t)snprintf(text + n, sizeof text - n, form[(i + k) % 3], x);
            snprintf(text + n, sizeof text - n, "%s", k < 2 ? gap[(i / 3 + k) % 4] : "\n");
        }
        CHECK(sum_text(text, 3, &sum) == OK && sum == want, "%s", text);
    }
}

static void test_lines(void)
{
    double x;
    long rows;
    CHECK(sum_text("# a\n\n 1 2\n  # b\n3\t4 # c\r\n5,6", 2, &x) == OK && x == 21);
    CHECK(says(sum_text("1 2\n3 4 5\n", 2, &x), "t: line 2: unexpected '5'"));
    CHECK(says(sum_text("1 2\n\n3\n", 2, &x), "t: line 3: needs 2 numbers: numbers; it has 1"));
    put("t", "1 2\n\0003 4\n", 9);
    CHECK(says(sum_rows("t", TABLE_NOTES, 2, &x, &rows), "t: line 2 contains a zero byte"));
    put("t", "1 2\n# \0\n", 8);
    CHECK(says(sum_rows("t", TABLE_NOTES, 2, &x, &rows), "t: line 2 contains a zero byte"));
    put("t", "1 2\n\0", 5);
    CHECK(says(sum_rows("t", TABLE_NOTES, 2, &x, &rows), "t: line 2 contains a zero byte"));
    enum { LONG = 300000 };
    char *text = malloc(LONG + 100);
    memset(text, ' ', LONG);
    memcpy(text, "1 2", 3);
    snprintf(text + LONG, 100, "3\n4 5 6\n");
    put("t", text, strlen(text));
    CHECK(sum_rows("t", TABLE_NOTES, 3, &x, &rows) == OK && x == 21 && rows == 2, "a long line");
    CHECK(says(sum_rows("t", TABLE_NOTES, 2, &x, &rows), "t: line 1: unexpected '3'"));
    free(text);
}

static void test_stream_of_numbers(void)
{
    struct table t;
    double x = 0, sum = 0;
    put_text("t", "1 # 9\n\n2,3\n4\n");
    CHECK(table_open(&t, "t", TABLE_NOTES, 100) == OK);
    for (int i = 0; i < 4; i++) {
        CHECK(table_flow(&t, "a number", &x) == OK);
        sum += x;
    }
    CHECK(sum == 10 && table_over(&t, "the end") == OK);
    CHECK(says(table_flow(&t, "a number", &x), "t: ends after line"));
    table_close(&t);
    put_text("t", "1\n\n2\n");
    CHECK(table_open(&t, "t", 0, 100) == OK && table_flow(&t, "a number", &x) == OK);
    CHECK(says(table_over(&t, "the end"), "t: line 3: unexpected '2'"));
    table_close(&t);
}

/* A share that begins late has correct line numbers. */
static void test_shares(void)
{
    enum { LINES = 1000, SHARES = 7 };
    FILE *f = fopen("t", "w");
    for (int i = 1; i <= LINES; i++) fprintf(f, i % 3 ? "%d\n" : "%d\n\n", i);
    fclose(f);
    long last = 0, lines = 0;
    for (int s = 0; s < SHARES; s++) {
        struct table t;
        int64_t begin, end;
        bool got = true;
        CHECK(table_open(&t, "t", 0, 1 << 20) == OK &&
              table_share(&t, s, SHARES, &begin, &end) == OK && table_seek(&t, begin, end) == OK);
        while (table_next(&t, &got) == OK && got) {
            double x = 0;
            CHECK(table_flow(&t, "a number", &x) == OK && x == (double)++last);
            lines += table_line(&t) == last + (last - 1) / 3;
        }
        table_close(&t);
    }
    CHECK(last == LINES && lines == LINES, "%ld, %ld", last, lines);
}

/* ---- files that can be opened ---- */

static void test_kinds(void)
{
    double x;
    long rows;
    int fd;
    int64_t size;
    CHECK(mkfifo("fifo", 0600) == 0 && mkdir("dir", 0700) == 0);
    static const unsigned how[] = {0, TABLE_PIPE};
    for (int i = 0; i < 2; i++) {
        CHECK(says(sum_rows("dir", how[i], 1, &x, &rows), "dir: cannot be read: Is a directory"));
        CHECK(says(sum_rows("none", how[i], 1, &x, &rows), "none: cannot"));
        CHECK(says(sum_rows("/dev/zero", how[i], 1, &x, &rows), i ? "a zero byte" : "a device"));
    }
    CHECK(says(sum_rows("fifo", 0, 1, &x, &rows), "fifo: cannot be read: it is a pipe"));
    CHECK(says(file_open("fifo", &fd, &size), "it is a pipe") && fd < 0);
    put_text("t", "1\n2\n3\n");
    struct table t;
    CHECK(says(table_open(&t, "t", 0, 5), "t: has more than the 5 bytes"));
    FILE *f;
    CHECK(says(file_append("fifo", &f), "fifo: is a pipe") && !f);
    CHECK(says(file_append("dir", &f), "dir: is a directory") && !f);
    CHECK(symlink("appended", "to") == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(file_append("to", &f) == OK && f && fputs("a", f) >= 0 && fclose(f) == 0);
    }
    CHECK(strcmp(held("appended"), "aa") == 0);
    put_text("there", "old");
    CHECK(symlink("there", "link") == 0);
    CHECK(says(file_create("there", &fd), "there: cannot create"));
    CHECK(says(file_create("link", &fd), "link: cannot create"));
    CHECK(strcmp(held("there"), "old") == 0);
}

/* ---- temporary files ---- */

static enum err write_whole(const char *path, const char *text)
{
    struct stream s;
    TRY(stream_open(&s, path));
    fputs(text, s.f);
    return stream_close(&s, 0);
}

static void *reader(void *text)
{
    snprintf(text, 101, "%s", held("fifo"));
    return NULL;
}

static void test_targets(void)
{
    struct stat st;
    umask(027);
    CHECK(write_whole("new", "new") == OK && strcmp(held("new"), "new") == 0);
    CHECK(stat("new", &st) == 0 && (st.st_mode & 0777) == 0640, "%o", st.st_mode & 0777);
    umask(022);
    put_text("victim", "old");
    CHECK(symlink("victim", "target") == 0 && symlink("nowhere", "dangling") == 0);
    CHECK(says(temp_may_write("target", false), "target: exists"));
    CHECK(says(temp_may_write("dangling", false), "dangling: exists"));
    CHECK(says(temp_may_write("dir", true), "dir: is a directory"));
    CHECK(says(write_whole("dir", "x"), "dir: is a directory"));
    CHECK(temp_may_write("target", true) == OK && temp_may_write("/dev/null", false) == OK);
    CHECK(write_whole("target", "new") == OK);
    CHECK(lstat("target", &st) == 0 && S_ISREG(st.st_mode) && strcmp(held("victim"), "old") == 0);
    CHECK(says(write_whole("none/new", "x"), "none/new: cannot create: No such file"));
    CHECK(says(write_whole("/dev/none", "x"), "/dev/none: cannot be written"));
    CHECK(says(write_whole("fifo", "x"), "fifo: cannot be written: it is a pipe that nobody"));
    char got[101];
    pthread_t thread;
    pthread_create(&thread, NULL, reader, got);
    CHECK(write_whole("fifo", "through") == OK);
    pthread_join(thread, NULL);
    CHECK(strcmp(got, "through") == 0 && lstat("fifo", &st) == 0 && S_ISFIFO(st.st_mode));
}

static bool is_present(const char *name)
{
    struct stat st;
    return lstat(name, &st) == 0;
}

/* Two processes that write one target: each writes a file of its own, and one of them replaces the
 * other's. */
static void test_two(void)
{
    struct temp a, b;
    CHECK(temp_create(&a, "both") == OK && temp_create(&b, "both") == OK);
    CHECK(strcmp(a.name, b.name) != 0 && write(a.fd, "aaa", 3) == 3 && write(b.fd, "b", 1) == 1);
    CHECK(temp_publish(&a) == OK && strcmp(held("both"), "aaa") == 0);
    CHECK(write(b.fd, "b", 1) == 1 && strcmp(held("both"), "aaa") == 0);
    CHECK(temp_publish(&b) == OK && strcmp(held("both"), "bb") == 0);
    CHECK(!is_present(a.name) && !is_present(b.name));
    CHECK(temp_create(&a, "dropped") == OK);
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s", a.name);
    CHECK(is_present(name));
    temp_drop(&a);
    CHECK(!is_present(name) && !is_present("dropped"));
    CHECK(temp_create(&a, "moved") == OK && unlink(a.name) == 0);
    CHECK(says(temp_publish(&a), "moved: cannot write"));
}

static void test_leftovers(void)
{
    static const char *const left[] = {"x.ptah-abcdef.part", "x.ptah-ABC012.part",
                                       "x.7.ptah-abcdef.part", "x.0.ptah-abcdef.part"},
                             *const stay[] = {"x.ptah-abcde.part",   "x.ptah-abc-ef.part",
                                              "x.ptah-abcdef.part2", "y.ptah-abcdef.part",
                                              "xx.ptah-abcdef.part", "x.backup.part",
                                              "x.ptah-link99.part",  "x.ptah-held00.part"};
    for (int i = 0; i < 4; i++) put_text(left[i], "left");
    for (int i = 0; i < 8; i++)
        if (i != 6) put_text(stay[i], "other");
    CHECK(symlink("victim", stay[6]) == 0);
    int fd = open(stay[7], O_RDONLY);
    CHECK(flock(fd, LOCK_EX | LOCK_NB) == 0);
    CHECK(write_whole("x", "new") == OK);
    for (int i = 0; i < 4; i++) CHECK(!is_present(left[i]), "%s", left[i]);
    for (int i = 0; i < 8; i++) CHECK(is_present(stay[i]), "%s", stay[i]);
    close(fd);
    CHECK(write_whole("x", "new") == OK && !is_present(stay[7]));
}

/* The files of a set live as long as the first one is locked. */
static void test_sets(void)
{
    struct temp first, other;
    char name[PATH_MAX];
    CHECK(temp_create(&first, "set.0") == OK && temp_name(&first, "set.12", name) == OK);
    put_text(name, "more");
    CHECK(temp_create(&other, "set") == OK && is_present(name) && is_present(first.name));
    temp_drop(&other);
    temp_drop(&first);
    temp_sweep("set");
    CHECK(!is_present(name));
}

static void *other_turn(void *at)
{
    int turn = temp_turn("set");
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *(double *)at = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    temp_turn_end(turn);
    return NULL;
}

/* A process that renames a set waits for another one that does. */
static void test_turns(void)
{
    double at = 0;
    pthread_t thread;
    struct timespec now;
    int turn = temp_turn("set");
    CHECK(turn >= 0 && pthread_create(&thread, NULL, other_turn, &at) == 0);
    usleep(300000);
    clock_gettime(CLOCK_MONOTONIC, &now);
    temp_turn_end(turn);
    pthread_join(thread, NULL);
    CHECK(at >= (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
}

int main(void)
{
    test_numbers();
    test_drawn_numbers();
    test_lines();
    test_stream_of_numbers();
    test_shares();
    test_kinds();
    test_targets();
    test_two();
    test_leftovers();
    test_sets();
    test_turns();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
