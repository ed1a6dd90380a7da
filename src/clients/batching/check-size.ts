import { badAnswer } from "../transport/request-failure.ts";
import type { BatchFile, BatchLimits } from "./batch-route.ts";

/** Throws `bad_request` for a file that the provider would refuse after it was sent. */
export function checkSize({ bytes, requests }: BatchFile, limits: BatchLimits): void {
  if (bytes > limits.bytes) throw badAnswer("bad_request", `a batch of ${bytes} bytes: the provider takes at most ${limits.bytes}`);
  if (requests > limits.requests) throw badAnswer("bad_request", `a batch of ${requests} requests: the provider takes at most ${limits.requests}`);
}
