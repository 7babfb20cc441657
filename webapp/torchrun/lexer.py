"""A shell text as commands and words: quotes, line continuations, comments, operators, redirections.

Commands come one by one, so that what one of them sets is known to those behind it. Nothing is ever run.
"""

from __future__ import annotations

from collections.abc import Iterator

from .expansion import Expanded, Variables, expand
from .words import ASSIGNMENT, Command, Gap, Letter, Letters, Remark, Word, text_of

_BLANK = " \t\r\u00a0"
_OPERATORS = ("&&", "||", ";;", "|&", ";", "&", "|", "(", ")", "\n")
_REDIRECTIONS = ("&>>", "&>", "<<<", "<<-", "<<", ">>", ">&", "<&", ">|", ">", "<")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_HOME = "~ is a home folder, and on the nodes it may be another one. Write the whole path."
_STAR = "A shell would put names of files for *. Here it stays as it is: write the names."


class Lexer:
    def __init__(self, source: Letters, variables: Variables) -> None:
        self.source, self.variables = source, variables
        self.i = 0
        self.words: list[Word] = []
        self.redirections: list[Remark] = []
        self._clear()

    def commands(self) -> Iterator[Command]:
        while self.i < len(self.source):
            operator = self._step()
            if operator is not None and (self.words or self.redirections):
                yield self._take(operator, self.i - len(operator))
        self._end_word()
        if self.words or self.redirections:
            yield self._take("", len(self.source) - 1)

    def _take(self, operator: str, index: int) -> Command:
        at = self.source[index].at
        command = Command(tuple(self.words), tuple(self.redirections), operator, at)
        self.words, self.redirections = [], []
        return command

    # -- one step --

    def _step(self) -> str | None:
        """Read a little further. Gives the operator where one ended a command."""
        char = self._char()
        if char in _BLANK:
            self._end_word()
            self.i += 1
        elif char == "#" and not self.is_open:
            self.i = self._line_end()
        elif redirection := self._starts(_REDIRECTIONS):
            self._redirect(redirection)
        elif char == "(" and self._is_array():
            self._read_array()
        elif operator := self._starts(_OPERATORS):
            self._end_word()
            self.i += len(operator)
            return operator
        else:
            self._read_part(char)
        return None

    def _read_part(self, char: str) -> None:
        """A part of a word: quoted, expanded, or a character as it is."""
        match char:
            case "\\":
                self._escape()
            case "'":
                self._quote("'")
            case '"':
                self._double_quote()
            case "$" if self._char(1) == "'":
                self._quote("'", 2, escapes=True)
            case "$" if self._char(1) == '"':
                self.i += 1
            case "$" | "`" if expanded := expand(self.source, self.i, self.variables):
                self._put_expanded(expanded, is_quoted=False)
            case _:
                self._plain(char)

    def _plain(self, char: str) -> None:
        if char == "~" and not self.is_open and self._char(1) in ("", "/", " ", "\n"):
            self.gaps.append(Gap("~", self._at(), _HOME))
        if char == "*":
            self.gaps.append(Gap("*", self._at(), _STAR))
        self._put(self.source[self.i])
        self.i += 1

    def _escape(self) -> None:
        """A backslash: at the end of a line it joins two lines, else the next character means itself."""
        rest = self.i + 1
        while rest < len(self.source) and self.source[rest].char in _BLANK:
            rest += 1
        if rest == len(self.source) or self.source[rest].char == "\n":
            self.i = rest + 1
            return
        self._put(self.source[self.i + 1])
        self.i += 2

    def _quote(self, closes: str, opening: int = 1, escapes: bool = False) -> None:
        begun, self.is_quoted = self.i, True
        self._open(self._at())
        self.i += opening
        while self.i < len(self.source) and self._char() != closes:
            if escapes and self._char() == "\\" and self.i + 1 < len(self.source):
                self.i += 1
                letter = self.source[self.i]
                self._put(Letter(_ESCAPES.get(letter.char, letter.char), letter.at))
            else:
                self._put(self.source[self.i])
            self.i += 1
        self._close(begun)

    def _double_quote(self) -> None:
        begun, self.is_quoted = self.i, True
        self._open(self._at())
        self.i += 1
        while self.i < len(self.source) and self._char() != '"':
            if self._char() in "$`" and (expanded := expand(self.source, self.i, self.variables)):
                self._put_expanded(expanded, is_quoted=True)
            elif self._char() == "\\" and self._char(1) == "\n":
                self.i += 2
            else:
                self.i += self._char() == "\\" and self._char(1) in tuple('"\\$`')
                self._put(self.source[self.i])
                self.i += 1
        self._close(begun)

    def _close(self, begun: int) -> None:
        if self.i >= len(self.source):
            letter = self.source[begun]
            self.gaps.append(Gap(letter.char, letter.at, "This quote is opened and never closed. Close it."))
        self.i += 1

    # -- redirections and arrays --

    def _redirect(self, operator: str) -> None:
        """``2>&1``, ``> log``: the target is no word of the command."""
        begun = self.i
        if self.is_open and text_of(tuple(self.letters)).isdigit() and not self.is_quoted:
            begun -= len(self.letters)
            self._clear()
        self._end_word()
        held = len(self.words)
        self.i += len(operator)
        while self.i < len(self.source) and self._char() in _BLANK:
            self.i += 1
        while self.i < len(self.source) and self._char() not in _BLANK and not self._starts(_OPERATORS):
            self._read_part(self._char())
        self._clear()
        del self.words[held:]
        text = text_of(self.source[begun : self.i])
        self.redirections.append(Remark(text, self.source[begun].at, len(text), OUTPUT_IS_KEPT))

    def _is_array(self) -> bool:
        match = ASSIGNMENT.match(text_of(tuple(self.letters)))
        return not self.is_quoted and match is not None and match.end() == len(self.letters)

    def _read_array(self) -> None:
        name, outside = self._word(), self.words
        self._clear()
        self.words = []
        self.i += 1
        while self.i < len(self.source) and self._char() != ")":
            self._step()
        self._end_word()
        self.i += 1
        self.words = [*outside, Word(name.letters, name.at, array=tuple(self.words))]

    # -- the word that is being read --

    def _clear(self) -> None:
        self.letters: list[Letter] = []
        self.gaps: list[Gap] = []
        self.is_open, self.is_quoted, self.begun = False, False, 0

    def _open(self, at: int) -> None:
        if not self.is_open:
            self.is_open, self.begun = True, at

    def _put(self, letter: Letter) -> None:
        self._open(letter.at)
        self.letters.append(letter)

    def _word(self) -> Word:
        return Word(tuple(self.letters), self.begun, tuple(self.gaps), self.is_quoted)

    def _end_word(self) -> None:
        if self.is_open or self.gaps:
            self.words.append(self._word())
        self._clear()

    def _put_expanded(self, expanded: Expanded, is_quoted: bool) -> None:
        for number, word in enumerate(expanded.words):
            if number:
                self._end_word()
            self._open(word.at) if word.letters or is_quoted else None
            self.gaps.extend(word.gaps)
            self._put_value(word, is_quoted or expanded.keeps_words)
        self.i = expanded.end

    def _put_value(self, word: Word, is_whole: bool) -> None:
        """Of an unquoted value, blanks part words."""
        for letter in word.letters:
            is_parting = letter.char in _BLANK or letter.char == "\n"
            if is_parting and not is_whole and not word.open_gaps:
                self._end_word()
            else:
                self._put(letter)

    # -- where it stands --

    def _char(self, further: int = 0) -> str:
        i = self.i + further
        return self.source[i].char if i < len(self.source) else ""

    def _at(self) -> int:
        return self.source[self.i].at

    def _starts(self, texts: tuple[str, ...]) -> str:
        here = text_of(self.source[self.i : self.i + 3])
        return next((text for text in texts if here.startswith(text)), "")

    def _line_end(self) -> int:
        return next(
            (i for i in range(self.i, len(self.source)) if self.source[i].char == "\n"), len(self.source)
        )


OUTPUT_IS_KEPT = "Output of each rank is kept on its node and shown on the page; it goes into no other file."
