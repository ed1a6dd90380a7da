import type { OpenRollouts } from "../../../durable-objects/run/control.ts";
import type { InputChunk, Piece } from "../../../durable-objects/run/protocol.ts";
import { inputsKey, segmentKey } from "../../../r2-layout/keys.ts";
import { readKeptLine } from "../../../r2-layout/kept-line.ts";
import { linesAt } from "../../../r2-layout/segment.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { openKeptState } from "../../rollouts/kept/kept-state.ts";
import { rowOf } from "../../rollouts/rows/row.ts";
import type { RolloutInput, Tool } from "../../rollouts/types.ts";
import type { ObjectStore } from "../app-ports.ts";

/**
 * Rows of rollouts that are generated while their example is not done, as texts: as rows will be, with `open: true` behind all else, and
 * `reward: null` where it is not known yet. One unit is held at a time, and one chunk of inputs.
 */
export async function* openRows(store: ObjectStore, runId: string, open: OpenRollouts): AsyncGenerator<string> {
  for await (const { row } of openRowsByPlace(store, runId, open)) yield row;
}

/** The same with the unit and rollout of each. */
export async function* openRowsByPlace(
  store: ObjectStore,
  runId: string,
  open: OpenRollouts,
): AsyncGenerator<{ readonly unit: number; readonly rollout: number; readonly row: string }> {
  const inputs = new InputLines(store, runId, open.chunks);
  for (const unit of new Set(open.pieces.map((piece) => piece.unit))) {
    const input = await inputs.of(unit);
    const texts = new Map<number, string>();
    for (const piece of open.pieces) if (piece.unit === unit) for (const [rollout, text] of await textsOf(store, runId, piece)) texts.set(rollout, text);
    for (const [rollout, text] of [...texts].sort(([a], [b]) => a - b)) yield { unit, rollout, row: openRow(text, rollout, input, open) };
  }
}

function openRow(text: string, rollout: number, input: RolloutInput, open: OpenRollouts): string {
  const { tools, code, state_columns, results_shape } = open;
  const { state, isScored } = openKeptState(text, { input, tools: tools as unknown as readonly Tool[], code }, null);
  const { line } = rowOf(state, { rolloutIndex: rollout, stateColumns: state_columns, shape: results_shape });
  const row = JSON.parse(line) as Record<string, unknown>;
  return JSON.stringify({ ...row, reward: isScored ? row.reward : null, open: true });
}

async function textsOf(store: ObjectStore, runId: string, { segment, offset, length, rollouts }: Piece): Promise<[number, string][]> {
  const key = segmentKey(runId, segment);
  const lines = linesAt(await bytesOf(store, key, { offset, length }), { offset: 0, length });
  if (!lines.ok) throw new EdgewiseError("storage_damaged", `${key}: ${lines.error.message}`);
  return lines.value.flatMap((line): [number, string][] => {
    const kept = readKeptLine(line);
    return kept !== null && rollouts.includes(kept.rollout) ? [[kept.rollout, kept.text]] : [];
  });
}

async function bytesOf(store: ObjectStore, key: string, range?: { readonly offset: number; readonly length: number }): Promise<Uint8Array> {
  const body = await store.read(key, range);
  if (body === null) throw new EdgewiseError("storage_unavailable", `${key} is missing.`);
  return new Uint8Array(await new Response(body).arrayBuffer());
}

/** Pinned examples by their units, which are asked for in order: the lines of one chunk are held. */
class InputLines {
  readonly #store: ObjectStore;
  readonly #runId: string;
  readonly #chunks: readonly InputChunk[];
  #held: { readonly chunk: InputChunk; readonly lines: readonly string[] } | null = null;

  constructor(store: ObjectStore, runId: string, chunks: readonly InputChunk[]) {
    [this.#store, this.#runId, this.#chunks] = [store, runId, chunks];
  }

  async of(unit: number): Promise<RolloutInput> {
    const chunk = this.#chunks.find(({ lo, hi }) => unit >= lo && unit < hi);
    if (chunk === undefined) throw new EdgewiseError("internal", `no input chunk holds unit ${unit}`);
    if (this.#held?.chunk !== chunk) {
      const bytes = await bytesOf(this.#store, inputsKey(this.#runId, chunk.digest));
      this.#held = { chunk, lines: new TextDecoder().decode(bytes).split("\n") };
    }
    return JSON.parse(this.#held.lines[unit - chunk.lo] ?? "null") as RolloutInput;
  }
}
