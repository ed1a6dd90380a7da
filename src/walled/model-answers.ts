import type { WatchedCall } from "../environments/unit/call-waits.ts";
import { refusedReply } from "../clients/relay/refused-reply.ts";
import { relayed } from "../clients/relay/relayed.ts";
import { scoreTexts } from "../clients/scoring/score-texts.ts";
import type { JsonObject } from "../config/plan/run-config.ts";
import { crossing } from "../environment-protocol/crossed-error.ts";
import type { Outbox } from "../environment-protocol/outbox.ts";
import type { ToEngineOf } from "../environment-protocol/to-engine.ts";
import type { ToEnvironmentOf } from "../environment-protocol/to-environment.ts";
import type { BoundEndpoint } from "../environments/definition/definition.ts";
import { EdgewiseError } from "../errors/result.ts";
import { MAX_WALLED_CALL_CHARACTERS, MAX_WALLED_CALLS_CHARACTERS, MIB } from "../limits.ts";
import { JsonCheck } from "../rollouts/kept/json-problem.ts";
import type { Client, ModelCall, ModelRequest } from "../rollouts/types.ts";

type Call = ToEngineOf<"call">;

/** The unit that a call is for, as far as calls go. */
export interface AskingUnit {
  readonly client: Client | null;
  /** The model under evaluation, whatever the call says. */
  readonly model: string;
  readonly exampleId: number;
  /** Calls under way, and how many there may be. */
  calls: number;
  readonly mostCalls: number;
  /** The state that a model is asked about, by its number: what a judge takes, and how calls are answered, is counted for it. */
  readonly standIn: (state: number, rollout?: number) => Readonly<Record<string, unknown>>;
  /** One of its calls was answered, or is: it is heard of. */
  readonly heard: () => void;
  /** It makes a call: what is told of that shows which time is its own. */
  readonly called: () => WatchedCall;
  /** One of its calls holds its permit. */
  readonly permitted: () => void;
  /** A call was refused for good. */
  readonly refused: (error: EdgewiseError) => void;
}

interface Open {
  readonly unit: AskingUnit | null;
  readonly controller: AbortController;
  readonly characters: number;
}

/** Other models that one session may name. */
const MAX_ENDPOINTS = 16;
/** Calls at once that are for no unit. */
const MAX_UNNAMED = 256;

/** Makes the model calls that an environment behind a wall asks for, with clients that it never sees. */
export class ModelAnswers {
  readonly #outbox: Outbox;
  readonly #clientOf: ((endpoint: BoundEndpoint) => Client) | undefined;
  readonly #now: () => number;
  readonly #open = new Map<number, Open>();
  readonly #clients = new Map<string, Client>();
  readonly #rested: AbortController[] = [];
  #last = 0;
  #unnamed = 0;
  #characters = 0;

  constructor(outbox: Outbox, { client, now }: { readonly client: ((endpoint: BoundEndpoint) => Client) | undefined; readonly now: () => number }) {
    this.#outbox = outbox;
    this.#clientOf = client;
    this.#now = now;
  }

  /** Calls that are for no unit: none is silent meanwhile. */
  get unnamed(): number {
    return this.#unnamed;
  }

  /** Makes a call for `unit`; `over`: it names one that is over. Returns what is wrong with its number, if anything. */
  ask(message: Call, unit: AskingUnit | null, over: boolean): string | null {
    const { call } = message;
    if (call <= this.#last) return `it gave the number ${call} to a second call`;
    this.#last = call;
    const problem = over ? "the unit that this call is for is over" : this.#problemOf(unit);
    if (problem !== null) return this.#refuse(call, problem);
    const check = new JsonCheck(MAX_WALLED_CALL_CHARACTERS);
    const left = check.left;
    if (check.problemOf(message.request, "request") !== null) return this.#refuse(call, `a request is JSON of at most ${MAX_WALLED_CALL_CHARACTERS / MIB} MiB`);
    const characters = left - check.left;
    if (this.#characters + characters > MAX_WALLED_CALLS_CHARACTERS)
      return this.#refuse(call, `the requests under way are ${MAX_WALLED_CALLS_CHARACTERS / MIB} MiB already`);
    const open = { unit, controller: this.#rested.pop() ?? new AbortController(), characters };
    this.#open.set(call, open);
    this.#count(open, 1);
    void this.#make(message, open);
    return null;
  }

  #problemOf(unit: AskingUnit | null): string | null {
    if (unit === null) return this.#unnamed < MAX_UNNAMED ? null : `${MAX_UNNAMED} calls for no rollout are under way`;
    return unit.calls < unit.mostCalls ? null : `${unit.mostCalls} calls of its unit are under way`;
  }

  #refuse(call: number, problem: string): null {
    this.#outbox.put({ type: "answer", call, error: crossing(new EdgewiseError("environment_error", `a model call was not made: ${problem}`)) });
    return null;
  }

  #count({ unit, characters }: Open, by: 1 | -1): void {
    this.#characters += by * characters;
    if (unit === null) this.#unnamed += by;
    else unit.calls += by;
  }

  cancel(call: number): void {
    this.#end(call, new Error("the environment wants no answer any more"));
  }

