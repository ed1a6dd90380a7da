/** The rows of a results folder on their way to the service, in parts under their digests. */
import { createHash } from "node:crypto";
import { type FolderPart, manifestText } from "../../../../r2-layout/folder-manifest.ts";
import { FOLDER_PART_BYTES, MAX_MANIFEST_BYTES } from "../../../limits.ts";
import type { ServiceClient } from "../../connection/http-client.ts";
import { PartReader, planParts } from "../../results/folder-parts.ts";
import type { RowIndex } from "../../results/row-index.ts";
import { usageError } from "../../terminal/cli-error.ts";

const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** `EDGEWISE_FOLDER_PART_BYTES`, for tests of many parts. */
const partBytes = (): number => Number(process.env.EDGEWISE_FOLDER_PART_BYTES) || FOLDER_PART_BYTES;

/**
 * Uploads the folder unless the service has it, and gives the digest of its manifest. What an earlier command has sent is not sent again. Holds two parts in memory: one on its way,
 * the next being read.
 */
export async function uploadFolder(client: ServiceClient, index: RowIndex, rollouts: number, signal: AbortSignal): Promise<string> {
  const { parts: planned, held } = planParts(index, rollouts, partBytes());
  const parts: FolderPart[] = [];
  const reader = new PartReader(index);
  let sending: Promise<void> = Promise.resolve();
  try {
    for (const plan of planned) {
      const bytes = reader.read(plan);
      const digest = digestOf(bytes);
      parts.push({ digest, bytes: bytes.byteLength });
      await sending;
      sending = send(client, digest, bytes, signal);
      // Waited for in the next round; until then a failure is nobody's.
      sending.catch(() => undefined);
    }
    await sending;
  } finally {
    reader.close();
  }
  const manifest = new TextEncoder().encode(manifestText({ parts, held }));
  if (manifest.byteLength > MAX_MANIFEST_BYTES) throw usageError(`${index.path} is too large to be taken over: it has ${parts.length} parts`);
  const digest = digestOf(manifest);
  await send(client, digest, manifest, signal);
  return digest;
}

async function send(client: ServiceClient, digest: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (!(await client.hasDataset(digest))) await client.putBytes(digest, bytes);
}
