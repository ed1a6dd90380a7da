import type { AdoptedUnit, FolderSource, Grant, InputChunk, TicketTask } from "../../../durable-objects/run/protocol.ts";
import { inputsKey, segmentKey, segmentName } from "../../../r2-layout/keys.ts";
import { SegmentBuffer } from "../../../r2-layout/segment.ts";
import { maskJson } from "../../errors/masking.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { ADOPTED_SEGMENT_ROWS, SEGMENT_ROWS } from "../../limits.ts";
import { promptMark } from "../../metrics/grouping.ts";
import { summaryOfRow } from "../../metrics/row-summary.ts";
import type { RolloutSummary } from "../../metrics/rollout-summary.ts";
import { type ForeignRow, numberedLine } from "../../rollouts/rows/foreign-row.ts";
import type { RolloutInput } from "../../rollouts/types.ts";
import { type AdoptedExample, examplesOf, manifestOf } from "./folder-rows.ts";
import { ticketOf } from "../keep-alive.ts";
import type { ExecutorPorts } from "../ports.ts";

type AdoptTask = Extract<TicketTask, { kind: "adopt" }>;

/** Nothing of a folder may be left out: its averages would be those of other rows. */
export const foreignExample = (id: number, examples: number): EdgewiseError =>
  new EdgewiseError("resume_mismatch", `results.jsonl has rows of example ${id}, which is not among the ${examples} examples of the data set.`, {
    hint: "Name the data set that the folder was made with, or start a new run.",
  });

/** The last message of a prompt as one text: what of an example no setting changes. */
export function questionOf(prompt: unknown): string {
  const last: unknown = Array.isArray(prompt) ? prompt.at(-1) : { content: prompt };
  const content: unknown = typeof last === "object" && last !== null && "content" in last ? last.content : null;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  return parts.map((part) => (typeof part === "object" && part !== null && "text" in part ? String(part.text) : String(part))).join("");
}

/** What the pinned examples say of rows. */
interface Pinned {
  readonly unitOf: ReadonlyMap<number, number>;
  /** By example, the mark of the last message of its prompt (`promptMark`); empty where the digest says that the rows are of this data. */
  readonly questions: ReadonlyMap<number, string>;
}

async function pinnedExamples(ports: ExecutorPorts, runId: string, chunks: readonly InputChunk[], source: FolderSource, signal: AbortSignal): Promise<Pinned> {
  const unitOf = new Map<number, number>();
  const questions = new Map<number, string>();
  for (const { lo, digest } of chunks) {
    const key = inputsKey(runId, digest);
    const bytes = await ports.store.readAll(key);
    if (bytes === null) throw new EdgewiseError("storage_damaged", `${key} is missing in storage`);
    for (const [index, line] of new TextDecoder().decode(bytes).trimEnd().split("\n").entries()) {
      const { example_id, prompt } = JSON.parse(line) as RolloutInput;
      unitOf.set(example_id, lo + index);
      if (source.dataset_digest === null) questions.set(example_id, promptMark(questionOf(prompt)));
    }
    await ports.sleep(0, signal);
  }
  return { unitOf, questions };
}

/**
 * Takes over the rows of a result folder, part by part: written to segments as they are but for keys of this process, known to the Run as
 * done units. What the folder lacks is worked on meanwhile; what ended in an infrastructure error, the Run hands out once it is taken over. Holds one
 * segment and one example in memory, bounded in what it does without a pause; the Run knows how far it is, and a later adoption goes on behind that.
 */
export async function adoptFolder(ports: ExecutorPorts, grant: Grant, task: AdoptTask, signal: AbortSignal): Promise<void> {
  const { run_id } = grant.config;
  const answer = await ports.run(run_id).inputs(ticketOf(grant));
  if (answer.kind !== "inputs") return;
  const pinned = await pinnedExamples(ports, run_id, answer.chunks, task.source, signal);
  const { parts } = await manifestOf(ports.store, task.source);
  const adoption = new Adoption(ports, grant, pinned, signal);
  for (let part = task.part; part < parts.length; part++) {
    const where = task.source.in_parts === true ? `results.jsonl, part ${part + 1} of ${parts.length},` : "results.jsonl";
    const through = part === task.part ? task.through : undefined;
    const examples = examplesOf(ports.store, parts[part]?.digest ?? "", grant.config.rollouts_per_example, where);
    await adoption.take(examples, part, through);
  }
  await adoption.end();
}

