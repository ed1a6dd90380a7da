import type { Grant } from "../../durable-objects/run/protocol.ts";
import type { IndexedSample, IntakeAnswer, PlannedUnit } from "../../durable-objects/run/pushed/pushed-protocol.ts";
import { batchKey, segmentKey, segmentName } from "../../r2-layout/keys.ts";
import { readPart } from "../../r2-layout/read-part.ts";
import { SegmentBuffer } from "../../r2-layout/segment.ts";
import { maskJson } from "../errors/masking.ts";
import { EdgewiseError } from "../errors/result.ts";
import { ADOPTED_SEGMENT_ROWS, SAMPLES_A_CALL } from "../limits.ts";
import { promptMark } from "../metrics/grouping.ts";
import type { RolloutSummary } from "../metrics/rollout-summary.ts";
import { summaryOfRow } from "../metrics/row-summary.ts";
import { placeOf, sampleIdOf } from "../pushed/sample.ts";
import type { ScannedSample } from "../pushed/scanned-sample.ts";
import { type ForeignRow, numberedLine } from "../rollouts/rows/foreign-row.ts";
import { rowText } from "../rollouts/rows/row-text.ts";
import { formatOf } from "../traces/batch-format.ts";
import { ticketOf } from "./keep-alive.ts";
import type { ExecutorPorts } from "./ports.ts";
import type { Slice } from "./slice.ts";

/** Of a plan beside its reads: the question, the segment, and the word that it is there. */
const CALLS_PER_PLAN = 3;

/**
 * Makes rows of what was pushed, as far as the slice goes: reads each batch once to tell the Run where its samples are, and writes them in their order once all
 * are there. Holds a sample, or the rows of one segment; the Run knows how far it is.
 */
export async function takeIn(ports: ExecutorPorts, grant: Grant, signal: AbortSignal, slice: Slice): Promise<void> {
  const { run_id } = grant.config;
  for (let segments = 0; !slice.isOver; ) {
    signal.throwIfAborted();
    slice.spend(CALLS_PER_PLAN);
    const next = await ports.run(run_id).intake(ticketOf(grant));
    if (next.kind === "read") await readBatch(ports, grant, next, signal, slice);
    else if (next.kind === "place" && next.units.length > 0) segments = await placeUnits(ports, grant, next.units, segments, signal, slice);
    else return;
  }
}

type ReadTask = Extract<IntakeAnswer, { kind: "read" }>;

async function readBatch(ports: ExecutorPorts, grant: Grant, { batch, object, from }: ReadTask, signal: AbortSignal, slice: Slice): Promise<void> {
  const { run_id } = grant.config;
  const stream = await ports.store.stream(batchKey(run_id, object));
  if (stream === null) throw new EdgewiseError("storage_damaged", `${batchKey(run_id, object)} is missing in storage`);
  const format = formatOf(object);
  const scanner = format.scanner();
  let told: IndexedSample[] = [];
  const tell = async (last: boolean): Promise<boolean> => {
    slice.spend();
    const samples = JSON.stringify(told);
    told = [];
    const answer = await ports.run(run_id).indexed({ ...ticketOf(grant), batch, samples, through: scanner.samples, last });
    return answer.kind === "ok";
  };
  const note = (samples: Iterable<ScannedSample>): void => {
    for (const sample of samples) {
      if (sample.position < from) continue;
      const value = format.read(sample);
      const { key, attempt } = placeOf(value, batch, sample.position);
      told.push([key.rank, key.number, key.text, attempt, sample.position, sample.offset, sample.bytes.byteLength, sampleIdOf(value)]);
    }
  };
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    note(scanner.push(chunk));
    if (told.length < SAMPLES_A_CALL) continue;
    signal.throwIfAborted();
    if (!(await tell(false)) || slice.isOver) return;
  }
  note(scanner.end());
  await tell(true);
}

/** Writes rows of a plan into segments, and returns how many of this grant there are then. */
async function placeUnits(
  ports: ExecutorPorts,
  grant: Grant,
  plan: readonly PlannedUnit[],
  before: number,
  signal: AbortSignal,
  slice: Slice,
): Promise<number> {
  const { run_id } = grant.config;
  const pointers = plan.flatMap(({ unit, rows }) => rows.map(({ object, offset, length }) => ({ unit, segment: object, offset, length })));
  const bytes = pointers.reduce((sum, { length }) => sum + length, 0);
  const read = await readPart({ pointers, skip: 0, bytes }, new Uint8Array(bytes), (object, offset, length) => {
    signal.throwIfAborted();
    slice.spend();
    return ports.store.read(batchKey(run_id, object), offset, length);
  });
  let segments = before;
  let at = 0;
  const buffer = new SegmentBuffer(ADOPTED_SEGMENT_ROWS);
  const summaries = new Map<number, RolloutSummary[]>();
  const flush = async (): Promise<void> => {
    const contents = buffer.take();
    if (contents === null) return;
    signal.throwIfAborted();
    const segment = segmentName(grant.ticket, grant.epoch, ++segments);
    await ports.store.create(segmentKey(run_id, segment), contents.bytes);
    const units = contents.units.map((place) => ({ ...place, rollouts: summaries.get(place.unit) ?? [] }));
    await ports.run(run_id).placed({ ...ticketOf(grant), segment, units: JSON.stringify(units) });
  };
  for (const { unit, rows } of plan) {
    const foreign = rows.map(({ object, length }) => {
      at += length;
      return formatOf(object).row(read.subarray(at - length, at));
    });
    summaries.set(unit, summariesOf(foreign));
    const lines = foreign.map((row, index) => maskJson(numberedLine(oneLine(row), index)));
    if (buffer.add(unit, lines)) continue;
    await flush();
    buffer.add(unit, lines);
  }
  await flush();
  return segments;
}

/** A sample may have been written over several lines. */
const oneLine = (row: ForeignRow): ForeignRow => (row.text.includes("\n") || row.text.includes("\r") ? { ...row, text: rowText(row.value) } : row);

/** What the rows of an example say in numbers; those with another prompt than the first are no attempts at the same. */
function summariesOf(rows: readonly ForeignRow[]): RolloutSummary[] {
  const first = rows.length > 1 ? promptMark(rows[0]?.value.prompt) : null;
  return rows.map(({ value }) => ({
    ...summaryOfRow(value),
    ...(first === null || promptMark(value.prompt) === first ? {} : { other_prompt: true as const }),
  }));
}
