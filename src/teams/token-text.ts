import { sha256Hex } from "../config/sha256.ts";

/**
 * The text of a token, which is shown once and stored nowhere: services keep its digest. 32 random bytes, so that a plain digest is enough: there is
 * nothing to guess. The beginning tells leaked ones from other text.
 */
const BEGINNING = "ew_";
const BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

export const drawToken = (): string => `${BEGINNING}${drawText()}`;

/** As many random bytes, for what is no token: the link of a run. */
export function drawText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

export const isDrawnText = (text: string): boolean => SECRET.test(text);

/** Whether it is written as one of ours: anything else is not looked for. */
export const isToken = (text: string): boolean => text.startsWith(BEGINNING) && isDrawnText(text.slice(BEGINNING.length));

export const digestOfToken = (text: string): Promise<string> => sha256Hex(text);
