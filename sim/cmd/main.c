/* gridtide: find the command, hand over. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/text.h"
#include "sim/cmd/input/cmd.h"
#include "traces/io/overwrite.h"
#include "traces/names/clean_text.h"

static const struct gt_command *const commands[] = {
    &gt_command_record,   &gt_command_import, &gt_command_run,    &gt_command_stats,   &gt_command_compare,
    &gt_command_explain,  &gt_command_whatif, &gt_command_check,  &gt_command_diff,    &gt_command_sweep,
    &gt_command_validate, &gt_command_export, &gt_command_report, &gt_command_devices, &gt_command_calibrate,
    &gt_command_schedule, &gt_command_serve,  &gt_command_batch,
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out)
{
    fputs("Usage: gridtide COMMAND [ARGUMENT...]\nSimulate how streams, copies, kernels and blocks "
          "share a GPU.\n\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n'gridtide help COMMAND' describes a command.\nExit status: 0 success, 1 failure, 2 incorrect "
          "usage.\nReport bugs to: " PACKAGE_BUGREPORT "\n",
          out);
}

/* As git does: there is no such command, and the ones that may have been meant. */
static int tell_similar(const char *wrong)
{
    size_t least = GT_SPELLING_BYTES, count = 0, told = 0;
    char *clean = gt_clean_name(wrong);

    for (size_t i = 0; i < COMMANDS; i++) {
        size_t slips = gt_spelling_slips(wrong, commands[i]->name);

        count = slips < least ? 1 : count + (slips == least);
        least = slips < least ? slips : least;
    }
    fprintf(stderr, "gridtide: '%s' is not a gridtide command. See 'gridtide --help'.\n", clean);
    free(clean);
    if (least == GT_SPELLING_BYTES)
        return GT_EXIT_USAGE;
    fprintf(stderr, "The most similar command%s", count == 1 ? " is" : "s are");
    for (size_t i = 0; i < COMMANDS; i++)
        if (gt_spelling_slips(wrong, commands[i]->name) == least)
            fprintf(stderr, "%s %s", told++ > 0 ? "," : "", commands[i]->name);
    fputc('\n', stderr);
    return GT_EXIT_USAGE;
}

/* What was printed must have arrived, however the program ends (argp ends it for --help): a full disk on
 * standard output is a failure. */
static void check_output(void)
{
    bool failed = ferror(stdout) != 0;

    errno = 0;
    if (fflush(stdout) == 0 && !failed && (close(STDOUT_FILENO) == 0 || errno == EBADF))
        return;
    fprintf(stderr, "gridtide: standard output: cannot write: %s\n",
            errno != 0 ? strerror(errno) : "is the disk full?");
    _exit(GT_EXIT_FAILED);
}

/* A standard stream that is closed would be the next file that is opened, and messages would end in it.
 * One that refuses what it is for takes its place. */
static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(GT_EXIT_FAILED);
}

static void set_signals(void)
{
    signal(SIGCHLD, SIG_DFL); /* whoever started us may ignore it: children then leave no status */
    signal(SIGXFSZ, SIG_IGN); /* what is written beyond `ulimit -f` fails, and is told, like a full disk */
}

/* A command that printed tables, but not the one that --table names, has failed. Returns the status to end with. */
static int check_table(int status)
{
    char *missing = gt_tables_missing();
    struct gt_error error;

    if (missing == NULL)
        return status;
    gt_error_set(&error, "%s", missing);
    free(missing);
    return gt_fail(&error);
}

/* arguments[0] is the command's name. */
static int run_command(int count, char **arguments)
{
    static char name[64];

    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(arguments[0], commands[i]->name) == 0) {
            snprintf(name, sizeof name, "gridtide %s", commands[i]->name);
            arguments[0] = name;
            return check_table(commands[i]->run(count, arguments));
        }
    }
    return tell_similar(arguments[0]);
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* `gridtide help`, and `gridtide help COMMAND`, which is `gridtide COMMAND --help`. */
static int help(const char *command)
{
    static char option[] = "--help";

    if (command == NULL || asks_for_help(command)) {
        print_help(stdout);
        return GT_EXIT_DONE;
    }
    return run_command(2, (char *[]){ (char *)command, option, NULL });
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stdout);
        return GT_EXIT_USAGE;
    }
    if (asks_for_help(argv[1]))
        return help(argv[2]);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts(PACKAGE_STRING);
        return GT_EXIT_DONE;
    }
    if (argv[1][0] == '-')
        return gt_usage("", "unknown option '%s' before the command", argv[1]);
    return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    set_signals();
    atexit(check_output);
    gt_watch_reading();
    setlocale(LC_CTYPE, ""); /* numbers stay in the C locale */
    argp_program_version = PACKAGE_STRING;
    argp_err_exit_status = GT_EXIT_USAGE;
    return dispatch(argc, argv);
}