  /** Ends all calls of `unit`, or all that there are; nothing is told. */
  endAll(reason: unknown, unit?: AskingUnit): void {
    for (const [call, open] of [...this.#open]) if (unit === undefined || open.unit === unit) this.#end(call, reason);
  }

  #end(call: number, reason: unknown): void {
    const open = this.#open.get(call);
    if (open === undefined) return;
    this.#close(call, open);
    open.controller.abort(reason);
  }

  #close(call: number, open: Open): void {
    this.#open.delete(call);
    this.#count(open, -1);
    this.#outbox.unsay(`permitted ${call}`);
    this.#outbox.unsay(`answering ${call}`);
    this.#outbox.unsay(`waits ${call}`);
  }

  async #make(message: Call, open: Open): Promise<void> {
    const { call } = message;
    let answer: Answered;
    let permittedAt: number | null = null;
    const watched = open.unit?.called() ?? null;
    try {
      const client = this.#clientFor(message.to, open.unit);
      const base: ModelCall = {
        model: message.to === null && open.unit !== null ? open.unit.model : nameOf(message.request),
        state: stateOf(message, open.unit),
        signal: open.controller.signal,
        onBegin: () => {
          permittedAt = this.#now();
          const at = permittedAt;
          watched?.permitted();
          open.unit?.permitted();
          this.#outbox.later(`permitted ${call}`, () => ({ message: { type: "permitted", call, at }, characters: 0 }));
        },
        onWait: (waiting) => {
          const at = this.#now();
          watched?.waits(waiting);
          // Told before, so that it is known in time that the call had one.
          this.#outbox.now(`permitted ${call}`);
          this.#outbox.later(`waits ${call}`, () => ({ message: { type: "waits", call, waiting, at }, characters: 0 }));
        },
      };
      answer = await this.#answerOf(client, message, base);
    } catch (thrown) {
      if (thrown instanceof EdgewiseError) open.unit?.refused(thrown);
      const reply = refusedReply(thrown);
      answer = { ...(reply === null ? {} : { reply }), error: crossing(thrown) };
    } finally {
      watched?.over();
    }
    if (this.#open.get(call) !== open) return;
    // What was not told yet goes with the answer.
    const untold = permittedAt !== null && this.#outbox.unsay(`permitted ${call}`) ? { permitted_at: permittedAt } : {};
    const begun = this.#outbox.unsay(`answering ${call}`) ? { answering: true } : {};
    this.#close(call, open);
    if (this.#rested.length < MAX_UNNAMED) this.#rested.push(open.controller);
    open.unit?.heard();
    this.#outbox.put({ type: "answer", call, ...untold, ...begun, ...answer }, open.characters + (answer.reply?.text.length ?? 0));
  }

  async #answerOf(client: Client, { call, watches, request }: Call, base: ModelCall): Promise<Answered> {
    if (request.kind === "scores") {
      const { texts, top } = request;
      return { scores: await scoreTexts(client, { ...base, texts, ...(top === undefined ? {} : { top }) }) };
    }
    const onAnswer = (): void => this.#outbox.later(`answering ${call}`, () => ({ message: { type: "answering", call }, characters: 0 }));
    if (request.kind === "relay") {
      const { route, body } = request;
      return { reply: await relayed(client, { ...base, route, body: body as JsonObject, ...(watches ? { onAnswer } : {}) }) };
    }
    const { prompt, sampling_args, tools } = request;
    const asked: ModelRequest = {
      ...base,
      prompt: prompt as unknown as ModelRequest["prompt"],
      sampling_args: sampling_args as JsonObject,
      tools: tools as unknown as ModelRequest["tools"],
      onAnswer,
      visibly: watches,
    };
    return { response: await client.getResponse(asked) };
  }

  #clientFor(to: Call["to"], unit: AskingUnit | null): Client {
    if (to === null) {
      if (unit?.client === undefined || unit.client === null)
        throw new EdgewiseError("environment_error", "a call of the model under evaluation is for no rollout");
      return unit.client;
    }
    const name = JSON.stringify([to.base_url, to.api_key_var, to.client_type]);
    let client = this.#clients.get(name);
    if (client === undefined) {
      if (this.#clientOf === undefined)
        throw new EdgewiseError("environment_failed", "this host gives environments no model to call beside the one that is evaluated");
      if (this.#clients.size >= MAX_ENDPOINTS) throw new EdgewiseError("environment_error", `an environment may call ${MAX_ENDPOINTS} other models`);
      client = this.#clientOf(to as BoundEndpoint);
      this.#clients.set(name, client);
    }
    return client;
  }
}

/** The parts of an answer that say what became of the call. */
type Answered = Pick<ToEnvironmentOf<"answer">, "reply" | "error"> & { readonly response?: object; readonly scores?: readonly object[] };

/** A relayed request is for the model under evaluation, whatever its body says. */
const nameOf = (request: Call["request"]): string => (request.kind === "relay" ? "" : (request.model ?? ""));

function stateOf({ to, state, rollout, state_values }: Call, unit: AskingUnit | null): Readonly<Record<string, unknown>> {
  if (unit === null) return {};
  const standIn = state === null ? { example_id: unit.exampleId } : unit.standIn(state, rollout);
  return to !== null ? standIn : { ...standIn, ...state_values, example_id: unit.exampleId };
}
