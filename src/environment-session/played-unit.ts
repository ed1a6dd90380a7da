import type { Sleep } from "../clients/client.ts";
import type { JsonObject } from "../config/plan/run-config.ts";
import type { Outbox } from "../environment-protocol/outbox.ts";
import type { ToEnvironmentOf } from "../environment-protocol/to-environment.ts";
import type { Environment } from "../environments/kinds/environment.ts";
import { type PlayOptions, playUnit } from "../environments/unit/play-unit.ts";
import { scoreStored, type ScoreStoredOptions } from "../environments/unit/score-stored.ts";
import type { KeptRollout, Stored } from "../environments/unit/stored-rollout.ts";
import { openKeptState } from "../rollouts/kept/kept-state.ts";
import { columnValue } from "../rollouts/rows/column.ts";
import { marksOf } from "../rollouts/state/time-marks.ts";
import { summariseRow } from "../rollouts/rows/row.ts";
import type { Client, RolloutInput, State } from "../rollouts/types.ts";
import { finalText } from "./final-text.ts";
import type { ModelCalls } from "./model-calls.ts";
import { type Pace, Progress } from "./progress.ts";

/** What units of one session stand on. */
export interface UnitHost {
  readonly environment: Environment;
  readonly outbox: Outbox;
  readonly calls: ModelCalls;
  readonly pace: Pace;
  readonly now: () => number;
  readonly sleep: Sleep;
  readonly random: () => number;
  /** The signal of that number. */
  readonly signal: (number: number) => AbortSignal;
  /** Resolves when the unit may be scored. */
  readonly scoringTurn: (unit: number) => Promise<void>;
}

type Play = ToEnvironmentOf<"play">;
type Score = ToEnvironmentOf<"score">;

const clientOf = ({ calls }: UnitHost, { unit, client_type, scores_texts, state_keys }: Play | Score): Client =>
  calls.ofUnit({ unit, stateKeys: state_keys }, client_type, scores_texts);

const rowsOf = (rows: Score["rows"]): KeptRollout[] =>
  rows.map(({ rollout, line }) => ({ index: rollout, line, summary: summariseRow(JSON.parse(line) as JsonObject) }));

const commonOf = ({ now, sleep, signal }: UnitHost, order: Play | Score) => ({
  model: order.model,
  sampling_args: order.sampling_args as JsonObject,
  independent: order.independent,
  signal: signal(order.stops),
  deadlineMs: order.deadline_ms,
  now,
  sleep,
});

/** Plays one unit and tells how it went. Rejects for a fault of this library, and for an order that makes no sense. */
export async function playOrdered(host: UnitHost, order: Play): Promise<void> {
  const { environment, outbox } = host;
  const { unit, rollouts, stored } = order;
  const input = order.input as unknown as RolloutInput;
  const client = clientOf(host, order);
  const base = { input, tools: environment.toolDefs };
  const generated = order.generated.map(({ rollout, text }) => [rollout, openKeptState(text, base, client)] as const);
  const scored = new Set(generated.filter(([, { isScored }]) => isScored).map(([rollout]) => rollout));
  const progress = new Progress(
    outbox,
    host.pace,
    { unit, base, indices: rollouts, unscored: rollouts.length - scored.size, tellsAll: order.tells_all },
    host.now,
  );
  const options: PlayOptions = {
    ...commonOf(host, order),
    client,
    maxRetries: order.max_retries,
    generated: new Map(generated.map(([rollout, { state }]) => [rollout, state])),
    scored,
    ...(stored === null ? {} : { stored: { rows: rowsOf(stored.rows), stateColumns: stored.columns } }),
    begun: new Map(order.begun.map(({ rollout, text }) => [rollout, openKeptState(text, base, client)])),
    ...(order.keeps_turns ? { onTurn: (rollout, state, turn) => progress.turn(rollout, state, turn) } : {}),
    ...(order.waits_for_turn ? { scoringTurn: () => host.scoringTurn(unit) } : {}),
    ...(order.part === null ? {} : { part: order.part }),
    onRollout: (rollout, state) => progress.generated(rollout, state),
    onScoring: (rollout) => progress.scoring(rollout),
    onScored: (rollout, state) => progress.scored(rollout, state),
    generation: host.signal(order.stops_generation),
    random: host.random,
  };
  const played = await playUnit(environment, input, rollouts, options);
  progress.end(played.states === null);
  for (const [at, state] of (played.states ?? []).entries()) {
    const rollout = rollouts[at] ?? 0;
    const row = played.stored?.get(rollout);
    if (row !== undefined) tellScores(host, unit, row, stored?.columns ?? []);
    else tellEnd(host, unit, rollout, state, finalText(state, base, order.columns));
  }
  const { fatal, aborted } = played;
  outbox.put({ type: "played", unit, fatal, aborted });
}

/** Scores rows and tells their scores. Rejects as `playOrdered`. */
export async function scoreOrdered(host: UnitHost, order: Score): Promise<void> {
  const { unit, columns } = order;
  const options: ScoreStoredOptions = {
    ...commonOf(host, order),
    client: clientOf(host, order),
    stateColumns: columns,
    rowOnly: order.row_only,
    countsAnswers: order.counts_answers,
    forgets: order.forgets,
    ...(order.waits_for_turn ? { scoringTurn: () => host.scoringTurn(unit) } : {}),
  };
  const all = await scoreStored(host.environment, order.input as unknown as RolloutInput, rowsOf(order.rows), options);
  for (const stored of all ?? []) tellScores(host, unit, stored, columns);
  host.outbox.put({ type: "scored_rows", unit, aborted: all === null });
}

function tellEnd({ outbox, calls }: UnitHost, unit: number, rollout: number, state: State, { text, problem }: ReturnType<typeof finalText>): void {
  outbox.put({ type: "ended", unit, rollout, text, state: calls.stateOf(state), ...(problem === undefined ? {} : { problem }) }, text.length);
}

function tellScores({ outbox, calls }: UnitHost, unit: number, { kept, own, state, lacks }: Stored, columns: readonly string[]): void {
  const { reward, metrics, advantage, error, timing } = own;
  const values = columns.flatMap((name) => {
    const value = Object.hasOwn(own, name) ? columnValue(own, name) : null;
    return value?.ok === true ? [[name, value.value] as const] : [];
  });
  const scores = { reward, metrics, advantage, error, timing, scoring: marksOf(state).scoring, columns: Object.fromEntries(values), lacks: [...lacks] };
  outbox.put({ type: "rescored", unit, rollout: kept.index, scores: { ...scores, state: calls.stateOf(state) } });
}
