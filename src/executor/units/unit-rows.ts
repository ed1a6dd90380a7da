import type { Grant, Piece, Redo } from "../../../durable-objects/run/protocol.ts";
import { shapeOf } from "../../environments/hosted/traits.ts";
import type { ScoredAgain } from "../../environments/unit/score-again.ts";
import type { PlayOptions } from "../../environments/unit/play-unit.ts";
import { repairGroup } from "../../environments/unit/repair-group.ts";
import { inOrder, runUnit, type UnitOutcome, type UnitRows } from "../../environments/unit/run-unit.ts";
import type { KeptBase } from "../../rollouts/kept/kept-state.ts";
import { priceOfRun } from "../../prices/price-of.ts";
import type { RolloutInput } from "../../rollouts/types.ts";
import type { UnitWork } from "../session/session-events.ts";
import type { Inputs } from "./inputs.ts";
import { keptRows, NOTHING_KEPT, redoOf, unscoredOf } from "./kept-rows.ts";
import { type KeptStates, keptStates } from "./kept-states.ts";
import { rescoredUnit } from "../rescoring/rescored-unit.ts";
import { splitSource } from "../rescoring/source-place.ts";
import type { UnitWatch } from "./unit-watch.ts";
import { poisonedRows } from "./poisoned.ts";
import { saysScoredAnew, wereScoredAnew } from "./scored-anew.ts";
import type { TicketHost } from "./ticket-host.ts";

const SCORED_ANEW = "Rollouts that failed are drawn again, and their examples scored anew as a whole: scores of the others may differ from what they were";

const NOTHING_STATED: KeptStates = { generated: new Map(), scored: new Set(), begun: new Map() };

/**
 * The rows of one unit: what is done of it stays, what is generated is scored, and the rest is played. Null when it has none: aborted, or a
 * refusal that ended the run. Rejects when storage does not answer.
 */
export async function rowsOf(host: TicketHost, grant: Grant, inputs: Inputs, work: UnitWork, watch: UnitWatch): Promise<UnitRows | null> {
  const { unit, block } = work;
  const { environment } = host;
  const r = grant.config.rollouts_per_example;
  const { input, place } = splitSource(await inputs.of(unit, block.chunks));
  const redo = redoOf(unit, block);
  const { rescored_from: source } = grant.config;
  if (source !== undefined && place !== null && redo === undefined) return rescoredUnit(host, grant, source, work, { input, place }, watch);
  const nothingRuns = redo?.keep.length === r;
  // Rollouts that are judged together are, once the others are there.
  const scores = nothingRuns || !environment.traits.hasGroupRewards;
  const kept = redo === undefined ? NOTHING_KEPT : await keptOf(host, grant, scores ? redo : { ...redo, score: [] }, work, input, watch);
  if (kept.fatal !== undefined) await watch.refused(kept.fatal);
  if (kept.aborted) return null;
  for (const { code, message } of kept.firstErrors) host.noteFirst(code, message);
  if (nothingRuns) return { ...inOrder(kept.rows, r), ...unscoredOf(kept) };
  if (block.poisoned) return poisonedRows(host, grant, input, kept.rows);
  const outcome = await play(host, grant, work, input, kept, watch);
  for (const { code, message } of outcome.firstErrors) host.noteFirst(code, message);
  if (outcome.fatal !== null) await watch.refused(outcome.fatal);
  return outcome.fatal !== null || outcome.aborted ? null : { ...outcome, ...unscoredOf(kept) };
}

/** The rows that stay of a unit that is done again, with new scores where those are owed. One that kills whoever scores it keeps the old. */
function keptOf(host: TicketHost, { config }: Grant, redo: Redo, { unit, block }: UnitWork, input: RolloutInput, watch: UnitWatch): Promise<ScoredAgain> {
  const { ports, budget, environment, envDigest, judges, cache, clientOf } = host;
  const { scoringTurn, signal } = watch;
  const turn = scoringTurn === undefined ? {} : { scoringTurn };
  const work = { environment, envDigest, judges, cache, input, redo: block.poisoned ? { ...redo, score: [] } : redo, client: clientOf(unit), ...turn };
  return keptRows(ports, config, work, { signal, deadlineMs: budget.unitDeadline });
}

