/** Of bytes, or of a text in UTF-8; in lower-case hex. */
export async function sha256Hex(bytes: Uint8Array | string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", typeof bytes === "string" ? new TextEncoder().encode(bytes) : (bytes as Uint8Array<ArrayBuffer>));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
