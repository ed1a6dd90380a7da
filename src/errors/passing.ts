import { EdgewiseError } from "./result.ts";

/** How far causes of causes are followed. */
const MOST_CAUSES = 8;
/** What the platform throws when a connection, an object or its own machinery was lost. */
const LOST = /^(network connection lost|internal error\b|fetch failed)/i;

/**
 * Whether the same may go well in a while: what was thrown, or a cause of it, says so, or is one of the platform's own passing failures. All else is
 * certain, what the code of an environment throws of itself among it.
 */
export function isPassing(thrown: unknown): boolean {
  let next = thrown;
  for (let depth = 0; depth < MOST_CAUSES && next instanceof Error; depth++, next = next.cause) {
    if (next instanceof EdgewiseError && next.passing) return true;
    const { retryable, overloaded } = next as { retryable?: unknown; overloaded?: unknown };
    if (retryable === true || overloaded === true || LOST.test(next.message)) return true;
  }
  return false;
}
