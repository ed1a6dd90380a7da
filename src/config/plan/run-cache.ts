import { OPTIONS, type OptionValue } from "../options/options.ts";
import { CACHE_MODES, type JsonObject, type RunCache } from "./run-config.ts";

/** What a command or a request says of the cache; absent or null = nothing. */
interface CacheWish {
  readonly cache?: OptionValue<"cache"> | null | undefined;
  readonly cache_days?: number | null | undefined;
}

/** How a run uses kept answers: what the wish leaves open is as it was `before`, else as usual. Undefined = not at all. */
export function runCache({ cache, cache_days }: CacheWish, before?: RunCache): RunCache | undefined {
  const mode = cache ?? before?.mode ?? OPTIONS.cache.default;
  if (mode === "off") return undefined;
  return { mode, days: cache_days ?? before?.days ?? OPTIONS.cache_days.default };
}

/** Why days are given for nothing; null where they say how long answers stay. */
export function cacheDaysProblem(wish: CacheWish, before?: RunCache): string | null {
  if (wish.cache_days === undefined || wish.cache_days === null || runCache(wish, before)?.mode === "read-write") return null;
  return "says how long answers are kept, and none are: that is for cache = read-write";
}

/** Whether the table of an evaluation asks for kept answers. */
export const readsCache = ({ cache }: JsonObject): boolean => CACHE_MODES.some((mode) => mode === cache);
