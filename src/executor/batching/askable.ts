import { maskJson } from "../../errors/masking.ts";
import { sizeOf } from "../preparation/input-writer.ts";
import { BATCH_JOB_BYTES, MIB } from "../../limits.ts";

/** Why a request is put into no batch; null when it may be. `line`: as it would be written, or what is the larger part of that. */
export function unaskable(line: string): string | null {
  if (sizeOf(line) >= BATCH_JOB_BYTES) return `its request is larger than the ${BATCH_JOB_BYTES / MIB} MiB that one batch of ours may have`;
  // What is written lies in storage, where no secret is; and a request without it would be another.
  if (maskJson(line) !== line) return "its request holds a secret, which is not put into storage, where the requests of batches wait";
  return null;
}
