/* gridtide: find the command, hand over. */
#include "config.h"

#include <argp.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/cmd/cmd.h"

static const struct gt_command *const commands[] = {
    &gt_command_import, &gt_command_run, &gt_command_stats, &gt_command_compare, &gt_command_explain,
    &gt_command_validate, &gt_command_export, &gt_command_report, &gt_command_devices,
    &gt_command_calibrate,
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

int gt_fail(const struct gt_error *error)
{
    fprintf(stderr, "gridtide: %s\n", error->text);
    return GT_EXIT_FAILED;
}

int gt_usage(const char *command, const char *format, ...)
{
    va_list arguments;

    fputs("gridtide: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "; see 'gridtide%s%s --help'\n", command[0] ? " " : "", command);
    return GT_EXIT_USAGE;
}

int gt_with_store(const char *path, gt_store_work *work, const void *arguments)
{
    struct gt_error error;
    struct gt_store *store = gt_store_open(path, false, &error);
    int result;

    if (store == NULL)
        return gt_fail(&error);
    result = work(store, arguments, &error);
    gt_store_close(store);
    return result == 0 ? GT_EXIT_DONE : gt_fail(&error);
}

static void print_help(FILE *out)
{
    fputs("Usage: gridtide COMMAND [ARGUMENT...]\n"
          "Simulate how streams, copies, kernels and blocks share a GPU, from traces.\n\n", out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n'gridtide COMMAND --help' says more. Exit status: 0 done, 1 the work failed, 2 wrong usage.\n"
          "Report bugs to: " PACKAGE_BUGREPORT "\n", out);
}

static int list_names(const char *wrong)
{
    fprintf(stderr, "gridtide: no command '%s'; commands are:", wrong);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(stderr, " %s", commands[i]->name);
    fputc('\n', stderr);
    return GT_EXIT_USAGE;
}

/* What was printed must have arrived: a full disk on standard output is a failure. */
static int flush_output(int status)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("gridtide: standard output");
        return status == GT_EXIT_DONE ? GT_EXIT_FAILED : status;
    }
    return status;
}

int main(int argc, char **argv)
{
    static char name[64];

    setlocale(LC_CTYPE, ""); /* numbers stay in the C locale */
    signal(SIGCHLD, SIG_DFL); /* whoever started us may ignore it: children then leave no status */
    argp_program_version = PACKAGE_STRING;
    argp_err_exit_status = GT_EXIT_USAGE;
    if (argc < 2) {
        print_help(stderr);
        return GT_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return flush_output(GT_EXIT_DONE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts(PACKAGE_STRING);
        return flush_output(GT_EXIT_DONE);
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i]->name) == 0) {
            snprintf(name, sizeof name, "gridtide %s", commands[i]->name);
            argv[1] = name;
            return flush_output(commands[i]->run(argc - 1, argv + 1));
        }
    }
    return list_names(argv[1]);
}
