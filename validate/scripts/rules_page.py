#!/usr/bin/env python3
"""validate/RULES.md: the rules of the scheduler, what each is good for, and where other descriptions differ.

    validate/scripts/rules_page.py [--check]

Made from sim/machine/rules.h (names, claims, files, keys), validate/recordings/rules.csv (what rules.sh measured) and
validate/rules.txt (sources, tests, what others say).  Writes the page; with --check it writes nothing and ends with 1 where the
page is another one, or where a rule does not earn its place: see wrong_with().
"""
import csv
import os
import re
import sys

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = os.path.join(SOURCE, "validate", "RULES.md")
MOST_WORDS = 60
MOST_DOUBTFUL = 5
FIELDS = ("others", "limit", "test", "source", "built", "documented", "doubtful")

HEAD = """\
# The rules of the scheduler

Made by `validate/scripts/rules_page.py` from `sim/machine/rules.h`, `validate/rules.txt` and `validate/recordings/rules.csv`: change those.
`validate/scripts/rules.sh` measures the effects: every recording of H200s (SXM, driver 580.159.04, CUDA 13.0, November 2026) in
`validate/recordings` is simulated with all rules and without each one. *n* counts the traces whose makespan changes; errors are means of their
makespans' errors without sign, of the whole and, in parentheses, of the GPU's part (the host's calls as measured).

- **holds**: without the rule the error is larger: that of the whole, or of the GPU's part where the rule acts on the GPU. Where no key
  switches it off, a build without it was measured.
- **documented**: no recording can judge it; documentation of CUDA or NCCL, or the trace itself, says so.
- **doubtful**: recordings speak against the rule, and it stays for the reason given; at most {most} rules may be so.

A rule that is none of these is deleted.

| rule | n | error with | without | verdict |
| --- | --- | --- | --- | --- |
"""


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def rules_of_header():
    """The rows of rules.h, in order."""
    row = re.compile(r'RULE\([A-Z_]+, "([^"]+)", (NULL|"[^"]+"), "([^"]+)", "([^"]+)"\)')
    return [
        {"name": name, "off": "" if off == "NULL" else off.strip('"'), "file": file, "says": says}
        for name, off, file, says in row.findall(read("sim/machine/rules.h"))
    ]


