/** When a run has seen enough, as said before its first call. */
export type StopRule =
  /** The interval reaches no further than `bound` to either side. */
  | { readonly kind: "halfwidth"; readonly bound: number }
  /** It is known that the mean of the run is below, or above, `bound`. */
  | { readonly kind: "mean"; readonly side: "below" | "above"; readonly bound: number }
  /** It is known which of the two is better. */
  | { readonly kind: "versus"; readonly baseline: string };

/** What a run says that plays all of its examples; on a resume: from here on. */
export const NO_STOP_RULE = "never";

/** What `--stop-when` takes, for help and errors. */
export const STOP_RULE_FORMS = '"halfwidth<0.02", "mean<0.7", "mean>0.7" or "vs BASELINE"';

const NUMBER_RULE = /^(halfwidth|mean)\s*([<>])\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/;
const VERSUS_RULE = /^vs\s+(\S+)$/;

/** Reads a rule; throws a `RangeError` that says what is allowed. */
export function parseStopRule(text: string): StopRule {
  const rule = text.trim();
  const baseline = VERSUS_RULE.exec(rule)?.[1];
  if (baseline !== undefined) return { kind: "versus", baseline };
  const [, kind, sign, number] = NUMBER_RULE.exec(rule) ?? [];
  if (kind === undefined) throw new RangeError(`${JSON.stringify(text)} is no rule to stop by: ${STOP_RULE_FORMS}`);
  const bound = Number(number);
  if (kind === "mean") return { kind, side: sign === "<" ? "below" : "above", bound };
  if (sign === ">") throw new RangeError(`${JSON.stringify(text)}: an interval gets narrower as a run goes on, so a half-width is waited for with <`);
  if (!(bound > 0)) throw new RangeError(`${JSON.stringify(text)}: a half-width is above 0`);
  return { kind: "halfwidth", bound };
}

/** The rule as it is written down; `parseStopRule` reads it as the same. */
export function formatStopRule(rule: StopRule): string {
  if (rule.kind === "versus") return `vs ${rule.baseline}`;
  if (rule.kind === "halfwidth") return `halfwidth<${rule.bound}`;
  return `mean${rule.side === "below" ? "<" : ">"}${rule.bound}`;
}
