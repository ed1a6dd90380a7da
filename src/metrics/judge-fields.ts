import { dollarsOf, readCost } from "../prices/nano-cost.ts";
import type { Cost } from "../prices/price.ts";
import type { JudgeUsage } from "./rollout-summary.ts";

/** The state column that holds what judges were shown and what they said, under verifiers' name: by the whole prompt. */
export const JUDGE_COLUMN = "judge_response";

/** What judges took, as rows and `metadata.json` say it. An alias, since an interface is no `JsonObject`. */
export type JudgeFields = {
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Only where the cost of a request is known; `requests`: of how many. */
  readonly cost?: { readonly requests: number } & { readonly [Part in keyof Cost]: number };
};

export function judgeFields({ requests, input_tokens, output_tokens, priced }: JudgeUsage): JudgeFields {
  const cost = priced === undefined ? {} : { cost: { requests: priced.requests, ...dollarsOf(priced) } };
  return { requests, input_tokens, output_tokens, ...cost };
}

/** The reverse; null for what says nothing of judges that were asked. */
export function readJudges(said: unknown): JudgeUsage | null {
  const fields = isObject(said) ? said : {};
  const requests = count(fields.requests);
  if (requests === 0) return null;
  const cost = isObject(fields.cost) ? readCost(fields.cost) : null;
  const of = isObject(fields.cost) ? Math.min(requests, count(fields.cost.requests)) : 0;
  const priced = cost === null || of === 0 ? {} : { priced: { requests: of, ...cost } };
  return { requests, input_tokens: count(fields.input_tokens), output_tokens: count(fields.output_tokens), ...priced };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null && !Array.isArray(value);
const count = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0);
