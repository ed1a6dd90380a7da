import type { JsonObject } from "../../config/plan/run-config.ts";

/** `body` as it asks for an answer in one piece, which is all that a batch gives. */
export function inOnePiece(body: JsonObject): JsonObject {
  const { stream: _, stream_options: __, ...rest } = body;
  return rest;
}