def notes():
    """The records of rules.txt by name."""
    records, record = {}, None
    for number, line in enumerate(read("validate/rules.txt").split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        field, colon, text = line.strip().partition(": ")
        if not line.startswith(" "):
            record = records.setdefault(line, {})
        elif colon and field in FIELDS and field not in record:
            record[field] = text
        else:
            sys.exit(f"validate/rules.txt:{number}: a field is one of {', '.join(FIELDS)}, once")
    return records


def effects():
    """The lines of rules.csv by name."""
    return {row["rule"]: row for row in csv.DictReader(read("validate/recordings/rules.csv").splitlines())}


def built_effect(note):
    """Of the field built: traces, errors with and without, what they are; None where the rule makes the error no less."""
    traces, was, without, what = note["built"].split(" ", 3)
    return (traces, was, without, what) if float(without) > float(was) else None


def verdict_of(note, effect):
    """What the page says: what was measured, unless the record says why the rule stands all the same."""
    if effect["verdict"] == "holds" or ("built" in note and effect["verdict"] in ("fixed", "unnoticed") and built_effect(note)):
        return "holds"
    if "documented" in note and effect["verdict"] in ("fixed", "unseen", "unnoticed"):
        return "documented"
    if "doubtful" in note and effect["verdict"] in ("doubtful", "unseen", "unnoticed"):
        return "doubtful"
    return f"not earned ({effect['verdict']})"


def wrong_with(rules, records, measured):
    """Lines that say what is wrong: none where every rule earns its place."""
    names = [rule["name"] for rule in rules]
    for what, others in (("validate/rules.txt", records), ("validate/recordings/rules.csv", measured)):
        yield from (f"{what}: has no rule {name}" for name in names if name not in others)
        yield from (f"{what}: {name} is no rule of rules.h" for name in others if name not in names)
    doubtful = 0
    for name in names:
        note, effect = records.get(name), measured.get(name)
        if note is None or effect is None:
            continue
        words = len((note.get("others", "") + " " + note.get("limit", "")).split())
        if words > MOST_WORDS:
            yield f"{name}: {words} words, {MOST_WORDS} are allowed"
        for field in ("test", "source"):
            if field not in note:
                yield f"{name}: no {field}"
        if not os.path.exists(os.path.join(SOURCE, "tests", "golden", note.get("test", "") + ".jsonl")):
            yield f"{name}: no scenario tests/golden/{note.get('test')}.jsonl"
        verdict = verdict_of(note, effect)
        doubtful += verdict == "doubtful"
        if verdict.startswith("not earned"):
            yield f"{name}: {effect['verdict']}, and validate/rules.txt gives no reason why it stays"
        for field in ("documented", "doubtful"):
            if field in note and verdict != field:
                yield f"{name}: {verdict}, so that validate/rules.txt need not say {field}"
    if doubtful > MOST_DOUBTFUL:
        yield f"{doubtful} rules are doubtful, {MOST_DOUBTFUL} may be"


def sentence(text):
    return text[0].upper() + text[1:] + "."


def pair(whole, gpu):
    return f"{float(whole):.2f}% ({float(gpu):.2f}%)" if whole else ""


def effect_line(note, effect):
    if "built" in note:
        traces, was, without, what = built_effect(note) or note["built"].split(" ", 3)
        return f"error {was}%, in a build without it {without}%, of {traces} {what}"
    if effect["verdict"] == "fixed":
        return f"acts in {effect['fired']} traces; no key switches it off"
    if effect["n"] == "0":
        return f"acts in {effect['fired']} traces, changes no makespan"
    return (
        f"n = {effect['n']} of {effect['fired']} traces in which it acts; error {pair(effect['with'], effect['gpu_with'])}, "
        f"without it {pair(effect['without'], effect['gpu_without'])}; {effect['worse']} worse, {effect['better']} better"
    )


def record(rule, note, effect):
    """One rule's part of the page."""
    reason = note.get(verdict_of(note, effect))
    lines = [f"## {rule['name']}", "", sentence(rule["says"]), ""]
    lines += [f"- Others: {note['others']}"] if "others" in note else []
    lines += [f"- Limit: {note['limit']}"] if "limit" in note else []
    lines += [f"- Effect: {effect_line(note, effect)}"]
    lines += [f"- Recordings: {effect['recordings']}"] if effect["recordings"] else []
    lines += [f"- Verdict: {verdict_of(note, effect)}" + (f"; {reason}" if reason else "")]
    lines += [f"- Source: {note['source']}"]
    lines += [f"- Code: `sim/{rule['file']}`" + (f"; off: `{rule['off']}`" if rule["off"] else "")]
    lines += [f"- Fails without it: `tests/golden/{note['test']}.jsonl`", ""]
    return "\n".join(lines)


def page(rules, records, measured):
    text = HEAD.format(most=MOST_DOUBTFUL)
    for rule in rules:
        note, effect = records[rule["name"]], measured[rule["name"]]
        text += (
            f"| [{rule['name']}](#{rule['name']}) | {effect['n'] if effect['verdict'] != 'fixed' else ''} "
            f"| {pair(effect['with'], effect['gpu_with'])} | {pair(effect['without'], effect['gpu_without'])} "
            f"| {verdict_of(note, effect)} |\n"
        )
    return text + "\n" + "\n".join(record(rule, records[rule["name"]], measured[rule["name"]]) for rule in rules)


def main():
    rules, records, measured = rules_of_header(), notes(), effects()
    wrong = list(wrong_with(rules, records, measured))
    for line in wrong:
        print(f"rules_page.py: {line}", file=sys.stderr)
    if any("has no rule" in line for line in wrong):
        sys.exit(1)
    text = page(rules, records, measured)
    if sys.argv[1:] != ["--check"]:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)
    elif not os.path.exists(PAGE) or text != read("validate/RULES.md"):
        wrong.append("page")
        print("validate/RULES.md: is not up to date: validate/scripts/rules_page.py makes it", file=sys.stderr)
    sys.exit(1 if wrong else 0)


main()
