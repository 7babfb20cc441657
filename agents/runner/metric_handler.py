"""Takes the place of torch's own handler of metrics, which throws them away."""

from __future__ import annotations

from torch.distributed.elastic.metrics.api import MetricData, MetricHandler, configure

from .put_metrics import PutMetrics


class _Gathering(MetricHandler):
    def __init__(self, gathered: PutMetrics) -> None:
        self._gathered = gathered

    def emit(self, metric_data: MetricData) -> None:
        self._gathered.put(str(metric_data.group_name), str(metric_data.name), float(metric_data.value))


def gather_torch_metrics(gathered: PutMetrics) -> None:
    """From now on whatever is put in this process, in any group."""
    configure(_Gathering(gathered))
