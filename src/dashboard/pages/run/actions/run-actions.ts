import { nextStep, rolloutsText } from "../../../../errors/leftovers.ts";
import { singleLine } from "../../../../report/text/printable.ts";
import type { Evaluation } from "../../../api/run-answers.ts";
import type { Question } from "../../../api/ask.ts";

/** What can be done to a run as it stands, and what will happen then. */
export interface RunAction {
  readonly id: "stop" | "interrupt" | "pause" | "continue" | "resume" | "keep" | "unkeep" | "share" | "unshare" | "delete" | "set";
  readonly name: string;
  /** What happens, before it does. */
  readonly says: string;
  readonly tone: "plain" | "bad";
  /** Done without a question: it takes nothing away, and the opposite is beside it. */
  readonly isLight?: true;
  readonly method: NonNullable<Question["method"]>;
  /** Below `/api/v1`. */
  readonly path: string;
  readonly body?: object;
}

export function actionsOf(run: Evaluation): readonly RunAction[] {
  const { evaluation_id, is_public, edgewise } = run;
  const { settled, suspended, kept, origin, paused } = edgewise;
  const base = `/evaluations/${evaluation_id}`;
  const isOurs = origin !== "pushed";
  const works = !settled && !suspended;
  const goesOn = works && edgewise.phase !== "draining" && edgewise.phase !== "finalising";
  const actions: readonly (RunAction | false | null)[] = [
    isOurs && goesOn && paused === undefined && pause(base),
    isOurs && goesOn && paused !== undefined && continued(base),
    isOurs && resume(run, base),
    isOurs && goesOn && interrupt(base),
    isOurs && !settled && stop(run),
    settled && (kept === true ? unkeep(base) : keep(base)),
    share(base, is_public),
    is_public && unshare(base),
    !works && remove(run, base),
  ];
  return actions.filter((each) => each !== false && each !== null);
}

const pause = (base: string): RunAction => ({
  id: "pause",
  name: "Pause",
  says: "Nothing new begins; what is in progress is finished or kept.",
  tone: "plain",
  isLight: true,
  method: "POST",
  path: `${base}/pause`,
});

const continued = (base: string): RunAction => ({
  id: "continue",
  name: "Continue",
  says: "The run goes on where it was paused.",
  tone: "plain",
  isLight: true,
  method: "POST",
  path: `${base}/continue`,
});

const interrupt = (base: string): RunAction => ({
  id: "interrupt",
  name: "Interrupt",
  says: "What is open is given up, what is done stays. The run waits until it is resumed, and no results are written until then.",
  tone: "plain",
  method: "POST",
  path: `${base}/interrupt`,
});

function stop({ evaluation_id, edgewise: { scoring_until, phase } }: Evaluation): RunAction | null {
  const common = { id: "stop", tone: "bad", method: "PATCH", path: `/hosted-evaluations/${evaluation_id}/cancel` } as const;
  if (scoring_until !== undefined)
    return { ...common, name: "Stop scoring", says: "What is generated and not scored yet stays without a score, and the results are written now." };
  if (phase === "draining" || phase === "finalising") return null;
  return {
    ...common,
    name: "Stop",
    says: "Nothing new begins, examples that are open are finished, and the results of what is done are written. The run ends as Cancelled; a resume plays what is missing.",
  };
}

/** Going on with what is missing, and again with what infrastructure ended: the service does both at once. */
function resume({ status, edgewise }: Evaluation, base: string): RunAction | null {
  const { settled, suspended, resumable, errors, owed_rollouts, ended_by, done_rollouts, unscored } = edgewise;
  if (!settled && !suspended) return null;
  const rollouts = resumable?.rollouts ?? 0;
  const scores = resumable?.scores ?? 0;
  const state = { status, settled, rows: done_rollouts, missing: owed_rollouts, errors, endedBy: ended_by };
  const next = nextStep(state, unscored?.state);
  if (next === null || (rollouts === 0 && scores === 0)) return null;
  const common = { id: "resume", tone: "plain", method: "POST", path: `${base}/resume` } as const;
  const again = rollouts > 0 ? `${rolloutsText(rollouts)} ${rollouts === 1 ? "is" : "are"} made` : "";
  const scored = scores > 0 ? `${rolloutsText(scores)} ${scores === 1 ? "is" : "are"} scored again by the code that is there now` : "";
  const what = [again, scored].filter(Boolean).join(", ");
  const when = next.when === null ? "" : ` It helps ${next.when}.`;
  const keeps = "Everything else stays as it is, and its numbers are made anew.";
  if (owed_rollouts === 0 && rollouts > 0)
    return {
      ...common,
      name: "Retry errors",
      says: `${what} again: ${rollouts === 1 ? "it ended in an error" : "they ended in errors"} of the infrastructure. ${keeps}${when}`,
    };
  return { ...common, name: "Resume", says: `${what}. ${keeps}${when}` };
}

const keep = (base: string): RunAction => ({
  id: "keep",
  name: "Keep",
  says: "However old, it is not removed.",
  tone: "plain",
  isLight: true,
  method: "PUT",
  path: `${base}/keep`,
});

const unkeep = (base: string): RunAction => ({
  id: "unkeep",
  name: "Keep no more",
  says: "It is removed when it is as old as the team says.",
  tone: "plain",
  isLight: true,
  method: "DELETE",
  path: `${base}/keep`,
});

const share = (base: string, again: boolean): RunAction => ({
  id: "share",
  name: again ? "New link" : "Share",
  says: `Whoever has the link reads this run, its samples and files, without signing in, and can change nothing. It is shown once.${again ? " The link that there is ends." : ""}`,
  tone: "plain",
  method: "PUT",
  path: `${base}/link`,
});

const unshare = (base: string): RunAction => ({
  id: "unshare",
  name: "Take the link back",
  says: "Nobody reads this run by its link any more.",
  tone: "plain",
  method: "DELETE",
  path: `${base}/link`,
});

const remove = ({ name, edgewise: { done_rollouts } }: Evaluation, base: string): RunAction => ({
  id: "delete",
  name: "Delete",
  says: `The run “${singleLine(name)}”, its ${rolloutsText(done_rollouts)}, files and log are removed. This cannot be undone.`,
  tone: "bad",
  method: "DELETE",
  path: base,
});
