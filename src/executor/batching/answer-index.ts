import { EdgewiseError } from "../../errors/result.ts";
import type { RequestId } from "./custom-id.ts";

/** Changes with the form of an index, which older versions then refuse. */
const VERSION = 1;
/** Of what a provider says of a request that it has lost. */
const MOST_WORDS = 300;

/** Where the answer to a request of a job is: bytes of one of the job's objects. `length` alone where it is longer than an answer may be, and is not kept. */
export interface PlacedAnswer {
  readonly kind: "answer";
  readonly status: number;
  readonly part: number | null;
  readonly offset: number;
  readonly length: number;
}

/** A request that came back without an answer. */
export interface LostAnswer {
  readonly kind: "lost";
  readonly why: string;
  readonly message: string;
}

export type IndexedAnswer = PlacedAnswer | LostAnswer;

/** A request of a job, and what became of it. */
export type IndexEntry = RequestId & { readonly answer: IndexedAnswer };

/**
 * One line for each request of a job, in the order of units and rollouts, behind one with the version and how many bytes each part has:
 * `[unit, rollout, asked, status, part, offset, length]`, or `[unit, rollout, asked, why, message]` of one that was lost.
 */
export function indexText(entries: readonly IndexEntry[], parts: readonly number[]): string {
  const sorted = [...entries].sort((a, b) => a.unit - b.unit || a.rollout - b.rollout);
  return `${[JSON.stringify({ v: VERSION, parts }), ...sorted.map(lineOf)].join("\n")}\n`;
}

function lineOf({ unit, rollout, asked, answer }: IndexEntry): string {
  const told =
    answer.kind === "lost" ? [answer.why, answer.message.slice(0, MOST_WORDS).toWellFormed()] : [answer.status, answer.part, answer.offset, answer.length];
  return JSON.stringify([unit, rollout, asked, ...told]);
}

/** An index as it is read: its lines stay text until one of their units is asked for. */
export class AnswerIndex {
  readonly #lines: readonly string[];
  /** Bytes of each part. */
  readonly parts: readonly number[];

  /** Throws `stored_version_unknown` for one of another version. */
  constructor(text: string) {
    const [head = "", ...lines] = text.split("\n");
    const { v, parts } = headOf(head);
    if (v !== VERSION || !Array.isArray(parts)) {
      throw new EdgewiseError("stored_version_unknown", "the index of a batch's answers is of another version of this library");
    }
    this.parts = parts as readonly number[];
    this.#lines = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  }

  /** What became of a request; null where it was none of the job's. */
  of({ unit, rollout, asked }: RequestId): IndexedAnswer | null {
    const beginning = `[${unit},${rollout},"${asked}",`;
    for (let at = this.#firstOf(unit); at < this.#lines.length && this.#unitAt(at) === unit; at++) {
      const line = this.#lines[at] ?? "";
      if (line.startsWith(beginning)) return answerIn(line);
    }
    return null;
  }

  #unitAt(at: number): number {
    return Number.parseInt((this.#lines[at] ?? "").slice(1), 10);
  }

  #firstOf(unit: number): number {
    let lo = 0;
    let hi = this.#lines.length;
    while (lo < hi) {
      const middle = (lo + hi) >>> 1;
      if (this.#unitAt(middle) < unit) lo = middle + 1;
      else hi = middle;
    }
    return lo;
  }
}

function headOf(line: string): { readonly v?: unknown; readonly parts?: unknown } {
  try {
    return JSON.parse(line) as { readonly v?: unknown; readonly parts?: unknown };
  } catch {
    return {};
  }
}

type Line = readonly [number, number, string, string, string] | readonly [number, number, string, number, number | null, number, number];

function answerIn(text: string): IndexedAnswer {
  const line = JSON.parse(text) as Line;
  if (typeof line[3] === "string") return { kind: "lost", why: line[3], message: String(line[4]) };
  const [, , , status, part, offset, length] = line as readonly [number, number, string, number, number | null, number, number];
  return { kind: "answer", status, part, offset, length };
}
