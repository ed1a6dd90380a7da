import { invalid } from "../errors.ts";

const MAX_KEY = 255;

/** The header that makes a repeated creation harmless; null where there is none. Throws for what is no key. */
export function idempotencyKeyOf(request: { header(name: string): string | undefined }): string | null {
  const key = request.header("idempotency-key") ?? null;
  if (key !== null && !(/^[\x20-\x7e]+$/.test(key) && key.length <= MAX_KEY)) {
    throw invalid(["header", "Idempotency-Key"], `must have 1 to ${MAX_KEY} characters of ASCII`);
  }
  return key;
}