class Adoption {
  readonly #ports: ExecutorPorts;
  readonly #grant: Grant;
  readonly #pinned: Pinned;
  readonly #signal: AbortSignal;
  readonly #buffer = new SegmentBuffer(ADOPTED_SEGMENT_ROWS);
  readonly #summaries = new Map<number, (RolloutSummary | null)[]>();
  /** Examples whose rows answer another question. */
  readonly #others: number[] = [];
  #segments = 0;

  constructor(ports: ExecutorPorts, grant: Grant, pinned: Pinned, signal: AbortSignal) {
    this.#ports = ports;
    this.#grant = grant;
    this.#pinned = pinned;
    this.#signal = signal;
  }

  /** Takes over one part, but for the examples up to `through`. */
  async take(examples: AsyncIterable<AdoptedExample>, part: number, through = Number.NEGATIVE_INFINITY): Promise<void> {
    const { unitOf } = this.#pinned;
    let newest = through;
    let passed = 0;
    for await (const example of examples) {
      const unit = unitOf.get(example.id);
      if (unit === undefined) throw foreignExample(example.id, unitOf.size);
      this.#compare(example);
      if (example.id <= through) {
        if (++passed % SEGMENT_ROWS === 0) await this.#ports.sleep(0, this.#signal);
        continue;
      }
      const ordered = [...example.rows].sort(([a], [b]) => a - b);
      const lines = ordered.map(([index, row]) => maskJson(numberedLine(row, index)));
      if (this.#buffer.isFull || !this.#buffer.add(unit, lines)) {
        await this.#flush(part, newest);
        this.#buffer.add(unit, lines);
      }
      this.#summaries.set(unit, this.#summariesOf(example, ordered[0]?.[1]));
      newest = example.id;
    }
    await this.#flush(part, newest);
  }

  async end(): Promise<void> {
    const run = this.#ports.run(this.#grant.config.run_id);
    const [first = "", ...more] = this.#others;
    if (this.#others.length > 0) {
      const named = [first, ...more.slice(0, 2), ...(more.length > 2 ? ["…"] : [])].join(", ");
      const message = `The rows of ${this.#others.length} of ${this.#pinned.questions.size} examples (${named}) have another prompt than the data set: is the folder of the same data?`;
      await run.note({ ...ticketOf(this.#grant), level: "WARNING", message });
    }
    while ((await run.adopted(ticketOf(this.#grant))).kind === "more");
  }

  #compare({ id, rows }: AdoptedExample): void {
    const question = this.#pinned.questions.get(id);
    if (question !== undefined && [...rows.values()].some(({ value }) => promptMark(questionOf(value.prompt)) !== question)) this.#others.push(id);
  }

  #summariesOf({ rows }: AdoptedExample, firstRow: ForeignRow | undefined): (RolloutSummary | null)[] {
    const { rollouts_per_example: r, cluster_by } = this.#grant.config;
    // One attempt per example is grouped with nothing.
    const first = r === 1 ? null : promptMark(firstRow?.value.prompt);
    return Array.from({ length: r }, (_, index) => {
      const value = rows.get(index)?.value;
      if (value === undefined) return null;
      return { ...summaryOfRow(value, cluster_by), ...(first === null || promptMark(value.prompt) === first ? {} : { other_prompt: true as const }) };
    });
  }

  /** Stores what there is as a segment; with it all rows of the part up to the example `through` are taken over. */
  async #flush(part: number, through: number): Promise<void> {
    const contents = this.#buffer.take();
    if (contents === null) return;
    this.#signal.throwIfAborted();
    const { run_id } = this.#grant.config;
    const segment = segmentName(this.#grant.ticket, this.#grant.epoch, ++this.#segments);
    await this.#ports.store.create(segmentKey(run_id, segment), contents.bytes);
    const units: AdoptedUnit[] = contents.units.map((place) => ({ ...place, rollouts: this.#summaries.get(place.unit) ?? [] }));
    await this.#ports.run(run_id).adopt({ ...ticketOf(this.#grant), segment, units: JSON.stringify(units), part, through });
    this.#summaries.clear();
    // Beats, and whoever else is on this thread, go first between two segments: the rows are there already, so nothing else here waits.
    await this.#ports.sleep(0, this.#signal);
  }
}
