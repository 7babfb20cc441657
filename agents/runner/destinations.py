"""Where the output of workers goes: a folder for each round and global rank, never used twice."""

from __future__ import annotations

from torch.distributed.elastic.multiprocessing import LogsDest, LogsSpecs, Std, to_map

from .. import stack_signal
from ..bundle import Bundle
from ..wire.spec import JobSpec
from ..wire.torchrun import read_ranks

TORCH_SIGNALS = "TORCHELASTIC_SIGNALS_TO_HANDLE"


class Destinations(LogsSpecs):
    """torch asks it just before the workers are started, and lets it add to their environment."""

    def __init__(self, bundle: Bundle, spec: JobSpec) -> None:
        super().__init__(
            log_dir=str(bundle.folder),
            redirects=Std.from_str(spec.redirects),
            tee=Std.from_str(spec.tee),
            local_ranks_filter=read_ranks(spec.local_ranks_filter),
        )
        self._bundle, self._signals = bundle, spec.signals_to_handle
        self.round = 0

    @property
    def root_log_dir(self) -> str:
        return str(self._bundle.folder)

    def reify(self, envs: dict[int, dict[str, str]]) -> LogsDest:
        dest = LogsDest()
        for local_rank, env in envs.items():
            rank = int(env["RANK"])
            folder = self._bundle.rank_folder(self.round, rank)
            folder.mkdir(parents=True, exist_ok=True)
            dest.stdouts[local_rank] = str(self._bundle.log(self.round, rank, "stdout"))
            dest.stderrs[local_rank] = str(self._bundle.log(self.round, rank, "stderr"))
            dest.error_files[local_rank] = str(folder / "error.json")
            env["TORCHELASTIC_ERROR_FILE"] = dest.error_files[local_rank]
            env["REGROUP_ROUND"] = str(self.round)
            env["REGROUP_REPORT"] = str(folder / "report.jsonl")
            env[stack_signal.VARIABLE] = str(folder / stack_signal.FILE)
            # The runner's own setting is none of the workers' business (see attempt).
            env[TORCH_SIGNALS] = self._signals
            dest.filtered_stdout = str(folder.parent / "filtered_stdout.log")
            dest.filtered_stderr = str(folder.parent / "filtered_stderr.log")
        self._add_copies(dest)
        return dest

    def _add_copies(self, dest: LogsDest) -> None:
        """What ``tee`` asks for; torch follows these files, and writes each line to the runner's log too."""
        for local_rank, wanted in to_map(self._tee, len(dest.stdouts)).items():
            if self._local_ranks_filter is not None and local_rank not in self._local_ranks_filter:
                continue
            if wanted & Std.OUT:
                dest.tee_stdouts[local_rank] = dest.stdouts[local_rank]
            if wanted & Std.ERR:
                dest.tee_stderrs[local_rank] = dest.stderrs[local_rank]
