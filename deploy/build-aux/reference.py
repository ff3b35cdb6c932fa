#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the generated parts of docs/configuration.md and of the manual: `print_tables | reference.py SOURCE-FOLDER`.

A generated part is between a line with "generated: NAME" and a line with "end of generated". With --check nothing is
written, and the exit code is 1 if a page is not as it would be written."""
import json
import pathlib
import re
import sys

PAGES = {"docs/configuration.md": ("<!-- {} -->", "markdown"), "deploy/man/trainyard.1": ('.\\" {}', "manual")}
SERVE, ENV, CLEAN = 1, 2, 4


def sentence(text):
    if not re.match(r"\w+[:,]", text):
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?")) else text + "."


def told_choices(option):
    """The possible values, unless the detail explains each of them."""
    choices = option.get("choices") or []
    return [] if all(f"`{choice}`" in (option["detail"] or "") for choice in choices) else choices


def default_of(option):
    """The default as the page shows it, and whether it is a value (rather than words)."""
    if option["default"] is not None and option["type"] != 2:
        return option["default"], True
    return option["default_words"], False


# ---- Markdown ------------------------------------------------------------------------------------------

def markdown_cell(text):
    return text.replace("|", "\\|")


def markdown_code_of_options(text):
    """Puts `--name` in backticks where the text does not."""
    return re.sub(r"(?<![`\w-])(--[a-z][a-z-]*)(?![^`]*`(?:[^`]*`[^`]*`)*[^`]*$)", r"`\1`", text)


def markdown_row(option):
    name = f"`--{option['name']}{' ' + option['hint'] if option['hint'] else ''}`"
    default, is_value = default_of(option)
    default = f"`{default}`" if default and is_value else default or ""
    help_text = option["help"]
    if told_choices(option):
        help_text += ": " + ", ".join(f"`{choice}`" for choice in told_choices(option))
    meaning = sentence(help_text) + (" " + option["detail"] if option["detail"] else "")
    if option["page"]:
        meaning += f" [More]({option['page']})"
    return "| " + " | ".join(markdown_cell(cell) for cell in (name, default, markdown_code_of_options(meaning))) + " |"


def markdown_options(tables):
    lines = []
    for option in tables["options"]:
        if option["group"]:
            lines += ["", f"## {option['group']}", "", "| option of `serve` | default | |", "| --- | --- | --- |"]
        lines.append(markdown_row(option))
    return lines[1:]


def markdown_exits(tables):
    return ["| code | meaning |", "| --- | --- |"] + [f"| {row['code']} | {row['meaning']} |" for row in tables["exits"]]


# ---- the manual ----------------------------------------------------------------------------------------

def manual_words(text):
    text = text.replace("\\", "\\e")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fP", text)
    text = re.sub(r"(?<![\w-])--(?=[a-z]|\s|$)", r"\\-\\-", text)
    text = re.sub(r"(?<![\w-])-(?=[a-zA-Z]\b)", r"\\-", text)
    text = re.sub(r"(?<= )\.(?= |$)", r"\\&.", text)
    return "\\&" + text if text[:1] in (".", "'") else text


def manual_lines(text):
    """Begins each sentence on a new line, as manuals do."""
    text = re.sub(r"\s+", " ", text).strip()
    return [manual_words(part) for part in re.split(r"(?<=[a-zA-Z0-9)`][.]) (?=[A-Z`*-])", text)]


def manual_option_head(option):
    letter = f"Fl {option['letter']} , " if option.get("letter") else ""
    hint = f" Ar {option['hint']}" if option["hint"] else ""
    return f".It {letter}Fl -{option['name']}{hint}"


def manual_option(option):
    help_text = option["help"]
    if told_choices(option):
        help_text += ": " + ", ".join(option["choices"])
    lines = [manual_option_head(option)] + manual_lines(sentence(help_text))
    if option.get("detail"):
        lines += manual_lines(option["detail"])
    if "default" in option:
        default, _ = default_of(option)
        lines += [manual_words(f"Default: {default}.")] if default else []
    return lines


def manual_options(tables):
    lines = []
    for option in tables["options"]:
        if option["group"]:
            lines += ([".El"] if lines else []) + [f".Ss {option['group']}", ".Bl -tag -width indent"]
        lines += manual_option(option)
    return lines + [".El"]


def manual_synopsis(tables):
    lines = []
    for group in tables["groups"]:
        for verb in group["verbs"]:
            lines += [".Nm", f".Cm {verb['name']}"]
            options = [".Op Ar option ..."] if verb["options"] or verb["config"] or verb["calls"] or verb["lists"] else []
            words = [".No " + manual_words(verb["words"])] if verb["words"] else []
            words_first = verb["config"] and not verb["words"].startswith("--")
            lines += words + options if words_first else options + words
    return lines


def manual_detail(text):
    """The paragraphs of a help text. Indented lines are examples."""
    lines, gathered = [], []

    def flush():
        if gathered:
            lines.extend(manual_lines(" ".join(gathered)))
            gathered.clear()

    for line in text.rstrip("\n").split("\n"):
        if line.startswith("Exit codes:"):
            flush()
            lines.append(".Pp")
        if line.startswith(" "):
            flush()
            lines.append(".Dl " + manual_words(line.strip()).replace('"', "\\(dq"))
        elif not line:
            flush()
            lines.append(".Pp")
        else:
            gathered.append(line)
    flush()
    while lines and lines[-1] == ".Pp":
        lines.pop()
    # A display (.Bd) has vertical space of its own.
    return [line for at, line in enumerate(lines)
            if line != ".Pp" or at and lines[at - 1] != ".Pp" and not lines[at + 1].startswith(".Dl")]


def manual_names(options):
    return " , ".join(f"-{option['name']}" for option in options)


def manual_commands(tables):
    lines = []
    for group in tables["groups"]:
        lines += [f".Ss {group['title']}", ".Bl -tag -width completion"]
        for verb in group["verbs"]:
            detail = (verb["detail"] or "").replace(tables["job_words"], "")
            lines += [f".It Cm {verb['name']}"] + manual_lines(sentence(verb["summary"]))
            lines += manual_detail(detail) if detail.strip() else []
            options = verb["options"] + (tables["lister_options"] if verb["lists"] else [])
            if options:
                lines += [".Bl -tag -width indent"]
                for option in options:
                    lines += manual_option(option)
                lines += [".El"]
            if verb["config"] and verb["name"] != "serve":
                taken = [option for option in tables["options"] if option["commands"] & verb["config"]]
                if verb["config"] & SERVE:
                    lines += ["It takes the options of", ".Cm serve ."]
                else:
                    lines += ["It also takes", f".Fl {manual_names(taken)} ,", "as", ".Cm serve", "does."]
        lines += [".El"]
    return lines


def manual_caller(tables):
    lines = [".Bl -tag -width indent"]
    for option in tables["caller_options"]:
        lines += manual_option(option)
    return lines + [".El"]


def manual_exits(tables):
    lines = [".Bl -tag -width 125"]
    for row in tables["exits"]:
        lines += [f".It {row['code']}", manual_words(row["meaning"])]
    return lines + [".El"]


def manual_methods(tables):
    lines = []
    for method in tables["methods"]:
        path = re.sub(r"\{(\w+)\}", r" Ns Ar \1 Ns Li ", method["path"]).removesuffix(" Ns Li ")
        lines += [f".It Li {method['method']} {path}"] + manual_lines(sentence(method["help"]))
        if method["parameters"]:
            lines += [".Bl -tag -width indent -compact"]
            for parameter in method["parameters"]:
                lines += [f".It Li ?{parameter['name']}="] + manual_lines(sentence(parameter["help"]))
            lines += [".El"]
    return lines


# ---- pages ---------------------------------------------------------------------------------------------

PARTS = {
    "markdown options": markdown_options, "markdown exits": markdown_exits,
    "manual synopsis": manual_synopsis, "manual commands": manual_commands, "manual caller": manual_caller,
    "manual options": manual_options, "manual exits": manual_exits,
    "manual methods": manual_methods,
}


def page_written(text, comment, form, tables):
    begin, end = (re.escape(comment.format(what)) for what in ("generated: NAME", "end of generated"))
    pattern = re.compile(rf"^({begin.replace('NAME', '([a-z]+)')})\n.*?^({end})$", re.MULTILINE | re.DOTALL)

    def part(match):
        return "\n".join([match[1], *PARTS[f"{form} {match[2]}"](tables), match[3]])

    written, count = pattern.subn(part, text)
    assert count, "no generated part"
    return written


def main(arguments):
    check = "--check" in arguments
    root, = [pathlib.Path(word) for word in arguments if word != "--check"]
    tables, stale = json.load(sys.stdin), 0
    for name, (comment, form) in PAGES.items():
        before = (root / name).read_text()
        after = page_written(before, comment, form, tables)
        if before == after:
            continue
        stale += 1
        if check:
            print(f"{name} is not as the tables are: make reference")
        else:
            (root / name).write_text(after)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
