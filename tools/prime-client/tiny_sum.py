"""A task set for `vf-eval` of verifiers 0.4.0: sums, with two rewards and a metric."""

import verifiers.v1 as vf


class TinySumData(vf.TaskData):
    answer: str = ""


class TinySumTask(vf.Task[TinySumData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        return 1.0 if self.data.answer in str(trace.last_reply) else 0.0

    @vf.reward(weight=0.5)
    async def short(self, trace: vf.Trace) -> float:
        return 0.5

    @vf.metric
    async def reply_length(self, trace: vf.Trace) -> float:
        return float(len(str(trace.last_reply)))


class TinySumConfig(vf.TasksetConfig):
    num_tasks: int = 4


class TinySumTaskset(vf.Taskset[TinySumTask, TinySumConfig]):
    def load(self) -> list[TinySumTask]:
        return [
            TinySumTask(TinySumData(idx=i, prompt=f"What is {i} + {i}?", answer=str(2 * i)), self.config.task)
            for i in range(self.config.num_tasks)
        ]


__all__ = ["TinySumTaskset"]
