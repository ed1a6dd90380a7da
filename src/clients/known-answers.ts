import type { Json, JsonObject } from "../config/plan/run-config.ts";
import type { RelayRoute } from "../rollouts/types.ts";

/** What of a request its answer depends on, beside the place that it is sent to. */
export interface Question {
  /** Of a request that is passed on; null = it is the client's own route. */
  readonly route: RelayRoute | null;
  readonly model: string;
  readonly body: JsonObject;
  /** What decides the answer beside the body; absent = nothing does. */
  readonly beside?: Json;
  /** Says which attempt at an answer it is. */
  readonly state: Readonly<Record<string, unknown>>;
}

/** What is known of a question. Of one that is to be asked exactly one of the two is called, once. */
export type Finding =
  | { readonly kind: "kept"; readonly answer: Json }
  | {
      readonly kind: "ask";
      /** With the answer as JSON, for others; resolves when it is kept, or when that takes too long. Never rejects. */
      readonly take: (text: string) => Promise<void>;
      /** There is no answer that others could take. `failed`: nor any at all. */
      readonly drop: (failed: boolean) => void;
    };

/** Answers that were kept from earlier calls (src/executor/answers/). */
export interface KnownAnswers {
  /** Rejects with the signal's reason, and with nothing else: whatever is the matter with answers that are kept, the question can be asked. */
  find(question: Question, signal: AbortSignal | null): Promise<Finding>;
}

export interface Asking<T> {
  /** The value of an answer that was kept. Throws for one that is none any more. */
  readonly open: (answer: Json) => T;
  readonly ask: () => Promise<{ readonly value: T; readonly answer: unknown }>;
  /** Blots out secrets. */
  readonly blot: (text: string) => string;
}

/** Takes the answer that is kept, or asks and has it kept: whole good answers only, and none that repeats a secret. Rejects as `ask` does. */
export async function knownOrAsked<T>(answers: KnownAnswers, question: Question, signal: AbortSignal | null, { open, ask, blot }: Asking<T>): Promise<T> {
  const found = await answers.find(question, signal);
  if (found.kind === "kept") {
    try {
      return open(found.answer);
    } catch {
      // It was taken for an answer once, by another version: it is asked for as if there were none.
      return (await ask()).value;
    }
  }
  let asked: Awaited<ReturnType<typeof ask>>;
  try {
    asked = await ask();
  } catch (thrown) {
    found.drop(true);
    throw thrown;
  }
  const text = JSON.stringify(asked.answer) as string | undefined;
  if (text === undefined || blot(text) !== text) found.drop(false);
  else await found.take(text);
  return asked.value;
}