async function play(host: TicketHost, grant: Grant, { unit, block }: UnitWork, input: RolloutInput, kept: ScoredAgain, watch: UnitWatch): Promise<UnitOutcome> {
  const { slice, environment, judges, cache, note } = host;
  const { config } = grant;
  const held = new Set(kept.rows.map(({ index }) => index));
  const base = baseOf(host, grant, input);
  const pieces = (block.pieces ?? []).filter((piece) => piece.unit === unit);
  const states = await statesOf(host, grant, unit, pieces, base, watch);
  const { generated, scored } = states;
  const rollouts = Array.from({ length: config.rollouts_per_example }, (_, index) => index).filter((index) => !held.has(index));
  const missing = rollouts.filter((index) => !generated.has(index)).length;
  watch.onPlay(rollouts.length - missing, missing, rollouts.length - scored.size);
  slice.startRollouts(missing);
  if (slice.isOver) watch.onFull();
  const isScoredAnew = environment.traits.hasGroupRewards && kept.rows.length > 0;
  if (isScoredAnew) note("INFO", SCORED_ANEW);
  const run = isScoredAnew ? repairGroup : runUnit;
  const outcome = await run(environment, input, {
    ...playOptions(host, grant, unit, states, base, watch),
    unit,
    rollouts,
    kept: kept.rows,
    rolloutsPerExample: config.rollouts_per_example,
    ...(watch.scoringTurn === undefined ? {} : { scoringTurn: watch.scoringTurn }),
    stateColumns: config.state_columns,
    clusterBy: config.cluster_by,
    shape: shapeOf(environment.traits, config),
    envDigest: host.envDigest,
    ...(saysScoredAnew(environment.traits, config) ? { scoredAnew: isScoredAnew } : {}),
    judges,
    price: priceOfRun(config),
    cache,
  });
  return isScoredAnew && !wereScoredAnew(kept.rows) ? { ...outcome, firstScoredAnew: true } : outcome;
}

/** What kept states of the run's rollouts are written and read with. */
export const baseOf = (host: TicketHost, grant: Grant, input: RolloutInput): KeptBase => ({
  input,
  tools: host.environment.traits.toolDefs,
  code: host.envDigest ?? grant.env_digest,
});

/** What is kept of a unit's rollouts, in storage and by this executor. Rejects when storage does not answer. */
export async function statesOf(
  { ports, clientOf, note, environment }: TicketHost,
  { config }: Grant,
  unit: number,
  pieces: readonly Piece[],
  base: KeptBase,
  { generated: texts }: Pick<UnitWatch, "generated">,
): Promise<KeptStates> {
  // Mostly there are none, and nothing is to be waited for. What other code has kept, one that plays whole units cannot go on with.
  if ((pieces.length === 0 && texts.size === 0) || environment.traits.whole) return NOTHING_STATED;
  return keptStates(ports.store, config.run_id, { pieces, texts }, base, clientOf(unit), (failure) =>
    note("WARNING", `Rollouts that were kept of example ${unit} are lost, and generated again: ${failure}`),
  );
}

/** How rollouts of a unit are played, whole or in part. */
export function playOptions({ ports, budget, clientOf }: TicketHost, { config }: Grant, unit: number, states: KeptStates, base: KeptBase, watch: UnitWatch) {
  return {
    ...states,
    onTurn: (rollout, state, turn) => watch.onTurn(rollout, state, turn, base),
    client: clientOf(unit),
    model: config.model,
    sampling_args: config.sampling_args,
    ...(config.headers_from_state === undefined ? {} : { stateKeys: Object.values(config.headers_from_state) }),
    maxRetries: config.max_retries,
    onRollout: (rollout, state) => watch.onRollout(rollout, state, base),
    onScoring: watch.onScoring,
    onScored: (rollout, state) => watch.onScored(rollout, state, base),
    independent: config.independent_scoring,
    signal: watch.signal,
    generation: watch.generation,
    deadlineMs: budget.unitDeadline,
    now: ports.now,
    sleep: ports.sleep,
    random: ports.random,
  } satisfies PlayOptions;
}
