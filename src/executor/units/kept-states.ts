import type { Piece } from "../../../durable-objects/run/protocol.ts";
import { segmentKey } from "../../../r2-layout/keys.ts";
import { readKeptLine } from "../../../r2-layout/kept-line.ts";
import { linesAt } from "../../../r2-layout/segment.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { type KeptBase, openKeptState, type OpenedState } from "../../rollouts/kept/kept-state.ts";
import type { Client, State } from "../../rollouts/types.ts";
import { damageOf } from "../damage.ts";
import type { ExecutorStore } from "../ports.ts";

/** Pieces read at once: a unit has few. */
const READS_AT_ONCE = 4;

/** What is kept of a unit's rollouts: where the Run knows it to be, and what this executor has itself, by index. */
export interface Generated {
  readonly pieces: readonly Piece[];
  readonly texts: ReadonlyMap<number, string>;
}

/** By index: rollouts that are generated, those of them that have their scores, and those that stand between two turns. */
export interface KeptStates {
  readonly generated: Map<number, State>;
  readonly scored: Set<number>;
  readonly begun: Map<number, OpenedState>;
}

/**
 * The kept rollouts of one unit. Of those whose object is gone or damaged `lost` is told: they are generated again.
 * Rejects when storage does not answer.
 */
export async function keptStates(
  store: ExecutorStore,
  runId: string,
  { pieces, texts }: Generated,
  base: KeptBase,
  client: Client,
  lost: (failure: string) => void,
): Promise<KeptStates> {
  const kept: KeptStates = { generated: new Map(), scored: new Set(), begun: new Map() };
  const add = (rollout: number, text: string): void => {
    const opened = openKeptState(text, base, client);
    if (opened.turn === null) {
      if (kept.scored.has(rollout)) return;
      kept.generated.set(rollout, opened.state);
      if (opened.isScored) kept.scored.add(rollout);
    } else if (stepsOf(opened) >= stepsOf(kept.begun.get(rollout))) kept.begun.set(rollout, opened);
  };
  for (const [rollout, text] of texts) add(rollout, text);
  const rest = [...pieces];
  const read = async (): Promise<void> => {
    for (let piece = rest.shift(); piece !== undefined; piece = rest.shift()) {
      try {
        for (const [rollout, text] of await textsOf(store, runId, piece)) add(rollout, text);
      } catch (thrown) {
        const damage = damageOf(thrown);
        if (damage === null) throw thrown;
        lost(damage.message);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(READS_AT_ONCE, pieces.length) }, read));
  for (const rollout of kept.generated.keys()) kept.begun.delete(rollout);
  return kept;
}

/** What this executor has itself may be behind or ahead of what another has stored meanwhile. */
const stepsOf = (opened: OpenedState | undefined): number => opened?.state.trajectory.length ?? -1;

async function textsOf(store: ExecutorStore, runId: string, { segment, offset, length, rollouts, begun = [] }: Piece): Promise<[number, string][]> {
  const key = segmentKey(runId, segment);
  const bytes = await store.read(key, offset, length);
  const lines = linesAt(bytes, { offset: 0, length });
  if (!lines.ok) throw new EdgewiseError("storage_damaged", `${key}: ${lines.error.message}`);
  return lines.value.flatMap((line): [number, string][] => {
    const kept = readKeptLine(line);
    if (kept === null) throw new EdgewiseError("storage_damaged", `${key} holds something else than kept rollouts at ${offset}`);
    return rollouts.includes(kept.rollout) || begun.includes(kept.rollout) ? [[kept.rollout, kept.text]] : [];
  });
}
