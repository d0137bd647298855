#!/bin/sh
# Who may include whom (sim/cmd -> plots, validate -> traces -> sim), and how long a file may be.
cd "${GRIDTIDE_SOURCE:-.}" || exit 1
tests=0

# sources FOLDER: its C and CUDA files; sim/cmd is a part of its own, recorded samples and what was profiled
# are none of it.
sources()
{
    inner=/
    [ "$1" = sim ] && inner=sim/cmd
    find "$1" \( -path "$inner" -o -path traces/samples -o -path traces/record -o -path traces/profiles \) -prune -o \
        \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print 2> /dev/null
}

# report NAME FINDINGS: passes when there are none.
report()
{
    tests=$((tests + 1))
    if [ -z "$2" ]; then
        echo "ok $tests - $1"
    else
        echo "not ok $tests - $1"
        echo "$2" | sed 's/^/# /'
    fi
}

# forbids FOLDER WHAT PATTERN: no #include line of the folder matches.
forbids()
{
    files=$(sources "$1")
    found=
    # shellcheck disable=SC2086 # a list of names without blanks
    [ -z "$files" ] || found=$(grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($3)" $files /dev/null)
    report "$1 includes no $2" "$found"
}

echo 1..9
libraries='sqlite3|yajl|zlib|zstd|libsmartcols|protobuf-c|ini\.h|libelf|gelf'
terminal='libsmartcols|curses|ncurses|term|argp|getopt'
forbids sim 'other folder' '(sim/cmd|traces|plots|validate|kernels)/|cmd\.h'
forbids sim 'file format, database or terminal library' "$libraries|$terminal"
forbids sim 'CUDA' 'cuda|cupti|nvml'
forbids traces 'folder above it' '(sim/cmd|plots|validate|kernels)/'
forbids traces 'terminal or CUDA' "$terminal|cuda|cupti|nvml"
forbids plots 'folder above or beside it' '(sim/cmd|validate|kernels)/'
forbids validate 'folder above or beside it' '(sim/cmd|plots)/'
forbids kernels 'other folder, but for sim/base/error.h' '(sim/([^b]|b[^a]|build)|traces/|plots/|validate/)'

report 'no source file is over 500 lines' "$(
    for folder in sim sim/cmd traces plots validate kernels tests; do
        sources "$folder"
    done | sort -u | while read -r file; do
        lines=$(wc -l < "$file")
        [ "$lines" -le 500 ] || echo "$file: $lines lines"
    done)"
