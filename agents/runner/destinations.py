"""Where the output of workers goes: a folder for each round and global rank, never used twice."""

from __future__ import annotations

from torch.distributed.elastic.multiprocessing import LogsDest, LogsSpecs

from ..bundle import Bundle

TORCH_SIGNALS = "TORCHELASTIC_SIGNALS_TO_HANDLE"


class Destinations(LogsSpecs):
    """torch asks it just before the workers are started, and lets it add to their environment."""

    def __init__(self, bundle: Bundle) -> None:
        super().__init__(log_dir=str(bundle.folder))
        self._bundle = bundle
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
            # The runner's own setting is none of the workers' business (see launch).
            env[TORCH_SIGNALS] = "SIGTERM,SIGINT,SIGHUP,SIGQUIT"
        return dest
