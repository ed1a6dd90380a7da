import type { Grant } from "../../../durable-objects/run/protocol.ts";
import type { KeptBase } from "../../rollouts/kept/kept-state.ts";
import type { State } from "../../rollouts/types.ts";
import type { UnitWork } from "../session/session-events.ts";
import type { Inputs } from "./inputs.ts";
import type { TicketHost } from "./ticket-host.ts";
import { baseOf, playOptions, statesOf } from "./unit-rows.ts";
import type { UnitWatch } from "./unit-watch.ts";

export interface SpanWatch extends UnitWatch {
  /** A rollout of the span is as it is to be kept. May be told again of one that was. */
  readonly onEnd: (rollout: number, state: State, base: KeptBase) => void;
  /** What this executor has of rollouts that others have now. */
  readonly others: (texts: ReadonlyMap<number, string>) => void;
}

/**
 * Plays the rollouts of a span that are not kept, and scores them where each is scored by itself. Whatever they ended in, they are told to `onEnd`.
 * False when some have no end: aborted, or a refusal that ended the run. Rejects when storage does not answer.
 */
export async function playSpan(host: TicketHost, grant: Grant, inputs: Inputs, { unit, block }: UnitWork, watch: SpanWatch): Promise<boolean> {
  const { environment, slice } = host;
  const { lo, hi } = block.span ?? { lo: 0, hi: grant.config.rollouts_per_example };
  const input = await inputs.of(unit, block.chunks);
  const base = baseOf(host, grant, input);
  const pieces = (block.pieces ?? []).filter((piece) => piece.unit === unit);
  const done = new Set(pieces.flatMap(({ rollouts }) => rollouts));
  const own = ([rollout]: readonly [number, string]): boolean => lo <= rollout && rollout < hi && !done.has(rollout);
  watch.others(new Map([...watch.generated].filter((each) => !own(each) && !done.has(each[0]))));
  // What is kept for good is not read: whoever scores the unit does.
  const begun = pieces.filter((piece) => piece.begun !== undefined).map((piece) => ({ ...piece, rollouts: [] }));
  const states = await statesOf(host, grant, unit, begun, base, { generated: new Map([...watch.generated].filter(own)) });
  const rollouts = Array.from({ length: hi - lo }, (_, at) => lo + at).filter((rollout) => !done.has(rollout));
  slice.startRollouts(rollouts.filter((rollout) => !states.generated.has(rollout)).length);
  if (slice.isOver) watch.onFull();
  const options = playOptions(host, grant, unit, states, base, watch);
  const played = await environment.play(input, rollouts, { ...options, part: { scores: grant.config.no_interleave_scoring !== true } });
  if (played.fatal !== null) await watch.refused(played.fatal);
  if (played.states === null) return false;
  for (const [at, state] of played.states.entries()) watch.onEnd(rollouts[at] ?? 0, state, base);
  return true;
}
