import { sha256Hex } from "../config/sha256.ts";
import { fail, ok, type Result } from "../errors/result.ts";

/**
 * The keys that secrets are encrypted with before they are stored: `EDGEWISE_MASTER_KEY`, and while it is being replaced also
 * `EDGEWISE_MASTER_KEY_NEXT`. A key is 32 random bytes; its id is part of a digest and says nothing of it.
 */
export interface MasterKey {
  readonly id: string;
  readonly key: Awaited<ReturnType<typeof crypto.subtle.importKey>>;
}

export interface MasterKeys {
  /** What values are encrypted with where nothing is stored yet that says otherwise: the next one, where there is one. */
  readonly newest: MasterKey;
  /** Null for a key that this service does not have. */
  byId(id: string): MasterKey | null;
  /** Where a rotation leads; null when none is under way. */
  readonly next: MasterKey | null;
}

/** As the Worker's variables, or the state folder of this machine, have them. */
export interface MasterKeyTexts {
  readonly EDGEWISE_MASTER_KEY?: string | undefined;
  readonly EDGEWISE_MASTER_KEY_NEXT?: string | undefined;
}

/** Where the local service asks the command that started it. */
export const MASTER_KEYS_PATH = "/master-keys";

const BEGINNING = "ewk_";
const BYTES = 32;
const WRITTEN = /^ewk_[A-Za-z0-9_-]{43}$/;

const HOW = "`npx edgewise secret key master.key` writes one to a file; then type `npx wrangler secret put EDGEWISE_MASTER_KEY < master.key`.";

export function drawMasterKey(): string {
  return `${BEGINNING}${toBase64Url(crypto.getRandomValues(new Uint8Array(BYTES)))}`;
}

export const isMasterKey = (text: string): boolean => WRITTEN.test(text);

export const masterKeyId = async (text: string): Promise<string> => (await sha256Hex(`edgewise master key ${text}`)).slice(0, 8);

/** Fails with `missing_key` where there is none, or what is set is no such key; never says what was set. */
export async function masterKeysOf(texts: MasterKeyTexts): Promise<Result<MasterKeys>> {
  const [current, next] = [texts.EDGEWISE_MASTER_KEY?.trim() ?? "", texts.EDGEWISE_MASTER_KEY_NEXT?.trim() ?? ""];
  if (current === "")
    return fail("missing_key", "This service has no EDGEWISE_MASTER_KEY, with which secrets are encrypted; none is stored or read without it.", HOW);
  for (const [name, text] of Object.entries({ EDGEWISE_MASTER_KEY: current, EDGEWISE_MASTER_KEY_NEXT: next }))
    if (text !== "" && !isMasterKey(text)) return fail("missing_key", `${name} is not a master key: it must be ${BEGINNING} and 43 characters.`, HOW);
  const first = await imported(current);
  const second = next === "" || next === current ? null : await imported(next);
  const all = [first, ...(second === null ? [] : [second])];
  return ok({ newest: second ?? first, next: second, byId: (id) => all.find((key) => key.id === id) ?? null });
}

async function imported(text: string): Promise<MasterKey> {
  const bytes = fromBase64Url(text.slice(BEGINNING.length));
  return { id: await masterKeyId(text), key: await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]) };
}

export const toBase64Url = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

export const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
