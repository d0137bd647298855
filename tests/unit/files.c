/* Files in and out: compression by magic and by ending, whole or not at all. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "traces/io/input.h"
#include "traces/io/output.h"

enum { TEXT_BYTES = 700000 };

static char folder[] = "/tmp/gridtide-files-XXXXXX";
static char text[TEXT_BYTES];

static const char *in_folder(const char *name)
{
    static char paths[4][128];
    static int next;

    next = (next + 1) % 4;
    snprintf(paths[next], sizeof paths[next], "%s/%s", folder, name);
    return paths[next];
}

static int setup(void **state)
{
    uint32_t random = 1;

    (void)state;
    for (int i = 0; i < TEXT_BYTES; i++) {
        random = random * 1664525 + 1013904223;
        text[i] = (char)('a' + (random >> 28));
    }
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if a test left anything behind */
}

static unsigned files_left(void)
{
    DIR *directory = opendir(folder);
    unsigned count = 0;

    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count - 2;
}

static void write_text(const char *path)
{
    struct gt_error error;
    struct gt_output *output = gt_output_open(path, &error);

    assert_non_null(output);
    for (size_t at = 0; at < TEXT_BYTES; at += 7000)
        assert_int_equal(gt_output_write(output, text + at, 7000, &error), 0);
    assert_int_equal(gt_output_commit(output, &error), 0);
}

/* All of a file; the bytes read, or -1 and error. */
static ssize_t read_all(const char *path, char *buffer, size_t room, struct gt_error *error)
{
    struct gt_input *input = gt_input_open(path, error);
    size_t used = 0;
    ssize_t got = 0;

    if (input == NULL)
        return -1;
    while (used < room && (got = gt_input_read(input, buffer + used, room - used, error)) > 0)
        used += (size_t)got;
    gt_input_close(input);
    return got < 0 ? -1 : (ssize_t)used;
}

static void what_is_written_is_read(void **state)
{
    static const char *const names[] = { "plain", "a.gz", "a.zst" };
    static const unsigned char first[] = { 0, 0x1f, 0x28 };
    static char back[TEXT_BYTES + 1];
    struct gt_error error;

    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *path = in_folder(names[i]);
        unsigned char byte;
        int fd;

        write_text(path);
        assert_int_equal(read_all(path, back, sizeof back, &error), TEXT_BYTES);
        assert_memory_equal(back, text, TEXT_BYTES);
        fd = open(path, O_RDONLY);
        assert_int_equal(read(fd, &byte, 1), 1);
        close(fd);
        assert_int_equal(byte, first[i] != 0 ? first[i] : (unsigned char)text[0]);
        unlink(path);
    }
}

static void several_members_are_one_file(void **state)
{
    static char back[2 * TEXT_BYTES + 1];
    char command[512];
    struct gt_error error;

    (void)state;
    write_text(in_folder("a.zst"));
    snprintf(command, sizeof command, "cd %s && cat a.zst a.zst > twice", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(read_all(in_folder("twice"), back, sizeof back, &error), 2 * TEXT_BYTES);
    assert_memory_equal(back + TEXT_BYTES, text, TEXT_BYTES);
    write_text(in_folder("a.gz"));
    snprintf(command, sizeof command, "cd %s && cat a.gz a.gz > twice", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(read_all(in_folder("twice"), back, sizeof back, &error), 2 * TEXT_BYTES);
    unlink(in_folder("a.gz"));
    unlink(in_folder("a.zst"));
    unlink(in_folder("twice"));
}

static void a_cut_stream_is_an_error_with_its_offset(void **state)
{
    static const char *const names[] = { "a.gz", "a.zst" };
    static char back[TEXT_BYTES + 1];
    struct gt_error error;

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *path = in_folder(names[i]);
        struct stat status;

        write_text(path);
        assert_int_equal(stat(path, &status), 0);
        for (off_t size = status.st_size - 1; size > 4; size -= size / 13 + 1) {
            char offset[64];

            assert_int_equal(truncate(path, size), 0);
            assert_int_equal(read_all(path, back, sizeof back, &error), -1);
            snprintf(offset, sizeof offset, "cut off at byte %lld", (long long)size);
            assert_non_null(strstr(error.text, offset));
        }
        unlink(path);
    }
}

static void directories_and_missing_files_are_refused(void **state)
{
    struct gt_error error;

    (void)state;
    assert_null(gt_input_open(folder, &error));
    assert_non_null(strstr(error.text, "is a directory"));
    assert_null(gt_input_open(in_folder("none"), &error));
    assert_non_null(strstr(error.text, "No such file"));
    assert_null(gt_output_open(folder, &error));
    assert_non_null(strstr(error.text, "is a directory"));
    assert_null(gt_output_open(in_folder("none/file"), &error));
    assert_non_null(strstr(error.text, "folder does not exist"));
}

static void a_full_disk_is_said(void **state)
{
    struct gt_error error;
    struct gt_output *output = gt_output_open("/dev/full", &error);

    (void)state;
    assert_non_null(output);
    assert_int_equal(gt_output_write(output, "x", 1, &error), 0);
    assert_int_equal(gt_output_commit(output, &error), -1);
    assert_non_null(strstr(error.text, "/dev/full: the disk is full"));
}

static void an_abandoned_file_leaves_the_old_one(void **state)
{
    static char back[TEXT_BYTES + 1];
    struct gt_error error;
    const char *path = in_folder("kept");
    struct gt_output *output;

    (void)state;
    write_text(path);
    output = gt_output_open(path, &error);
    assert_non_null(output);
    assert_int_equal(gt_output_write(output, "new", 3, &error), 0);
    gt_output_abandon(output);
    assert_int_equal(read_all(path, back, sizeof back, &error), TEXT_BYTES);
    assert_int_equal(files_left(), 1);
    unlink(path);
}

static void a_signal_removes_what_was_begun(void **state)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

    (void)state;
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        int status;

        if (child == 0) {
            struct gt_output *output = gt_output_open(in_folder("begun"), NULL);
            char *reserved = gt_output_reserve(in_folder("reserved"), NULL);

            if (output == NULL || reserved == NULL)
                _exit(3);
            raise(signals[i]);
            _exit(4);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
        assert_int_equal(files_left(), 0);
    }
}

