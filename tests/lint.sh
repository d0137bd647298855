#!/bin/sh
# What people and tools agree on about the source: `make lint` runs it all and fails on any finding.
#
# A tool that is not installed is named and left out, so that the rest still counts; `./quickstart check`
# installs them. clang-format's verdict differs from version to version: only the one that .clang-format is
# written for is asked.
cd "${GRIDTIDE_SOURCE:-.}" || exit 1
status=0
jobs=$(nproc 2> /dev/null || echo 2)
c_files=$(find sim traces plots validate kernels -name '*.c' | sort)
headers=$(find sim traces plots validate kernels tests -name '*.h' | sort)
tests_c=$(find tests -name '*.c' | sort)
shell_files="quickstart .ci/run tests/run-bats $(find . -path './build*' -prune -o -name '*.sh' -print | sort)"
texts=$(find . \( -path './build*' -o -path ./.git \) -prune -o \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \
    -o -name '*.md' -o -name '*.py' -o -name '*.sh' -o -name '*.[157]' -o -name '*.bats' -o -name '*.mk' \) -print)

# lint NAME COMMAND...: run it if it is there.
lint()
{
    name=$1
    shift
    if ! command -v "$1" > /dev/null; then
        echo "skipped: $name ($1 is not installed)"
        return
    fi
    if "$@"; then
        echo "passed: $name"
    else
        echo "FAILED: $name"
        status=1
    fi
}

# Clang's warnings of the files that the build compiled, as it compiled them.
clang_warnings()
{
    find "$GRIDTIDE_BUILD/sim" "$GRIDTIDE_BUILD/traces" "$GRIDTIDE_BUILD/plots" "$GRIDTIDE_BUILD/validate" \
        "$GRIDTIDE_BUILD/tests" -name '*.o' | sed "s,^$GRIDTIDE_BUILD/,,; s,o\$,c," |
        while read -r source; do [ ! -f "$source" ] || echo "$source"; done |
        xargs -P "$jobs" -n 16 clang -fsyntax-only -std=gnu11 -Wall -Wextra -Werror $GRIDTIDE_CPPFLAGS
}

# shellcheck disable=SC2086 # lists of names without blanks
{
    if clang-format --version 2> /dev/null | grep -q 'version 14\.'; then
        lint 'layout of C (clang-format)' clang-format --dry-run --Werror $c_files $headers $tests_c
    else
        echo 'skipped: layout of C (clang-format 14 is not installed)'
    fi
    lint 'static analysis (cppcheck)' cppcheck -q -j "$jobs" --std=c11 -D_GNU_SOURCE -I. --error-exitcode=1 \
        --enable=warning,performance,portability --inline-suppr --suppressions-list=tests/cppcheck.txt $c_files
    if [ -n "${GRIDTIDE_CPPFLAGS:-}" ] && command -v clang > /dev/null; then
        lint 'warnings of clang' clang_warnings
    else
        echo 'skipped: warnings of clang (clang is not installed)'
    fi
    lint 'spelling (codespell)' codespell -L deques,mape,upto,nd,lates,regsters,strem,tread,syncronous,rnu $texts
    lint 'shell (shellcheck)' shellcheck -x -S warning $shell_files
}
exit $status
