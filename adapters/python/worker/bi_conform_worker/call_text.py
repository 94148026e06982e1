"""The call text: `(y) = aten::mm.default(x, w); …` over names, literals and lists of them."""
import re
from dataclasses import dataclass, field


class CallTextError(Exception):
    """The text does not parse, or names what is not there."""


@dataclass(frozen=True)
class Name:
    """A name used as a value: a tensor, a dim, an attribute or a dtype."""

    text: str


@dataclass
class Step:
    targets: list
    op: str  # "aten::mm"
    overload: str  # "" for `.default` and for none
    positional: list = field(default_factory=list)
    named: dict = field(default_factory=dict)

    @property
    def base(self):
        return self.op.partition("::")[2]


TOKEN = re.compile(
    r"""[ \t]*(?:
    (?P<word>[A-Za-z_]\w*)
  | (?P<number>[-+]?(?:0[xX][0-9a-fA-F.]+(?:[pP][-+]?\d+)?|inf\b|nan\b|\.?\d[\d.]*(?:[eE][-+]?\d+)?))
  | (?P<quoted>"[^"]*"|'[^']*')
  | (?P<mark>::|[()\[\],=.;\n])
  | (?P<end>\Z))""",
    re.VERBOSE,
)
WORDS = {"None": None, "True": True, "False": False, "inf": float("inf"), "nan": float("nan")}


def number(text):
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    return float.fromhex(text) if "x" in text.lower() else float(text)


class Parser:
    """Recursive descent over one text; every error names the offset."""

    def __init__(self, text):
        self._text, self._at = text, 0
        self._next()

    def _next(self):
        found = TOKEN.match(self._text, self._at)
        if not found:
            self._fail("a word, a value or a mark")
        self._begin, self._at = self._at, found.end()
        self._kind = found.lastgroup
        self._token = found.group(self._kind)

    def _fail(self, expected):
        at = getattr(self, "_begin", 0)
        raise CallTextError(f"call text '{self._text}': expected {expected} at offset {at}")

    def _take(self, mark):
        if self._kind != "mark" or self._token != mark:
            return False
        self._next()
        return True

    def _expect(self, mark):
        if not self._take(mark):
            self._fail(f"'{mark}'")

    def _word(self):
        if self._kind != "word":
            self._fail("a name")
        word = self._token
        self._next()
        return word

    def steps(self):
        steps = []
        while self._separators() and self._kind != "end":
            steps.append(self._step())
            if self._kind != "end" and self._token not in (";", "\n"):
                self._fail("';' or the end")
        if not steps:
            self._fail("a call")
        return steps

    def _separators(self):
        while self._take(";") or self._take("\n"):
            pass
        return True

    def _step(self):
        targets = []
        bracket = self._take("(")
        first = self._word()
        if bracket or (self._kind == "mark" and self._token in ("=", ",")):
            targets.append(first)
            while self._take(","):
                targets.append(self._word())
            if bracket:
                self._expect(")")
            self._expect("=")
            first = self._word()
        self._expect("::")
        step = Step(targets, f"{first}::{self._word()}", "")
        if self._take("."):
            overload = self._word()
            step.overload = "" if overload == "default" else overload
        self._arguments(step)
        return step

    def _arguments(self, step):
        self._expect("(")
        if self._take(")"):
            return
        while True:
            value = self.value()
            if isinstance(value, Name) and self._take("="):
                step.named[value.text] = self.value()
            elif step.named:
                self._fail("'name=' after a named argument")
            else:
                step.positional.append(value)
            if not self._take(","):
                return self._expect(")")

    def value(self):
        kind, token = self._kind, self._token
        if self._take("["):
            return self._list()
        if kind not in ("word", "number", "quoted"):
            self._fail("a value")
        self._next()
        if kind == "word":
            return WORDS[token] if token in WORDS else Name(token)
        return token[1:-1] if kind == "quoted" else number(token)

    def _list(self):
        items = []
        if self._take("]"):
            return items
        while True:
            items.append(self.value())
            if not self._take(","):
                self._expect("]")
                return items

    def whole_value(self):
        value = self.value()
        if self._kind != "end":
            self._fail("the end")
        return value


def parse_call(text):
    return Parser(text).steps()


def parse_attribute(text):
    """An attribute's text as a value: whatever is no literal is a string."""
    try:
        value = Parser(text).whole_value()
    except (CallTextError, ValueError):
        return text
    return value.text if isinstance(value, Name) else value
