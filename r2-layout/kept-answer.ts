/** Version of the text; an answer of another is as good as none, and is asked for anew. */
const VERSION = 1;

/** An answer that is kept, without anything of the request: no key, no header, no prompt. Times are Unix milliseconds. */
export interface KeptAnswer {
  readonly stored_at: number;
  readonly expires_at: number;
  /** As its server gave it; JSON. */
  readonly answer: unknown;
}

/** `answer`: JSON text. */
export const keptAnswerText = ({ stored_at, expires_at }: Omit<KeptAnswer, "answer">, answer: string): string =>
  `{"v":${VERSION},"stored_at":${stored_at},"expires_at":${expires_at},"answer":${answer}}`;

/** What `keptAnswerText` made; null for another version, and for what is no answer. */
export function readKeptAnswer(text: string): KeptAnswer | null {
  let kept: unknown;
  try {
    kept = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof kept !== "object" || kept === null) return null;
  const { v, stored_at, expires_at, answer } = kept as Partial<Record<"v" | keyof KeptAnswer, unknown>>;
  if (v !== VERSION || typeof stored_at !== "number" || typeof expires_at !== "number" || answer === undefined) return null;
  return { stored_at, expires_at, answer };
}
