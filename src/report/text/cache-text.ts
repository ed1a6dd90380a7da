import { addCacheUsage, type AnsweredCalls, type CacheUsage, isNothing, NO_CALLS } from "../../metrics/cache-usage.ts";
import { thousands } from "./format.ts";

/** What of the calls the cache answered: `3,990 of 4,000 calls (120,000 tokens input, 9,000 output), 12 of 12 calls of judges (…)`. */
export function cacheText({ judges, ...own }: CacheUsage): string {
  const parts = [
    ...(isNothing(own) && judges !== undefined ? [] : [`${counted(own, own.calls === 1 ? "call" : "calls")}${tokensOf(own)}`]),
    ...(judges === undefined ? [] : [`${counted(judges, judges.calls === 1 ? "call of judges" : "calls of judges")}${tokensOf(judges)}`]),
  ];
  return parts.join(", ");
}

/** The same of all calls together, where there is little room: `3,990 of 4,000 calls`. */
export function cachedText({ judges = NO_CALLS, ...own }: CacheUsage): string {
  const all = addCacheUsage(own, judges);
  return counted(all, all.calls === 1 ? "call" : "calls");
}

const counted = ({ calls, cached }: AnsweredCalls, what: string): string => `${thousands(cached)} of ${thousands(calls)} ${what}`;
const tokensOf = ({ cached, input_tokens, output_tokens }: AnsweredCalls): string =>
  cached === 0 ? "" : ` (${thousands(input_tokens)} tokens input, ${thousands(output_tokens)} output)`;
