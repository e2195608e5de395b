"""Sentences of Markdown pages, for checks of their words and length."""
import re

BEHIND = r"(?<=[.!?])[)\"”*]*\s+(?=[A-Z(\"*`\d\[])"


def hidden(match):
    """As many lines, with nothing on them."""
    return "\n" * match[0].count("\n")


def plain(text):
    """Without code blocks and comments; a link is its words, and what is quoted as code is the word CODE."""
    text = re.sub(r"<!--.*?-->", hidden, text, flags=re.S)
    text = re.sub(r"^ *```.*?^ *```$", hidden, text, flags=re.M | re.S)
    text = re.sub(r"``.+?``|`[^`\n]*`", "CODE", text)
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)


def parts(text):
    """(line, text) of each paragraph, item of a list and note of a table, which ends with its cell or a
    semicolon; headings are left out."""
    open_part, begin = [], 1
    for number, line in enumerate([*plain(text).split("\n"), ""], 1):
        line = line.strip()
        item = re.match(r"(?:[-*+]|\d+\.) ", line)
        if open_part and (not line or item or line[0] in "|#"):
            yield begin, " ".join(open_part)
            open_part = []
        if line.startswith("|"):
            yield from ((number, note.strip()) for note in re.split(r"(?<!\\)\||;(?= )", line) if note.strip(" :-"))
        elif line and not line.startswith("#"):
            begin = begin if open_part else number
            open_part.append(line[item.end():] if item else line)


def sentences(text):
    """(line at which its part begins, sentence)."""
    for line, part in parts(text):
        yield from ((line, sentence) for sentence in re.split(BEHIND, part))


def number_of_words(sentence):
    """A list of names in code counts as one word."""
    sentence = re.sub(r"CODE(?:(?:,| and| or|, and)? CODE)+", "CODE", sentence)
    return len(re.findall(r"[^\W_][\w'/.,%-]*", sentence))
