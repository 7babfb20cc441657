"""A pasted torchrun line as a spec, with what is wrong with it and what was left out, each at its place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from agents.wire.spec import JobSpec, SpecError, check_spec
from agents.wire.torchrun import REFUSED, RULES

from .flags import ALL, READS, Flags, Given, is_switch, read_flags
from .launcher import Launch
from .script import Found, Script, read_script
from .slurm import Asked, read_count, read_time
from .words import Remark, Word

LOCAL_RANK = "--local-rank=${local_rank}"
"""What the old launcher gives a script; torch's agent puts the number in."""
NO_TORCHRUN = (
    "There is no torchrun in this text. Paste a line such as torchrun --nproc-per-node 2 /path/train.py, or "
    "one with python -m torch.distributed.run."
)
ONE_WORKER = "There is no torchrun here, so it is taken as one worker on one node."
OLD = "torch.distributed.launch gives the script --local-rank. It is the first of args."
OLD_NO_PYTHON = "torch.distributed.launch takes --no-python only beside --use-env. Add it, or write torchrun."
THE_SAME = "It is the same job on another node. Regroup starts all nodes of a job."
ANOTHER = "It is a second torchrun, and a job is one. Paste it by itself to launch it, too."
STATIC = (
    "Without --rdzv-backend torchrun takes static for an endpoint. Write --rdzv-backend=c10d for nodes "
    "that may come and go."
)
SET_BY = {
    "PYTHON_EXEC": "python",
    "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE": "log_line_prefix_template",
    "TORCH_ELASTIC_SHUTDOWN_TIMEOUT": "shutdown_timeout",
}
"""Variables that torchrun itself reads, and the fields that they are here."""
OURS = {"REGROUP_CODE": "code"}
"""Variables in which a line says what torchrun does not have."""
NOT_BY_VARIABLE = ("logs_specs", "numa_binding")
"""Flags that torchrun reads from no ``PET_`` variable."""
EXECUTED = ("no_python", "numa_binding")
"""What no worker can be forked with."""


@dataclass(frozen=True)
class Reading:
    spec: JobSpec
    problems: tuple[Remark, ...] = ()
    stripped: tuple[Remark, ...] = ()
    name: str = ""
    """What the text calls the job. Empty: nothing."""


def parse(text: str, workdir: str | None = None) -> Reading:
    """Whatever the text is, there is an answer; its problems say what keeps it from being a job."""
    script = read_script(text, workdir)
    if not script.found:
        missing = () if script.problems else (Remark("", 0, 0, NO_TORCHRUN),)
        return Reading(JobSpec(), (*script.problems, *missing), tuple(script.stripped))
    found = _the_one(script)
    draft = _Draft(script.problems, script.stripped)
    spec = draft.read(found)
    for other in script.found:
        if other is not found:
            _tell_other(draft, spec, other)
    return Reading(spec, _sorted(draft.problems), _sorted(draft.stripped), draft.name)


def _the_one(script: Script) -> Found:
    return next((found for found in script.found if not found.launch.is_plain), script.found[0])


def _tell_other(draft: _Draft, spec: JobSpec, other: Found) -> None:
    word = other.launch.word
    if other.launch.is_plain:
        draft.stripped.append(word.remark("It is not carried out: a job is the one torchrun line."))
    elif _Draft([], []).read(other) == spec:
        draft.stripped.append(word.remark(THE_SAME))
    else:
        draft.problems.append(word.remark(ANOTHER))


