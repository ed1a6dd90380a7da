import type { Question } from "../../api/ask.ts";
import type { Schedule } from "../../api/schedule-answers.ts";

/** What one may do with a schedule, what it costs, and what the service makes of it. */
export interface ScheduleAct {
  readonly id: "pause" | "resume" | "run" | "reset" | "delete";
  /** On its button. */
  readonly name: string;
  readonly key: string | null;
  /** The question before it, and what will happen. */
  readonly title: string;
  readonly says: string;
  readonly tone: "plain" | "bad";
  readonly takesReason: boolean;
  readonly method: NonNullable<Question["method"]>;
  /** Below the schedule's own. */
  readonly path: string;
  /** In words, once it is done. */
  readonly done: (after: Schedule | null) => string;
}

const RUN: ScheduleAct = {
  id: "run",
  name: "Run now",
  key: "b",
  title: "Begin a run now?",
  says: "It asks the model as a run of a due time does, and costs as much. It waits for a run that is at work. Due times stay as they are.",
  tone: "plain",
  takesReason: false,
  method: "POST",
  path: "/run",
  done: (after) => {
    if (after === null) return "Asked for a run.";
    const { active, waiting } = after;
    if (waiting.some(({ kind }) => kind === "manual")) return "The run waits for the one that is at work.";
    return active?.run_id == null ? "The run is about to begin." : `Run ${active.run_id} is at work.`;
  },
};

const PAUSE: ScheduleAct = {
  id: "pause",
  name: "Pause",
  key: "p",
  title: "Pause this schedule?",
  says: "Nothing of it is due until somebody resumes it: times that pass meanwhile are not caught up with. A run that is at work goes on.",
  tone: "plain",
  takesReason: true,
  method: "POST",
  path: "/pause",
  done: () => "Paused.",
};

const RESUME: ScheduleAct = {
  id: "resume",
  name: "Resume",
  key: "p",
  title: "Resume this schedule?",
  says: "From now on it runs as you, for as long as you may make runs.",
  tone: "plain",
  takesReason: false,
  method: "POST",
  path: "/resume",
  done: (after) => (after?.next[0] === undefined ? "Resumed; nothing is due." : "Resumed."),
};

const RESET: ScheduleAct = {
  id: "reset",
  name: "Reset drift",
  key: null,
  title: "Begin the comparisons anew?",
  says: "What is known of the series so far is forgotten: the next first runs, or the named baseline as it is now, are what runs are held against. The runs stay.",
  tone: "bad",
  takesReason: false,
  method: "POST",
  path: "/drift/reset",
  done: () => "The comparisons begin anew.",
};

const DELETE: ScheduleAct = {
  id: "delete",
  name: "Delete",
  key: null,
  title: "Delete this schedule?",
  says: "Its definition, its series and what happened to it are gone for good. Its runs stay.",
  tone: "bad",
  takesReason: false,
  method: "DELETE",
  path: "",
  done: () => "Deleted.",
};

/** What is done most, in the order of the buttons: each row of the list has these. */
export const mainActsOf = ({ paused }: Pick<Schedule, "paused">): readonly ScheduleAct[] => [RUN, paused === null ? PAUSE : RESUME];

/** All of them, in the order of their buttons. */
export const actsOf = ({ paused, drift }: Pick<Schedule, "paused" | "drift">): readonly ScheduleAct[] => [
  ...mainActsOf({ paused }),
  ...(drift === null ? [] : [RESET]),
  DELETE,
];
