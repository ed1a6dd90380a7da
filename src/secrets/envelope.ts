import { fail, ok, type Result } from "../errors/result.ts";
import { fromBase64Url, type MasterKey, type MasterKeys, toBase64Url } from "./master-keys.ts";

/**
 * A value as it is stored: `1.{key id}.{iv}.{ciphertext}`, AES-256-GCM, base64url. What it belongs to is bound into it, so that a value
 * that is put in the place of another one is not read there.
 */
const VERSION = "1";
const IV_BYTES = 12;
const WRITTEN = /^1\.([0-9a-f]{8})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]+)$/;

/** What a value belongs to: one secret of one team. */
export interface Place {
  readonly team: string;
  /** Of the secret; of a run's own `{run_id}/{name}`. */
  readonly id: string;
}

const bound = ({ team, id }: Place): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(`edgewise secret ${VERSION}\n${team}\n${id}`) as Uint8Array<ArrayBuffer>;

export const runSecretId = (runId: string, name: string): string => `${runId}/${name}`;

export async function seal({ id, key }: MasterKey, place: Place, value: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: bound(place) }, key, new TextEncoder().encode(value));
  return [VERSION, id, toBase64Url(iv), toBase64Url(new Uint8Array(data))].join(".");
}

/** Id of the key that a stored value is encrypted with; "" for what is none. */
export const sealedWith = (sealed: string): string => WRITTEN.exec(sealed)?.[1] ?? "";

/** `name`: what people call it. Fails with `missing_key` for a key that is not there, `storage_damaged` for what is not as it was stored here. */
export async function open(keys: MasterKeys, place: Place, sealed: string, name: string): Promise<Result<string>> {
  const [, keyId, iv, data] = WRITTEN.exec(sealed) ?? [];
  if (keyId === undefined || iv === undefined || data === undefined)
    return fail("stored_version_unknown", `The secret ${name} was stored by another version of edgewise.`, "Deploy that version again, or a newer one.");
  const key = keys.byId(keyId);
  if (key === null)
    return fail(
      "missing_key",
      `The secret ${name} is encrypted with the master key ${keyId}, which this service does not have.`,
      `Put that key back as EDGEWISE_MASTER_KEY (or EDGEWISE_MASTER_KEY_NEXT), or give the secret its value again.`,
    );
  try {
    const bytes = await crypto.subtle.decrypt({ name: "AES-GCM", iv: fromBase64Url(iv), additionalData: bound(place) }, key.key, fromBase64Url(data));
    return ok(new TextDecoder().decode(bytes));
  } catch {
    return fail("storage_damaged", `The secret ${name} is not as it was stored.`, "Give it its value again.");
  }
}
