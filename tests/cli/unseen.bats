# Names that hold what steers a terminal or turns the direction of writing: shown, never sent.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    # RLO, PDI, LRM, ALM, NEL (C1), ESC, DEL, a tag beyond U+FFFF.
    python3 - << 'END'
import json
name = 'evil\u202ename\u2069\u200e\u061c\u0085\u001b[31m\u007f\U000e0001'
with open('evil.jsonl', 'w', encoding='utf-8') as out:
    for row in ({'gridtide': 1, 'device': 'toy', 'name': name}, {'kernel': name, 'duration_us': 1},
                {'stream': name}, 
                {'call': 'launch', 'kernel': name, 'stream': name, 'start_us': 0, 'duration_us': 1, 'op_start_us': 2,
                 'op_duration_us': 1}):
        out.write(json.dumps(row, ensure_ascii=False) + '\n')
END
    "$GRIDTIDE" run -q evil.jsonl -o evil.db
}

# $1 holds none of these characters, raw.
harmless() {
    python3 - "$1" << 'END'
import sys
text = open(sys.argv[1], encoding='utf-8', newline='').read()
found = [hex(ord(c)) for c in text if c in '\u202e\u2069\u200e\u061c\u0085\x1b\x7f\U000e0001']
sys.exit(' '.join(found) or 0)
END
}

# What $@ writes to a terminal 200 columns wide, into `terminal`.
on_terminal() {
    python3 - "$@" << 'END'
import fcntl, os, pty, struct, sys, termios
child, fd = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 200, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
data = b''
while True:
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    data += piece
os.waitpid(child, 0)
open('terminal', 'wb').write(data)
END
}

@test "tables show them as escapes, to a terminal and to a pipe" {
    for command in stats compare; do
        "$GRIDTIDE" "$command" evil.db > piped
        harmless piped
        on_terminal "$GRIDTIDE" "$command" evil.db
        harmless terminal
    done
    "$GRIDTIDE" run evil.jsonl -o other.db > piped 2> said
    harmless piped
    harmless said
    grep -q 'evil\\u202ename\\u2069' piped
}

@test "JSON says them by its own escapes, and means the same name" {
    for command in stats compare; do
        "$GRIDTIDE" "$command" --format json evil.db > out.json
        harmless out.json
        jq -e '[.. | strings | select(test("evil\u202ename\u2069\u200e\u061c\u0085\u001b\\[31m\u007f"))] | length > 0' out.json
        python3 -c 'import json; json.load(open("out.json"))'
    done
    grep -q 'u007f.udb40.udc01' out.json
}

@test "CSV has names as traced for programs, and escapes on a terminal" {
    "$GRIDTIDE" stats --format csv evil.db > out.csv
    ! harmless out.csv
    on_terminal "$GRIDTIDE" stats --format csv evil.db
    harmless terminal
    grep -q 'evil\\u202ename' terminal
}

@test "messages and pages show them as escapes; traces keep them" {
    printf '%s\n' '{"gridtide":1}' '{"call":"launch","kernel":"no\u202esuch\u009b31m"}' > wrong.jsonl
    run "$GRIDTIDE" run wrong.jsonl -o wrong.db
    [ "$status" -eq 1 ]
    printf '%s' "$output" > said
    harmless said
    "$GRIDTIDE" report -q evil.db -o page
    harmless page/index.html
    "$GRIDTIDE" import evil.jsonl -o kept.jsonl > said
    harmless said
    grep -q "$(python3 -c 'print("evil\u202ename\u2069")')" kept.jsonl
}
