import type { Json } from "../../config/plan/run-config.ts";
import type { RelayReply } from "../../rollouts/types.ts";
import { type Fields, record } from "../openai/reply-fields.ts";
import type { Relayed } from "./read-reply.ts";

/** What counts of what a server says of its answer: the answer itself is the reply's text. */
const SAID = ["model", "system_fingerprint", "usage"] as const;

/** A reply as it is kept for whoever makes the same request again. */
export function keptReply({ reply, answer }: Relayed): { readonly value: RelayReply; readonly answer: object } {
  const fields = record(answer) ?? {};
  const said = Object.fromEntries(SAID.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
  return { value: reply, answer: { reply, said } };
}

/** What `keptReply` made. Throws a `TypeError` for anything else. */
export function readKeptReply(kept: Json): { readonly reply: RelayReply; readonly said: Fields } {
  const { reply, said } = record(kept) ?? {};
  const { status, content_type, text } = record(reply) ?? {};
  if (typeof status !== "number" || typeof content_type !== "string" || typeof text !== "string") throw new TypeError("this is no reply that was kept");
  return { reply: { status, content_type, text }, said: record(said) ?? {} };
}
