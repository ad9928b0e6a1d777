/* base/err: expected errors as values, bugs as aborts.
 *
 * A function that can fail for reasons outside the program (file, parameter, disk, peer) returns
 * enum err. FAIL(code, fmt, …) at the origin stores one sentence in a thread-local buffer and
 * returns the code from the current function; TRY(call) passes a failure on. err_message() lends
 * the sentence. BUG_ON(cond) is always compiled in: on failure the program prints the source line
 * and aborts all ranks. */
#pragma once

/* ERR_STOPPED: stopped at the user's request. */
enum err { OK = 0, ERR_PARAM, ERR_FILE, ERR_FORMAT, ERR_LIMIT, ERR_PEER, ERR_STOPPED };

#define MUST_USE __attribute__((warn_unused_result))

enum err err_set(enum err code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *err_message(void);
/* For a file that cannot be read: appends the parameter that names the file, in parentheses. */
MUST_USE enum err err_of_param(enum err err, const char *parameter);
/* First error of several threads, by thread number, with its message. Initialise to zero. */
struct err_first {
    enum err err;
    int number;
    char message[1024];
};
/* Puts the subject, such as the path of a checkpoint, in front of the message, unless the message
 * contains it. OK is returned unchanged. */
MUST_USE enum err err_about(enum err err, const char *what);
/* Saves an error and its message; callable from any thread. OK is ignored. */
void err_save(struct err_first *f, enum err err, int number);
MUST_USE enum err err_restore(struct err_first *f); /* restores the message in this thread */
_Noreturn void err_bug(const char *file, int line, const char *what);

#define FAIL(code, ...) return err_set((code), __VA_ARGS__)
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum err try_err_ = (call);                                                                \
        if (try_err_ != OK) return try_err_;                                                       \
    } while (0)
/* Like TRY, with clean-up: sets `err` and jumps to `out`. */
#define TRY_OUT(call)                                                                              \
    do {                                                                                           \
        err = (call);                                                                              \
        if (err != OK) goto out;                                                                   \
    } while (0)
#define BUG_ON(cond)                                                                               \
    do {                                                                                           \
        if (__builtin_expect(!!(cond), 0)) err_bug(__FILE__, __LINE__, #cond);                     \
    } while (0)
