import type { JsonObject, ResultsShape } from "../../../src/config/plan/run-config.ts";
import type { ExampleId } from "../../../src/cells/column-lines.ts";
import type { Place } from "../../../r2-layout/place.ts";
import type { InputChunk, Piece } from "../protocol.ts";

/** What crosses the border between a Run and the door for a grid of its rollouts. An _example_ is named by its place in the results (its rank), from 0. */

/** Rollouts of a page that are generated and kept while their unit is not done, and what makes rows of them: no number counts them yet. */
export interface OpenRollouts {
  /** In the whole run. */
  readonly total: number;
  /** By unit; `rollouts` are those of the page. */
  readonly pieces: readonly Piece[];
  /** The inputs of their units. */
  readonly chunks: readonly InputChunk[];
  /** Those that all rollouts share. */
  readonly tools: readonly JsonObject[];
  /** Digest of the environment whose scores count; absent = not known. */
  readonly code?: string;
  readonly state_columns: readonly string[];
  readonly results_shape?: ResultsShape | undefined;
}

export interface ColumnsRequest {
  /** Only what was committed behind this event; null = everything. */
  readonly after: number | null;
  /** `next` of the page before; null = the first. */
  readonly from: number | null;
}

/** Numbers of done examples as they are stored (r2-layout/done-codec.ts): the door unpacks them, since a Run has its executors to answer. */
export interface ColumnsPage {
  readonly generation: number;
  readonly seq: number;
  /** Examples that are pinned so far. */
  readonly examples: number;
  /** Of each. */
  readonly rollouts: number;
  readonly settled: boolean;
  /** All that the packed texts have numbers of. */
  readonly metrics: readonly string[];
  /** By example: its place, what its sender calls it (of pushed ones; null = the pinned inputs say it), the rollouts that it lacks as JSON, and its summaries. */
  readonly places: readonly number[];
  readonly ids: readonly ExampleId[] | null;
  readonly missing: readonly (string | null)[];
  readonly packed: readonly string[];
  /** Generated rollouts of examples that are not done, on the last page. */
  readonly open: readonly (readonly [example: number, rollout: number])[];
  readonly next: number | null;
}

/** Where the rows of one done example are: a line for each rollout but the missing ones, in their order. */
export interface ExamplePlace extends Place {
  readonly example: number;
  readonly missing: readonly number[];
}

export interface ExamplePlaces {
  /** Rollouts of each example. */
  readonly rollouts: number;
  /** Of those that were asked for the done ones, in the order of their bytes. */
  readonly places: readonly ExamplePlace[];
  /** Key of the one object that all places are in; absent = they are in their segments. */
  readonly object?: string;
  /** Of the others what is generated already; absent = nothing. `pieces` name units, `examples` says whose they are. */
  readonly open?: OpenRollouts & { readonly examples: Readonly<Record<number, number>> };
}

/** Done examples in the order in which they were played, so that rows lie side by side. */
export interface ScanPage {
  readonly rollouts: number;
  readonly places: readonly ExamplePlace[];
  readonly next: number | null;
}

/** The pinned inputs, by which an example that was not pushed has its id. */
export interface PinnedInputs {
  readonly chunks: readonly InputChunk[];
  readonly seed: number;
  /** Parts that were permuted. */
  readonly parts: readonly (readonly [lo: number, hi: number])[];
}

export interface CellControl {
  /** A page of numbers, of about 4,096 examples at most. */
  columns(request: ColumnsRequest): Promise<ColumnsPage | null>;
  /** Where the rows of these examples are. */
  examplePlaces(examples: readonly number[]): Promise<ExamplePlaces | null>;
  /** Where the rows of done examples are, from unit `from` on, some `bytes` of them. */
  scan(from: number, bytes: number): Promise<ScanPage | null>;
  pinnedInputs(): Promise<PinnedInputs | null>;
}
