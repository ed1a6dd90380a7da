import type { AdoptedUnit, Grant } from "../../durable-objects/run/protocol.ts";
import type { RolloutSummary } from "../metrics/rollout-summary.ts";
import { datasetKey, segmentKey, segmentName } from "../../r2-layout/keys.ts";
import { SegmentBuffer } from "../../r2-layout/segment.ts";
import { numberedLines } from "../datasets/jsonl.ts";
import { type ForeignRow, numberedLine, readForeignRow } from "../rollouts/foreign-row.ts";
import { EdgewiseError, failureOf } from "../errors/result.ts";
import { promptMark } from "../metrics/grouping.ts";
import { summaryOfRow } from "../metrics/row-summary.ts";
import { SEGMENT_ROWS } from "../limits.ts";
import { ticketOf } from "./keep-alive.ts";
import type { ExecutorPorts } from "./ports.ts";

interface Example {
  readonly id: number;
  /** By the number of the attempt. */
  readonly rows: ReadonlyMap<number, ForeignRow>;
}

/** The rows of an example as they come. */
interface OpenExample {
  readonly id: number;
  readonly numbered: Map<number, ForeignRow>;
  readonly others: { readonly line: number; readonly row: ForeignRow }[];
}

const unusable = (line: number, text: string): EdgewiseError =>
  new EdgewiseError("resume_mismatch", `results.jsonl line ${line}: ${text}`, { hint: "Resume from an unchanged result folder, or start a new run." });

/** Nothing of a folder may be left out: its averages would be those of other rows. */
const foreign = (id: number, examples: number): EdgewiseError =>
  new EdgewiseError("resume_mismatch", `results.jsonl has rows of example ${id}, which is not among the ${examples} examples of the data set.`, {
    hint: "Name the data set that the folder was made with, or start a new run.",
  });

/** Rows of one example after the other. The upload is sorted by `example_id`. */
async function* examplesOf(stream: ReadableStream<Uint8Array>, rollouts: number): AsyncGenerator<Example> {
  let open: OpenExample | null = null;
  for await (const { line, text } of numberedLines(stream)) {
    const row = readLine(line, text);
    const { example_id: id, rollout_index: index } = row.value;
    if (typeof id !== "number" || !Number.isSafeInteger(id)) throw unusable(line, "it has no integer example_id");
    if (open !== null && id < open.id) throw unusable(line, `example_id ${id} follows ${open.id}; rows must be sorted by example_id`);
    if (open === null || id !== open.id) {
      if (open !== null) yield closed(open, rollouts);
      open = { id, numbered: new Map(), others: [] };
    }
    if (typeof index !== "number") open.others.push({ line, row });
    else if (!Number.isSafeInteger(index) || index < 0 || index >= rollouts)
      throw unusable(line, `rollout_index ${index} is not below rollouts_per_example ${rollouts}`);
    else open.numbered.set(index, row);
  }
  if (open !== null) yield closed(open, rollouts);
}

function readLine(line: number, text: string): ForeignRow {
  try {
    return readForeignRow(text);
  } catch (thrown) {
    throw unusable(line, `not JSON: ${failureOf(thrown).message}`);
  }
}

/** Rows without a number get those that are left, as they come: the Python library adds such rows to a folder of ours. */
function closed({ id, numbered, others }: OpenExample, rollouts: number): Example {
  const rows = new Map(numbered);
  let next = 0;
  for (const { line, row } of others) {
    while (rows.has(next)) next++;
    if (next >= rollouts) throw unusable(line, `example ${id} has more rows than rollouts_per_example ${rollouts}`);
    rows.set(next, row);
  }
  return { id, rows };
}

/** What is to be taken over. */
export interface Adoption {
  /** Digest of the uploaded rows. */
  readonly results: string;
  /** The example up to which the Run has the rows already; absent = it has none. */
  readonly through?: number;
  /** `example_id` by unit. */
  readonly ids: readonly number[];
  /** By example, the mark of the last message of its prompt (`promptMark`); empty where the digest says that the rows are of this data. */
  readonly questions: ReadonlyMap<number, string>;
}

