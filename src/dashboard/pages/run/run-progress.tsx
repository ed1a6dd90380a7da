import { finishedRollouts, openRollouts } from "../../../report/progress/speed.ts";
import { endingText, inFlightText, isEnding, timeOfDay, waitingText } from "../../../report/progress/standing-text.ts";
import { waitText } from "../../../report/text/code-text.ts";
import { formatSeconds, thousands } from "../../../report/text/format.ts";
import { erroredRollouts } from "../../../metrics/totals.ts";
import type { Evaluation } from "../../api/run-answers.ts";
import { Progress } from "../../design/progress.tsx";
import { scoreOf } from "./score-text.ts";
import type { RunStore } from "./run-store.ts";
import { useTick } from "./use-tick.ts";

interface RunProgressProps {
  readonly run: Evaluation;
  readonly store: RunStore;
}

/** How far a run is, how fast it goes and how well. */
export function RunProgress({ run, store }: RunProgressProps) {
  const { edgewise: state } = run;
  const works = !state.settled && !state.suspended;
  useTick(works);
  const finished = finishedRollouts(state);
  const errored = erroredRollouts(state);
  const open = openRollouts(state);
  const score = scoreOf(state);
  return (
    <div class="run-progress">
      <div class="run-score">
        <span class="run-score-name">Reward</span>
        <strong>{score.value ?? "–"}</strong>
        {score.notes.map((note) => (
          <small key={note}>{note}</small>
        ))}
      </div>
      <div class="run-bar">
        <Progress done={finished} total={state.total_rollouts} label="Rollouts that are finished" />
        <p>
          {state.phase === "preparing" ? "Preparing the examples" : `${thousands(finished)} of ${thousands(state.total_rollouts)} rollouts`}
          {open > 0 ? `, ${thousands(open)} of examples that are not done yet` : ""}
          {errored > 0 ? `, ${thousands(errored)} with an error` : ""}
        </p>
        {works ? <p role="status">{standing(run, store)}</p> : <p>{restText(run)}</p>}
      </div>
    </div>
  );
}

function standing({ edgewise: state }: Evaluation, { speed }: RunStore): string {
  const waits = waitText(state, timeOfDay);
  if (waits !== null) return waits;
  if (isEnding(state)) return endingText(state);
  const rate = speed.perMinute();
  const left = speed.remainingMs(state, performance.now());
  const parts = [
    rate === null ? null : `${thousands(Math.round(rate))} rollouts a minute`,
    left === null ? null : `about ${formatSeconds(Math.ceil(left / 1_000))} left`,
    state.executors === 0 ? "no executor works on it yet" : inFlightText(state.vitals),
    waitingText(state.vitals, Date.now()),
  ];
  return parts.filter((each) => each !== null).join(" · ");
}

function restText({ started_at, finalized_at, edgewise: { suspended, kept_rollouts, removal_at } }: Evaluation): string {
  const parts = [
    suspended ? "It waits to be resumed." : null,
    kept_rollouts > 0 ? `${thousands(kept_rollouts)} rollouts of examples that are not done are kept: a resume does not make them again.` : null,
    started_at === null || finalized_at === null ? null : `Took ${formatSeconds((Date.parse(finalized_at) - Date.parse(started_at)) / 1_000)}.`,
    removal_at === undefined || removal_at === null ? null : `It is removed on ${removal_at.slice(0, 10)} unless it is kept.`,
  ];
  return parts.filter((each) => each !== null).join(" ");
}
