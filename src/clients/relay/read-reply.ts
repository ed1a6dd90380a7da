import { mask } from "../../errors/masking.ts";
import { MAX_RELAYED_REFUSAL_CHARACTERS } from "../../limits.ts";
import type { RelayReply } from "../../rollouts/types.ts";
import { type Fields, record } from "../openai/reply-fields.ts";
import { broken, errorOfText, parsed, readWhole } from "../transport/read-answer.ts";
import { badAnswer, failureOfNetwork, isWebPage, RequestFailed, type StatusAnswer, webPage } from "../transport/request-failure.ts";
import { readEvents } from "../transport/server-sent-events.ts";
import { AnswerEvents } from "./answer-events.ts";
import { refusalInAnswer, relayError, type RelayPlace } from "./relay-errors.ts";
import { withReply } from "./refused-reply.ts";

/** An answer that was taken. */
export interface Relayed {
  readonly reply: RelayReply;
  /** What its server says of it: of an answer in pieces, without what the model said. */
  readonly answer: unknown;
}

export interface ReplyReader extends RelayPlace {
  /** Blots out secrets, and shortens nothing. */
  readonly blot: (text: string) => string;
  /** Characters of an answer in pieces. */
  readonly limit: number;
  readonly onAnswer?: (() => void) | undefined;
}

/**
 * The answer to a relayed request as it came, once it is one: JSON, or events to their end. Throws `RequestFailed`, or what a refusal stands for, with
 * what the server said.
 */
export async function readReply(response: Response, reader: ReplyReader): Promise<Relayed> {
  const type = response.headers.get("content-type") ?? "";
  const errorOfRefusal = (answer: StatusAnswer): Error => relayError(answer, reader);
  if (!response.ok) {
    const text = await readWhole(response, reader);
    const error = errorOfText(response, text, { errorOfRefusal, scrub: reader.scrub });
    throw response.status < 400 ? error : saying(error, replyOf(response.status, type, text, reader));
  }
  if (response.body !== null && /\bevent-stream\b/.test(type)) return await collected(response, response.body, type, reader);
  reader.onAnswer?.();
  const text = await readWhole(response, reader);
  const answer = record(parsed(text));
  if (answer === null) {
    if (isWebPage(text, type)) throw webPage(text, reader.scrub);
    throw badAnswer("malformed_response", `the answer is not JSON: ${reader.scrub(text)}`);
  }
  const error = record(answer.error);
  // Some routers answer before they ask the model, and put its refusal into the answer.
  if (error !== null && !Array.isArray(answer.choices)) throw refusalWithin(error, text, type, reader);
  return { reply: { status: response.status, content_type: type, text: mask(text) }, answer };
}

const replyOf = (status: number, content_type: string, text: string, { blot }: ReplyReader): RelayReply => ({
  status,
  content_type,
  text: blot(text).slice(0, MAX_RELAYED_REFUSAL_CHARACTERS),
});

/** A refusal in an answer of status 200, as a refusal: who reads the reply goes by its status. */
function refusalWithin(error: Fields, text: string, type: string, reader: ReplyReader): Error {
  const answer = refusalInAnswer(error, reader.route);
  const status = answer.status >= 400 ? answer.status : BAD_GATEWAY;
  return saying(relayError(answer, reader), replyOf(status, type, text, reader));
}

const BAD_GATEWAY = 502;

/** `error` with what the server said. */
export function saying(error: Error, reply: RelayReply): Error {
  return error instanceof RequestFailed ? new RequestFailed({ ...error.failure, reply }, error.attempts) : withReply(error, reply);
}

async function collected(response: Response, body: ReadableStream<Uint8Array>, type: string, reader: ReplyReader): Promise<Relayed> {
  const seen = new AnswerEvents(reader.route, (error) => refusalWithin(error, JSON.stringify({ error }), "application/json", reader));
  const text = new CollectedText(reader.limit);
  const events = readEvents(body.pipeThrough(text.through()), reader.limit);
  try {
    for (;;) {
      // Only reading is the network's; what an event says is not.
      const next = await events.next().catch((thrown: unknown) => {
        throw text.isFull ? tooLong(reader.limit) : broken(thrown, reader);
      });
      if (next.done) break;
      reader.onAnswer?.();
      const { data } = next.value;
      if (data === "[DONE]") seen.end();
      else {
        const fields = record(parsed(data));
        if (fields === null) throw badAnswer("malformed_response", `an event of the answer is not JSON: ${reader.scrub(data)}`);
        seen.add(fields);
      }
    }
  } finally {
    await events.return(undefined);
  }
  if (!seen.isWhole) throw new RequestFailed(failureOfNetwork(new Error("the stream ended before the answer did"), true, reader.scrub));
  return { reply: { status: response.status, content_type: type, text: mask(text.whole) }, answer: seen.head };
}

const tooLong = (limit: number): RequestFailed => badAnswer("row_too_large", `the streamed answer is longer than ${limit} characters`);

/** The text of a body that is read by another. */
class CollectedText {
  readonly #limit: number;
  readonly #decoder = new TextDecoder();
  readonly #pieces: string[] = [];
  #length = 0;
  isFull = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  through(): TransformStream<Uint8Array, Uint8Array> {
    return new TransformStream({
      transform: (chunk, controller) => {
        const piece = this.#decoder.decode(chunk, { stream: true });
        this.#length += piece.length;
        if (this.#length > this.#limit) {
          this.isFull = true;
          throw tooLong(this.#limit);
        }
        this.#pieces.push(piece);
        controller.enqueue(chunk);
      },
    });
  }

  get whole(): string {
    return this.#pieces.join("") + this.#decoder.decode();
  }
}