/** The last message of a prompt as one text: what of an example no setting changes. */
export function questionOf(prompt: unknown): string {
  const last: unknown = Array.isArray(prompt) ? prompt.at(-1) : { content: prompt };
  const content: unknown = typeof last === "object" && last !== null && "content" in last ? last.content : null;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  return parts.map((part) => (typeof part === "object" && part !== null && "text" in part ? String(part.text) : String(part))).join("");
}

/**
 * Takes over the rows of a result folder: written to segments as they are, known to the Run as done units. What the folder
 * lacks, and what ended in an infrastructure error, the Run hands out like any other unit once it is opened. Bounded in what it does without a
 * pause; the Run knows how far it is, and a later preparation goes on behind that.
 */
export async function adoptResults(ports: ExecutorPorts, grant: Grant, adoption: Adoption, signal: AbortSignal): Promise<void> {
  const { results, ids, questions, through = Number.NEGATIVE_INFINITY } = adoption;
  const { run_id, rollouts_per_example: r } = grant.config;
  const stream = await ports.store.stream(datasetKey(results));
  if (stream === null) throw new EdgewiseError("resume_mismatch", "The uploaded rows of the result folder are gone.");
  const unitOf = new Map(ids.map((id, unit) => [id, unit]));
  const buffer = new SegmentBuffer();
  const summaries = new Map<number, (RolloutSummary | null)[]>();
  /** Examples whose rows answer another question. */
  const others: number[] = [];
  let n = 0;
  let newest = through;
  let passed = 0;
  const flush = async (): Promise<void> => {
    const contents = buffer.take();
    if (contents === null) return;
    signal.throwIfAborted();
    const segment = segmentName(grant.ticket, grant.epoch, ++n);
    await ports.store.create(segmentKey(run_id, segment), contents.bytes);
    const units: AdoptedUnit[] = contents.units.map((place) => ({ ...place, rollouts: summaries.get(place.unit) ?? [] }));
    await ports.run(run_id).adopt({ ...ticketOf(grant), segment, units, through: newest });
    summaries.clear();
    // Beats, and whoever else is on this thread, go first between two segments: the rows are there already, so nothing else here waits.
    await ports.sleep(0, signal);
  };
  for await (const { id, rows } of examplesOf(stream, r)) {
    const unit = unitOf.get(id);
    if (unit === undefined) throw foreign(id, ids.length);
    const question = questions.get(id);
    if (question !== undefined && [...rows.values()].some(({ value }) => promptMark(questionOf(value.prompt)) !== question)) others.push(id);
    if (id <= through) {
      if (++passed % SEGMENT_ROWS === 0) await ports.sleep(0, signal);
      continue;
    }
    const ordered = [...rows].sort(([a], [b]) => a - b);
    const lines = ordered.map(([index, row]) => numberedLine(row, index));
    // One attempt per example is grouped with nothing.
    const first = r === 1 ? null : promptMark(ordered[0]?.[1].value.prompt);
    const summary = ({ value }: ForeignRow): RolloutSummary => ({
      ...summaryOfRow(value),
      ...(first === null || promptMark(value.prompt) === first ? {} : { other_prompt: true as const }),
    });
    summaries.set(
      unit,
      Array.from({ length: r }, (_, index) => {
        const row = rows.get(index);
        return row === undefined ? null : summary(row);
      }),
    );
    if (buffer.isFull || !buffer.add(unit, lines)) {
      const own = summaries.get(unit) ?? [];
      summaries.delete(unit);
      await flush();
      summaries.set(unit, own);
      buffer.add(unit, lines);
    }
    newest = id;
  }
  await flush();
  if (others.length > 0) {
    const message = `The rows of ${others.length} of ${questions.size} examples (${others.slice(0, 3).join(", ")}${others.length > 3 ? ", …" : ""}) have another prompt than the data set: is the folder of the same data?`;
    await ports.run(run_id).note({ ...ticketOf(grant), level: "WARNING", message });
  }
  await ports.run(run_id).opened(ticketOf(grant));
}
