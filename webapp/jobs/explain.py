"""What a launch means before it is one: a sentence, what is wrong, what practice warns of, what will hold."""

from __future__ import annotations

from dataclasses import replace

from agents.wire.spec import LISTS, JobSpec, SpecError, check_spec, parse_nnodes
from webapp.accounts.models import Account
from webapp.errors import Problem
from webapp.masking import mask
from webapp.schemas import Fault

from .again import fill_masked
from .effective import effective
from .interfaces import read_nets, warn_of_interfaces
from .launch_sentence import launch_sentence
from .launch_warnings import find_warnings
from .models import Job
from .schemas import JobIn, SpecIn
from .services import read_spec
from .specs import spec_of
from .torchrun_schemas import CheckedOut


def explain(account: Account, data: JobIn) -> CheckedOut:
    """Nothing is launched, and a spec that is wrong is an answer too."""
    try:
        read_spec(account, fill_masked(account, data))
    except Problem as problem:
        faults = list(problem.faults) or [Fault(where=problem.where, message=problem.what)]
    else:
        faults = []
    spec = JobSpec(**{**(fields := data.dict(include=set(SpecIn.model_fields))), **_lists(fields)})
    found = _explained(_masked(spec), data.checkpoint_dir, faults)
    return found if not found.effective else _with_nodes(found, spec, data.node_names)


def _with_nodes(found: CheckedOut, spec: JobSpec, node_names: list[str]) -> CheckedOut:
    """What only the nodes tell."""
    if spec.interface is not None or parse_nnodes(spec.nnodes)[1] == 1:
        return found
    warning = warn_of_interfaces(spec, read_nets(node_names))
    return found.model_copy(update={"warnings": [*found.warnings, warning]}) if warning else found


def explain_job(job: Job) -> CheckedOut:
    """The same of a job that was launched. What nodes were there then is not asked again."""
    return _explained(_masked(spec_of(job)), job.placing.get("checkpoint_dir"), [])


def _lists(fields: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(fields[name]) for name in LISTS}


def _masked(spec: JobSpec) -> JobSpec:
    return replace(spec, **mask({name: getattr(spec, name) for name in ("env", "secret_env", "rdzv_conf")}))


def _explained(spec: JobSpec, checkpoint_dir: str | None, faults: list[Fault]) -> CheckedOut:
    try:
        check_spec(spec)
    except SpecError as error:
        # Of what makes no sense nothing else can be told.
        return CheckedOut(sentence=str(error), faults=faults, warnings=[], effective=[])
    return CheckedOut(
        sentence=launch_sentence(spec),
        faults=faults,
        warnings=find_warnings(spec, checkpoint_dir),
        effective=effective(spec),
    )
