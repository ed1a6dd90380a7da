import { AnthropicStream } from "../../src/clients/anthropic/anthropic-stream.ts";
import { ChatStream } from "../../src/clients/openai/chat-stream.ts";
import { CompletionStream } from "../../src/clients/openai/completion-stream.ts";
import { type AnswerReader, readAnswer, type StreamFold } from "../../src/clients/transport/read-answer.ts";
import { badAnswer, RequestFailed } from "../../src/clients/transport/request-failure.ts";
import { MAX_ANSWER_BYTES } from "../../src/limits.ts";
import type { Random } from "../simulation/world/random.ts";
import { damaged, deepJson, noise, size, value } from "./hostile.ts";

const refusal = (): Error => badAnswer("invalid_response", "refused");
const FOLDS: readonly (() => StreamFold)[] = [() => new ChatStream(refusal), () => new CompletionStream(refusal), () => new AnthropicStream(refusal)];

/** One event of a stream, of any of the three kinds or of none. */
function event(random: Random): string {
  const index = random.chance(0.5) ? 0 : random.int(0, 1_000_000);
  switch (random.int(0, 6)) {
    case 0:
      return deepJson(random);
    case 1:
      return noise(random, 4_096);
    case 2:
      return JSON.stringify({
        choices: [
          {
            index,
            delta: { content: noise(random, 1_024), tool_calls: [{ index, id: noise(random, 1_024), function: value(random) }] },
            finish_reason: value(random),
          },
        ],
      });
    case 3:
      return JSON.stringify({ [`head${index}`]: noise(random, 1_024), id: value(random), choices: value(random) });
    case 4:
      return JSON.stringify({
        choices: [{ text: noise(random, 256), token_ids: value(random), logprobs: { tokens: value(random), token_logprobs: value(random) } }],
      });
    case 5:
      return JSON.stringify({
        type: random.pick(["message_start", "content_block_start", "message_stop"]),
        index,
        message: value(random),
        content_block: value(random),
      });
    default:
      return JSON.stringify({
        type: random.pick(["content_block_delta", "message_delta"]),
        index,
        delta: { type: "text_delta", text: noise(random, 1_024) },
        usage: value(random),
      });
  }
}

function bodyOf(random: Random): Uint8Array {
  const events = Array.from({ length: size(random, 64) }, () => event(random));
  const once = events.map((data) => `data: ${data.replaceAll("\n", " ")}\n\n`).join("");
  const streamed = random.chance(0.7);
  const text = streamed
    ? once.repeat(Math.min(size(random, 64), Math.ceil(2_000_000 / Math.max(1, once.length)))) + (random.chance(0.5) ? "data: [DONE]\n\n" : "")
    : event(random);
  return damaged(random, new TextEncoder().encode(text));
}

/** An answer is an answer, no larger than one may be, or a request that failed. */
export async function readsAnswer(random: Random): Promise<void> {
  const bytes = bodyOf(random);
  const step = random.pick([1_024, 65_536, 1_000_000]);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, at + step));
      at += step;
    },
  });
  const type = random.pick(["text/event-stream", "application/json", "text/html"]);
  const reader: AnswerReader = { streamed: random.chance(0.8), streamFold: random.pick(FOLDS), errorOfRefusal: refusal, scrub: (text) => text.slice(0, 500) };
  const status = random.chance(0.9) ? 200 : random.pick([301, 400, 404, 429, 500]);
  try {
    const answer = await readAnswer(new Response(body, { status, headers: { "content-type": type } }), reader);
    const length = JSON.stringify(answer ?? null).length;
    // Escapes make a text up to six times as long as it is.
    if (length > 6 * MAX_ANSWER_BYTES) throw new Error(`an answer of ${length} characters was kept`);
  } catch (thrown) {
    if (!(thrown instanceof RequestFailed)) throw thrown;
  }
}
