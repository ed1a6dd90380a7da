import { streamOf } from "../stream-of.ts";
import type { AnswerShape, WholeChoice } from "./answer-shape.ts";
import type { AnswerEvent, ScoredToken, Usage } from "./answers.ts";

/** Slices of the work of one request, as `Turns` gives them. */
export type AnswerSlices = AsyncGenerator<readonly AnswerEvent[], Usage>;

/** The answer in one piece. Work that nobody waits for any more is not done: throws the signal's reason. */
export async function wholeAnswer(slices: AnswerSlices, shape: AnswerShape, signal: AbortSignal): Promise<Response> {
  const choices: WholeChoice[] = [];
  let tokens: ScoredToken[] = [];
  for (;;) {
    signal.throwIfAborted();
    const { done, value } = await slices.next();
    if (done === true) return Response.json(shape.whole(choices, value));
    for (const event of value) {
      if ("token" in event) tokens.push(event.token);
      else {
        choices.push({ tokens, finish: event.finish });
        tokens = [];
      }
    }
  }
}

/** The answer as server-sent events, one token each; made as it is read, so what nobody reads is not made. */
export function streamedAnswer(slices: AnswerSlices, shape: AnswerShape, withUsage: boolean): Response {
  return new Response(streamOf(frames(slices, shape, withUsage)), {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" },
  });
}

async function* frames(slices: AnswerSlices, shape: AnswerShape, withUsage: boolean): AsyncGenerator<string> {
  let begun = -1;
  for (;;) {
    const { done, value } = await slices.next();
    if (done === true) {
      if (withUsage) yield frame(shape.usage(value));
      yield "data: [DONE]\n\n";
      return;
    }
    for (const event of value) {
      const { choice } = event;
      if (shape.begin !== null && choice > begun) yield frame(shape.begin(choice));
      begun = choice;
      yield frame("token" in event ? shape.token(choice, event.token) : shape.end(choice, event.finish));
    }
  }
}

const frame = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;
