import { parseShallow } from "../../config/json-depth.ts";
import { MAX_ANSWER_BYTES, MAX_STREAMED_ANSWER_CHARACTERS } from "../../limits.ts";
import { type Fields, record } from "../openai/reply-fields.ts";
import { badAnswer, failureOfNetwork, isWebPage, RequestFailed, type StatusAnswer, webPage } from "./request-failure.ts";
import { BodyTooLarge, readText } from "./response-body.ts";
import { shownUrl } from "../secrets.ts";
import { readEvents } from "./server-sent-events.ts";

/** Puts the parts of a streamed answer together again. */
export interface StreamFold {
  /** One event. Throws `RequestFailed` or `OverlongPromptError` for one that reports an error. */
  add(fields: Fields): void;
  /** Characters held so far. */
  readonly size: number;
  /** The answer as it would have come in one piece; null when the stream broke off before its end. `done`: the server said that it is all. */
  result(done: boolean): unknown;
}

/** How one client takes an answer. */
export interface AnswerReader {
  /** Whether the answer was asked for in pieces; a server may send it in one all the same. */
  readonly streamed: boolean;
  /** A fresh fold for one streamed answer. */
  readonly streamFold: () => StreamFold;
  /** The refusal as the error it stands for: `RequestFailed`, or `OverlongPromptError`. */
  readonly errorOfRefusal: (answer: StatusAnswer) => Error;
  readonly scrub: (text: string) => string;
  /** Called when the answer begins; for one in pieces with each of them. */
  readonly onAnswer?: (() => void) | undefined;
}

/** The JSON of an answer, streamed or not. Throws `RequestFailed`, or what a refusal stands for. */
export async function readAnswer(response: Response, reader: AnswerReader): Promise<unknown> {
  if (!response.ok) throw await refused(response, reader);
  const inPieces = reader.streamed && response.body !== null && /\bevent-stream\b/.test(response.headers.get("content-type") ?? "");
  if (inPieces) return await foldStream(response.body, reader);
  reader.onAnswer?.();
  const text = await readWhole(response, reader);
  if (text === "") return null;
  try {
    return parseShallow(text);
  } catch (thrown) {
    if (isWebPage(text, response.headers.get("content-type"))) throw webPage(text, reader.scrub);
    throw badAnswer("malformed_response", `the answer is not JSON${tooDeep(thrown)}: ${reader.scrub(text)}`);
  }
}

/** A place that parsing names is of no use beside the text; that it was not parsed is. */
const tooDeep = (thrown: unknown): string => (/^nested/.test(String((thrown as Error).message)) ? ` of a usable form (${(thrown as Error).message})` : "");

/** An object where it is JSON, else its text. */
export function parsed(text: string): unknown {
  try {
    return parseShallow(text);
  } catch {
    return text;
  }
}

async function refused(response: Response, reader: AnswerReader): Promise<Error> {
  return errorOfText(response, await readWhole(response, reader), reader);
}

/** What a response that is no answer stands for, by its body. */
export function errorOfText({ status, headers }: Response, text: string, reader: Pick<AnswerReader, "errorOfRefusal" | "scrub">): Error {
  if (status < 300 || status >= 400) return reader.errorOfRefusal({ status, body: parsed(text), headers });
  const target = headers.get("location");
  const where = target === null ? "elsewhere" : `to ${reader.scrub(shownUrl(target))}`;
  return badAnswer("invalid_response", `HTTP ${status}: the endpoint redirects ${where}, which is not followed; name the address itself (-b)`);
}

/** The body. Throws `RequestFailed` where it breaks off, or is too large. */
export async function readWhole(response: Response, reader: Pick<AnswerReader, "scrub">): Promise<string> {
  try {
    return await readText(response, MAX_ANSWER_BYTES);
  } catch (thrown) {
    throw broken(thrown, reader);
  }
}

/** What reading a body threw, as the failure of its request. */
export function broken(thrown: unknown, { scrub }: Pick<AnswerReader, "scrub">): RequestFailed {
  if (thrown instanceof BodyTooLarge) return badAnswer("row_too_large", `the answer is larger than ${MAX_ANSWER_BYTES} bytes (${thrown.message})`);
  return new RequestFailed(failureOfNetwork(thrown, true, scrub));
}

async function foldStream(body: ReadableStream<Uint8Array>, reader: AnswerReader): Promise<unknown> {
  const fold = reader.streamFold();
  const events = readEvents(body, MAX_STREAMED_ANSWER_CHARACTERS);
  let done = false;
  try {
    for (;;) {
      // Only reading is the network's; what an event says is not.
      const next = await events.next().catch((thrown: unknown) => {
        throw broken(thrown, reader);
      });
      if (next.done) break;
      reader.onAnswer?.();
      const { data } = next.value;
      if (data === "[DONE]") done = true;
      else addTo(fold, data, reader);
    }
  } finally {
    await events.return(undefined);
  }
  const whole = fold.result(done);
  if (whole === null) throw new RequestFailed(failureOfNetwork(new Error("the stream ended before the answer did"), true, reader.scrub));
  return whole;
}

function addTo(fold: StreamFold, data: string, { scrub }: AnswerReader): void {
  const fields = record(parsed(data));
  if (fields === null) throw badAnswer("malformed_response", `an event of the answer is not JSON: ${scrub(data)}`);
  fold.add(fields);
  if (fold.size > MAX_STREAMED_ANSWER_CHARACTERS)
    throw badAnswer("row_too_large", `the streamed answer is longer than ${MAX_STREAMED_ANSWER_CHARACTERS} characters`);
}
