import type { JobRequest, JobWord } from "./budget-control.ts";

/** Characters: that of a team, a run and a number are a third of it. */
const MOST_NAME = 256;

/** Why the word of a job is refused; null = it is not. */
export function jobProblem({ job, epoch, seq, word }: JobRequest): string | null {
  const amounts = amountsOf(word);
  const whole = [epoch, seq, ...amounts].every((each) => Number.isSafeInteger(each) && each >= 0);
  if (!whole) return "a job was told of in numbers that are not whole";
  return job.length > 0 && job.length <= MOST_NAME ? null : "a job has no name, or one that is too long";
}

function amountsOf(word: JobWord): readonly number[] {
  switch (word.kind) {
    case "ask":
      return [word.least];
    case "reserve":
    case "send":
      return [word.amount, word.requests, word.least];
    case "settle":
      return [word.settled, word.unseen.calls, word.unseen.amount];
    case "release":
    case "lose":
      return [];
  }
}
