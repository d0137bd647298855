# The source package: everything is in `make dist`, and debian/ is in step with the rest.  `make deb` builds and tries it.

@test "make dist has every file that git has" {
    [ -d "$GRIDTIDE_SOURCE/.git" ] || [ -f "$GRIDTIDE_SOURCE/.git" ] || skip "not a checkout"
    command -v git > /dev/null || skip "git is not installed"
    # What a rule distributes: files, or folders with all that is in them.
    # shellcheck disable=SC2016 # make expands it
    make -s -C "$GRIDTIDE_BUILD" --eval 'print-distfiles: ; @printf "%s\n" $(DISTFILES)' print-distfiles |
        sed "s|^$(sed -n 's/^srcdir = //p' "$GRIDTIDE_BUILD/Makefile")/||; s|^\./||" | sort -u > "$BATS_TEST_TMPDIR/distributed"
    git -C "$GRIDTIDE_SOURCE" ls-files > "$BATS_TEST_TMPDIR/known"
    run awk 'NR == FNR { has[$0] = 1; next }
        { path = $0; while (path != "" && !(path in has)) sub(/\/?[^\/]*$/, "", path); if (path == "") print }' \
        "$BATS_TEST_TMPDIR/distributed" "$BATS_TEST_TMPDIR/known"
    echo "not distributed: $output"
    [ -z "$output" ]
}

@test "debian/control builds with what quickstart installs" {
    # Commands that Debian's build tools bring along; gnuplot draws figures when the program runs.
    sed -n '/^packages="/,/"$/p' "$GRIDTIDE_SOURCE/quickstart" | sed 's/^packages=//; s/"//g; s/=[^ ]*//g' | tr -s ' ' '\n' |
        grep . | grep -vxE 'gcc|libc6-dev|make|autoconf|automake|gnuplot-nox' | sort > "$BATS_TEST_TMPDIR/quickstart"
    sed -n '/^Build-Depends:/,/^[A-Z][a-z]*-Version/p' "$GRIDTIDE_SOURCE/debian/control" | sed -n 's/^ \([^ ,]*\).*/\1/p' |
        grep -v debhelper-compat | sort > "$BATS_TEST_TMPDIR/control"
    [ -s "$BATS_TEST_TMPDIR/control" ]
    diff "$BATS_TEST_TMPDIR/quickstart" "$BATS_TEST_TMPDIR/control"
}

@test "the program, NEWS and debian/changelog name the same version" {
    run "$GRIDTIDE" --version # AC_INIT in configure.ac
    [[ "$output" =~ ^Gridtide\ ([0-9]+\.[0-9]+\.[0-9]+)$ ]]
    version=${BASH_REMATCH[1]}
    for command in $("$GRIDTIDE" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        [ "$("$GRIDTIDE" "$command" --version)" = "Gridtide $version" ]
    done
    # Until it is released, the package has a version that is older than the release.
    package=$(sed -n '1s/^gridtide (\([^)]*\)).*/\1/p' "$GRIDTIDE_SOURCE/debian/changelog")
    case $(sed -n 3p "$GRIDTIDE_SOURCE/NEWS") in
    "$version") [ "$package" = "$version" ] ;;
    "$version (not released)") [ "$package" = "$version~dev" ] ;;
    *) false ;;
    esac
}
