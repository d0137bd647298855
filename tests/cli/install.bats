# What `make install` writes: whole, the same wherever it is moved to, and with nothing of the trees that it came from.

setup()
{
    command -v make > /dev/null || skip "make is not installed"
    root=$BATS_TEST_TMPDIR/root
    env -u MAKEFLAGS -u MAKELEVEL make -s -C "$GRIDTIDE_BUILD" install-exec install-data DESTDIR="$root" > /dev/null
    prefix=$(dirname "$(dirname "$(find "$root" -type f -path '*/bin/gridtide')")")
    [ -d "$prefix/share/gridtide" ] || skip "configured with folders that lie apart"
}

# moved ARGUMENT...: the program after its installation was moved, in a clean environment and another folder.
moved()
{
    env -i -C "$BATS_TEST_TMPDIR" PATH=/usr/bin:/bin HOME="$HOME" "$BATS_TEST_TMPDIR/else where/opt/bin/gridtide" "$@"
}

@test "an installation that was moved as a whole finds its data beside itself" {
    mkdir "$BATS_TEST_TMPDIR/else where"
    mv "$prefix" "$BATS_TEST_TMPDIR/else where/opt"
    share="$BATS_TEST_TMPDIR/else where/opt/share"
    # A device that no other installation and no source tree has, and no other device.
    rm "$share"/gridtide/devices/*.ini
    cp "$GRIDTIDE_SOURCE/sim/devices/toy.ini" "$share/gridtide/devices/mine.ini"
    run moved devices -f csv
    [ "$status" -eq 0 ]
    [[ "${lines[1]}" == mine,* ]]
    [ "${#lines[@]}" -eq 2 ]
    cp "$GRIDTIDE_SOURCE"/sim/devices/*.ini "$share/gridtide/devices"
    moved run -q "$share/doc/gridtide/examples/overlap-4-streams.jsonl" -o run.db
    moved whatif -q "$share/doc/gridtide/examples/pytorch-decode.json.gz" --change graph > "$BATS_TEST_TMPDIR/answer"
    if command -v gnuplot > /dev/null; then
        moved report -q run.db -o report
        [ -s "$BATS_TEST_TMPDIR/report/index.html" ]
    fi
}

@test "the program alone takes nothing from the tree that it was built in, but the folder that GRIDTIDE_DATA names" {
    cp "$prefix/bin/gridtide" "$BATS_TEST_TMPDIR"
    run env -u GRIDTIDE_DATA "$BATS_TEST_TMPDIR/gridtide" devices
    [[ "$output" != *"$GRIDTIDE_SOURCE"* ]]
    mkdir -p "$BATS_TEST_TMPDIR/data/devices"
    cp "$GRIDTIDE_SOURCE/sim/devices/toy.ini" "$BATS_TEST_TMPDIR/data/devices/mine.ini"
    run env GRIDTIDE_DATA="$BATS_TEST_TMPDIR/data" "$BATS_TEST_TMPDIR/gridtide" devices -f csv
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 2 ]
    [[ "${lines[1]}" == mine,* ]]
}

@test "every command has its page beside the program, and the shells their completion" {
    for command in $("$GRIDTIDE" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        [ -s "$prefix/share/man/man1/gridtide-$command.1" ]
    done
    [ -s "$prefix/share/man/man5/gridtide-store.5" ]
    [ -s "$prefix/share/bash-completion/completions/gridtide" ]
    [ -s "$prefix/share/zsh/site-functions/_gridtide" ]
    command -v man > /dev/null || skip "man is not installed"
    # man finds pages beside a program on PATH.
    run env -u MANPATH PATH="$prefix/bin:$PATH" man -w gridtide-batch
    [ "$output" = "$prefix/share/man/man1/gridtide-batch.1" ]
}

@test "no installed file names the trees that it came from" {
    for tree in "$GRIDTIDE_BUILD" "$GRIDTIDE_SOURCE"; do
        [[ "${prefix#"$root"}" != "$(realpath "$tree")"* ]] || skip "installed below the tree"
        run grep -rlaF "$(realpath "$tree")" "$root"
        echo "$tree: $output"
        [ "$status" -eq 1 ]
    done
}
