/** A body that would not fit where it has to go; the rest of it is not read. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

/**
 * The text of a body of at most `limit` bytes, unpacked. Throws `BodyTooLarge`, or whatever the network says when the body breaks off.
 */
export async function readText(response: Response, limit: number): Promise<string> {
  if (await isBounded(response, limit)) return await response.text();
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of counted(response, limit)) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** The same for its bytes. */
export async function readBytes(response: Response, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  if (await isBounded(response, limit)) return new Uint8Array(await response.arrayBuffer());
  const chunks: Uint8Array[] = [];
  for await (const chunk of counted(response, limit)) chunks.push(chunk);
  const whole = new Uint8Array(chunks.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** Whether the body's own length bounds it: what is packed becomes a thousand times as long, or, in Brotli, a million times. */
async function isBounded(response: Response, limit: number): Promise<boolean> {
  if (response.body === null) return true;
  // This runs for every answer, and a look at a header crosses into the platform.
  const length = response.headers.get("content-length");
  if (length === null || isPacked(response)) return false;
  if (Number(length) <= limit) return true;
  await response.body.cancel();
  throw new BodyTooLarge(`${length} bytes`);
}

function isPacked({ headers }: Response): boolean {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  return encoding !== "" && encoding !== "identity";
}

async function* counted(response: Response, limit: number): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    bytes += value.byteLength;
    if (bytes > limit) {
      await reader.cancel();
      throw new BodyTooLarge(`more than ${limit} bytes`);
    }
    yield value;
  }
}
