/** Signatures of the Standard Webhooks specification, version 1: HMAC-SHA256 with a secret of the endpoint. */

const PREFIX = "whsec_";
/** The specification asks for 24 to 64. */
const SECRET_BYTES = 32;

/** What signatures are made with: the newest first, and while it takes the place of another one also that. */
export interface SigningSecrets {
  readonly secret: string;
  readonly before?: { readonly secret: string; readonly until: number };
}

/** How long after a rotation messages are signed by both. */
export const ROTATION_MS = 24 * 3_600_000;

const base64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

export const drawSecret = (): string => `${PREFIX}${base64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))}`;

/** With a new secret; the one of now counts for another day. `now`: Unix milliseconds. */
export const rotated = ({ secret }: SigningSecrets, drawn: string, now: number): SigningSecrets => ({
  secret: drawn,
  before: { secret, until: now + ROTATION_MS },
});

/** The header `webhook-signature` for a message: one signature for each secret that counts, with a space between. `at`: Unix seconds. */
export async function signatureOf({ secret, before }: SigningSecrets, id: string, at: number, body: string): Promise<string> {
  const counting = before === undefined || before.until <= at * 1_000 ? [secret] : [secret, before.secret];
  return (await Promise.all(counting.map((each) => signed(each, `${id}.${at}.${body}`)))).join(" ");
}

async function signed(secret: string, text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(secret.slice(PREFIX.length)), (char) => char.charCodeAt(0));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return `v1,${base64(new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text))))}`;
}
