import type { Piece } from "../../../durable-objects/run/protocol.ts";
import { segmentKey } from "../../../r2-layout/keys.ts";
import { readKeptLine } from "../../../r2-layout/kept-line.ts";
import { linesAt } from "../../../r2-layout/segment.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { type KeptBase, openKeptState } from "../../rollouts/kept/kept-state.ts";
import type { Client, State } from "../../rollouts/types.ts";
import { damageOf } from "../damage.ts";
import type { ExecutorStore } from "../ports.ts";

/** Pieces read at once: a unit has few. */
const READS_AT_ONCE = 4;

/** What is generated of a unit: where the Run knows it to be, and what this executor has itself, by index. */
export interface Generated {
  readonly pieces: readonly Piece[];
  readonly texts: ReadonlyMap<number, string>;
}

/**
 * The generated rollouts of one unit, by index. Of those whose object is gone or damaged `lost` is told: they are generated again.
 * Rejects when storage does not answer.
 */
export async function keptStates(
  store: ExecutorStore,
  runId: string,
  { pieces, texts }: Generated,
  base: KeptBase,
  client: Client,
  lost: (failure: string) => void,
): Promise<Map<number, State>> {
  const states = new Map<number, State>();
  for (const [rollout, text] of texts) states.set(rollout, openKeptState(text, base, client).state);
  const rest = [...pieces];
  const read = async (): Promise<void> => {
    for (let piece = rest.shift(); piece !== undefined; piece = rest.shift()) {
      try {
        for (const [rollout, text] of await textsOf(store, runId, piece)) states.set(rollout, openKeptState(text, base, client).state);
      } catch (thrown) {
        const damage = damageOf(thrown);
        if (damage === null) throw thrown;
        lost(damage.message);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(READS_AT_ONCE, pieces.length) }, read));
  return states;
}

async function textsOf(store: ExecutorStore, runId: string, { segment, offset, length, rollouts }: Piece): Promise<[number, string][]> {
  const key = segmentKey(runId, segment);
  const bytes = await store.read(key, offset, length);
  const lines = linesAt(bytes, { offset: 0, length });
  if (!lines.ok) throw new EdgewiseError("storage_damaged", `${key}: ${lines.error.message}`);
  return lines.value.flatMap((line): [number, string][] => {
    const kept = readKeptLine(line);
    if (kept === null) throw new EdgewiseError("storage_damaged", `${key} holds something else than kept rollouts at ${offset}`);
    return rollouts.includes(kept.rollout) ? [[kept.rollout, kept.text]] : [];
  });
}