/* Where the file system has files without a name: nothing is there until the file is whole, over an old one too, so that
 * even SIGKILL leaves nothing. */
static void a_kill_leaves_nothing(void **state)
{
    static char back[TEXT_BYTES + 1];
    struct gt_error error;
    int fd = gt_output_open_unnamed(in_folder("probe")), status;
    pid_t child;

    (void)state;
    if (fd < 0)
        skip();
    close(fd);
    write_text(in_folder("kept"));
    child = fork();
    if (child == 0) {
        struct gt_output *old = gt_output_open(in_folder("kept"), NULL);
        struct gt_output *new = gt_output_open(in_folder("new"), NULL);

        for (int i = 0; i < 200; i++)
            if (gt_output_write(old, back, TEXT_BYTES, NULL) != 0 ||
                gt_output_write(new, back, TEXT_BYTES, NULL) != 0)
                _exit(3);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(files_left(), 1);
    assert_int_equal(read_all(in_folder("kept"), back, sizeof back, &error), TEXT_BYTES);
    unlink(in_folder("kept"));
}

/* Without a name until then or not, what was there is replaced at once, with the mode of a new file. */
static void a_whole_file_replaces_the_old_one(void **state)
{
    static char back[TEXT_BYTES + 1];
    struct stat status;
    struct gt_error error;
    mode_t mask = umask(027);
    FILE *old = fopen(in_folder("kept"), "w");

    (void)state;
    assert_non_null(old);
    fputs("old", old);
    fclose(old);
    for (int i = 0; i < 2; i++) {
        write_text(in_folder(i == 0 ? "kept" : "new"));
        assert_int_equal(read_all(in_folder(i == 0 ? "kept" : "new"), back, sizeof back, &error), TEXT_BYTES);
        assert_int_equal(stat(in_folder(i == 0 ? "kept" : "new"), &status), 0);
        assert_int_equal(status.st_mode & 0777, 0640);
        assert_int_equal(files_left(), i + 1);
    }
    umask(mask);
    unlink(in_folder("kept"));
    unlink(in_folder("new"));
}

static void a_link_stays_a_link(void **state)
{
    struct stat status;

    (void)state;
    write_text(in_folder("real"));
    assert_int_equal(symlink("real", in_folder("link")), 0);
    write_text(in_folder("link"));
    assert_int_equal(lstat(in_folder("link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    unlink(in_folder("link"));
    unlink(in_folder("real"));
}

/* A suite in the background inherits ignored signals, which nobody watches for. */
static void default_signals(void)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(several_members_are_one_file),
        cmocka_unit_test(a_cut_stream_is_an_error_with_its_offset),
        cmocka_unit_test(directories_and_missing_files_are_refused),
        cmocka_unit_test(a_full_disk_is_said),
        cmocka_unit_test(an_abandoned_file_leaves_the_old_one),
        cmocka_unit_test(a_signal_removes_what_was_begun),
        cmocka_unit_test(a_kill_leaves_nothing),
        cmocka_unit_test(a_whole_file_replaces_the_old_one),
        cmocka_unit_test(a_link_stays_a_link),
    };

    default_signals();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, setup, teardown);
}