def _sorted(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    return tuple(sorted(dict.fromkeys(remarks), key=lambda remark: remark.position))


@dataclass
class _Draft:
    """Fields as they are found, and where each was."""

    problems: list[Remark]
    stripped: list[Remark]
    fields: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Given | Word] = field(default_factory=dict)
    name: str = ""

    def read(self, found: Found) -> JobSpec:
        launch = found.launch
        flags = _plain_flags(launch) if launch.is_plain else read_flags(launch.words, launch.is_old)
        self.problems += flags.problems
        if launch.is_plain:
            self.stripped.append(launch.word.remark(ONE_WORKER))
        self._set("python", launch.python or found.python, launch.word)
        self._read_env(found.env)
        self._read_given(flags.given)
        self._read_script(launch, flags)
        self._set_workdir(found.workdir)
        self._read_asked(found.asked, launch.is_plain)
        self._settle_rendezvous()
        return self._checked()

    # -- fields --

    def _set(self, name: str, value: Any, place: Given | Word) -> None:
        if value is not None:
            self.fields[name], self.places[name] = value, place

    def _problem(self, place: Given | Word, message: str) -> None:
        self.problems.append(place.remark(message))

    def _tell_gaps(self, *words: Word) -> bool:
        """Whether a part of these is not known."""
        self.stripped += [gap.remark for word in words for gap in word.gaps if gap.is_filled]
        open_gaps = [gap.remark for word in words for gap in word.open_gaps]
        self.problems += open_gaps
        return bool(open_gaps)

    def _read_env(self, env: dict[str, Word]) -> None:
        kept = {}
        for name, word in env.items():
            value = word.behind(len(name) + 1)
            if flag := _flag_of(name):
                self._read_variable(Given(flag, word, value))
            else:
                self._tell_gaps(value)
                kept[name] = value.text
        self.fields["env"] = kept

    def _read_asked(self, asked: dict[str, Asked], is_plain: bool) -> None:
        """What SLURM was told. Of the nodes torchrun's own flags say more, and count."""
        known = {name: one for name, one in asked.items() if not self._tell_gaps(one.value)}
        if "time_limit" in known:
            self._read_time(known["time_limit"])
        if "name" in known:
            self.name = known["name"].value.text
            self.stripped.append(known["name"].remark(f"The job's name is {self.name}, as it says."))
        if "nnodes" in known and not is_plain and not self.fields.get("standalone"):
            self._read_nodes(known["nnodes"])

    def _read_time(self, asked: Asked) -> None:
        limit = read_time(asked.value.text)
        if limit is None:
            advice = "Write time_limit, such as 2h."
            self._problem(asked.option, f"{asked.value.text} is no time of SLURM's. {advice}")
        elif limit:
            self._set("time_limit", limit, asked.option)
            self.stripped.append(asked.remark(f"time_limit is {limit}, as it says. Waiting does not count."))

    def _read_nodes(self, asked: Asked) -> None:
        count = read_count(asked.value.text)
        if count is None or (self.fields.get("nnodes", count) == count and "nnodes" in self.fields):
            return
        if "nnodes" in self.fields:
            own = self.fields["nnodes"]
            self.stripped.append(asked.remark(f"torchrun was told nnodes {own}, which counts here."))
            return
        self._set("nnodes", count, asked.option)
        self.stripped.append(asked.remark(f"nnodes is {count}, as it says: torchrun was told no number."))

    def _read_variable(self, given: Given) -> None:
        if given.name in REFUSED:
            self._refuse(given)
            return
        if is_switch(given.name):
            self._set(given.name, given.text not in ("", "0"), given)
        elif given.value is not None and not self._tell_gaps(given.value):
            self._read_value(given)
        who = "Regroup" if given.name in OURS.values() else "torchrun"
        self.stripped.append(given.remark(f"{who} reads it itself: it is {given.name} now."))

    def _read_given(self, given: list[Given]) -> None:
        seen: dict[str, Given] = {}
        for one in given:
            before = seen.get(one.name)
            if before is not None and before.text != one.text:
                self._problem(
                    one, f"{one.flag} is given twice, as {before.text} and as {one.text}. The last counts."
                )
            seen[one.name] = one
        for one in seen.values():
            if one.name in REFUSED:
                self._refuse(one)
            elif one.value is None:
                self._set(one.name, True, one)
            elif not self._tell_gaps(one.value):
                self._read_value(one)

    def _refuse(self, given: Given) -> None:
        why = re.sub(r" (L|and l)eave it out( here)?\.$", "", REFUSED[given.name]).rstrip(",.")
        self.stripped.append(given.remark(f"{why}. It is left out here."))

    def _read_value(self, given: Given) -> None:
        read, advice = READS.get(given.name, (str, ""))
        try:
            value = read(given.text)
        except ValueError:
            self._problem(given, f"{given.name} is {given.text!r}. {advice}")
            return
        rule = RULES.get(given.name)
        if rule is None or rule.allows(tuple(value) if isinstance(value, list) else value):
            self._set(given.name, tuple(value) if isinstance(value, list) else value, given)
        else:
            self._problem(given, f"{given.name} is {given.text!r}. {rule.advice}")

    # -- the script --

    def _read_script(self, launch: Launch, flags: Flags) -> None:
        is_module, uses_env = self.fields.pop("module", False), self.fields.pop("use_env", not launch.is_old)
        if flags.script is None:
            if not flags.problems:
                self._problem(launch.word, "No script follows the flags. Write its path behind them.")
            return
        self._tell_gaps(flags.script)
        self._set("module" if is_module else "script", flags.script.text, flags.script)
        args = [word for word in flags.args if not self._tell_gaps(word) or not _is_all(word)]
        self.fields["args"] = tuple(word.text for word in args)
        if not uses_env and not self.fields.get("no_python"):
            self.fields["args"] = (LOCAL_RANK, *self.fields["args"])
            self.stripped.append(launch.word.remark(OLD))
        elif not uses_env:
            self._problem(self.places["no_python"], OLD_NO_PYTHON)

    def _set_workdir(self, workdir: Word | None) -> None:
        if workdir is not None:
            self._tell_gaps(workdir)
            self._set("workdir", workdir.text, workdir)

    # -- the whole --

    def _settle_rendezvous(self) -> None:
        """What torchrun decides from flags that are there or not."""
        if self.fields.get("standalone"):
            for name in ("rdzv_backend", "rdzv_endpoint"):
                if name in self.fields:
                    self._problem(
                        self.places[name], "Beside --standalone it has no effect: leave one of them out."
                    )
                    del self.fields[name]
        elif self.fields.get("rdzv_endpoint") and "rdzv_backend" not in self.fields:
            self.fields["rdzv_backend"] = "static"
            self.stripped.append(self.places["rdzv_endpoint"].remark(STATIC))

    def _checked(self) -> JobSpec:
        if any(self.fields.get(name) for name in EXECUTED):
            self.fields["start"] = "exec"
        spec = JobSpec(**self.fields)
        while error := _wrong(spec):
            place = self.places.get(error.where)
            if place is None:
                # A script that is missing, or that cannot be read, was told of already.
                if not self.problems:
                    self.problems.append(Remark("", 0, 0, str(error)))
                break
            self._problem(place, str(error))
            if error.where in ("script", "module"):
                break
            del self.places[error.where]
            spec = replace(spec, **{error.where: getattr(JobSpec(), error.where)})
        return spec


def _flag_of(variable: str) -> str | None:
    """The field that torchrun takes from a variable of that name."""
    flag = variable.removeprefix("PET_").lower()
    if variable.startswith("PET_") and flag in ALL and flag not in NOT_BY_VARIABLE:
        return flag
    return (SET_BY | OURS).get(variable)


def _wrong(spec: JobSpec) -> SpecError | None:
    try:
        check_spec(spec)
    except SpecError as error:
        return error
    return None


def _is_all(word: Word) -> bool:
    """It is nothing but ``$@``: other arguments, which are not known."""
    return word.text in ("$@", "$*", "${@}", "${*}", "${@:1}")


def _plain_flags(launch: Launch) -> Flags:
    words = launch.words
    if words[0].text == "-m" and len(words) > 1:
        return Flags([Given("module", words[0])], words[1], words[2:])
    return Flags(script=words[0], args=words[1:])
