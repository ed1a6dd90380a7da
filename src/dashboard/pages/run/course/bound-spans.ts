import { limitText } from "../../../../endpoint-limits/bound-text.ts";
import { LIMIT_KINDS, type LimitKind } from "../../../../endpoint-limits/limit-kinds.ts";
import type { Timeline } from "../../../api/run-answers.ts";

export interface BoundSpan {
  readonly from: number;
  /** When the next sample was taken that says otherwise; of what goes on, or was resumed after it, its own last sample. */
  readonly to: number;
  readonly kind: string;
  /** The last one; null where it has no number. */
  readonly limit: number | null;
  /** The most requests that waited. */
  readonly waiting: number;
}

/** Where a resume began. */
export const isResumed = ({ generation }: Pick<Timeline, "generation">, index: number): boolean => index > 0 && generation[index] !== generation[index - 1];

/** What requests waited for, one after another: spans of time in which it was the same. */
export function boundSpans(course: Pick<Timeline, "t" | "generation" | "bound" | "bound_limit" | "waiting">): readonly BoundSpan[] {
  const { t, bound, bound_limit, waiting } = course;
  const spans: BoundSpan[] = [];
  let open: BoundSpan | null = null;
  t.forEach((at, index) => {
    const kind = bound[index] ?? null;
    const before = isResumed(course, index) ? null : open;
    if (before !== null) spans[spans.length - 1] = { ...before, to: at };
    open = kind === null ? null : { from: at, to: at, kind, limit: bound_limit[index] ?? null, waiting: waiting[index] ?? 0 };
    if (open === null) return;
    if (before !== null && before.kind === kind) {
      open = { ...open, from: before.from, waiting: Math.max(before.waiting, open.waiting) };
      spans[spans.length - 1] = open;
    } else spans.push(open);
  });
  return spans;
}

const OTHERS: Readonly<Record<string, string>> = {
  pause: "the endpoint asked to be left alone",
  down: "the endpoint did not answer",
  start: "first answers were waited for",
  budget: "money of the budget",
};

const limitKind = (kind: string): LimitKind | undefined => LIMIT_KINDS.find((each) => each === kind);

/** What was waited for, whatever number it had. */
export function boundKind({ kind }: Pick<BoundSpan, "kind">): string {
  const known = limitKind(kind);
  return known === undefined ? (OTHERS[kind] ?? kind) : `a limit of ${known.replaceAll("_", " ")}${known === "concurrent" ? " requests" : " a minute"}`;
}

/** The same with its number, where it has one. */
export function boundName(span: Pick<BoundSpan, "kind" | "limit">): string {
  const known = limitKind(span.kind);
  return known === undefined || span.limit === null ? boundKind(span) : limitText(known, span.limit);
}
