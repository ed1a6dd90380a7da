import { sha256Hex } from "../config/sha256.ts";

/**
 * The text of a token, which is shown once and stored nowhere: services keep its digest. 32 random bytes, so that a plain digest is enough: there is
 * nothing to guess. The beginning tells leaked ones from other text, and sessions of a browser from tokens.
 */
const FORMS = { token: "ew_", session: "ews_" } as const;
export type TokenForm = keyof typeof FORMS;
const BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

export function drawToken(form: TokenForm): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return `${FORMS[form]}${btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")}`;
}

/** Whether it is written as one of ours: anything else is not looked for. */
export const isToken = (form: TokenForm, text: string): boolean => text.startsWith(FORMS[form]) && SECRET.test(text.slice(FORMS[form].length));

export const digestOfToken = (text: string): Promise<string> => sha256Hex(text);
