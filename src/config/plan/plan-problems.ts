import { EdgewiseError } from "../../errors/result.ts";

/** One thing that is wrong in a config file. */
export interface PlanProblem {
  /** Table it stands in, such as `[[eval]] #2`; empty = the file. */
  readonly place: string;
  /** Key it is about, with the path inside its value; empty = the table. */
  readonly key: string;
  /** Without its place. */
  readonly msg: string;
  /** With file, table and key. */
  readonly text: string;
  readonly hint?: string;
}

/** Everything that is wrong in one file, in the order in which it is looked for; `hint` is that of the only problem. */
export class PlanProblems extends EdgewiseError {
  readonly problems: readonly PlanProblem[];

  constructor(problems: readonly PlanProblem[]) {
    const [first, second] = problems;
    const hint = second === undefined ? first?.hint : undefined;
    super("invalid_request", problems.map(({ text }) => text).join("\n"), hint === undefined ? {} : { hint });
    this.problems = problems;
  }
}
