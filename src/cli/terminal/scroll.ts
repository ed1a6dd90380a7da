/** Positions in lists and texts that are longer than the screen. Pure. */
import type { Key } from "./keys.ts";

/** How far a key moves in something that shows `page` lines; null when it is no key of movement. */
export function movement(key: Key, page: number): number | null {
  const steps: { readonly [Name in Key]?: number } = {
    up: -1,
    down: 1,
    pageup: -Math.max(1, page - 1),
    pagedown: Math.max(1, page - 1),
    home: Number.NEGATIVE_INFINITY,
    end: Number.POSITIVE_INFINITY,
  };
  return steps[key] ?? null;
}

export const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value));

/** First line to show so that line `at` is on a screen of `page` lines, moving as little as possible from `top`. */
export function topFor(at: number, top: number, page: number, count: number): number {
  const shown = clamp(top, at - page + 1, at);
  return clamp(shown, 0, Math.max(0, count - page));
}
