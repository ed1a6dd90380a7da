import { onAbort } from "../clients/transport/on-abort.ts";
import { withReply } from "../clients/relay/refused-reply.ts";
import { EdgewiseError } from "../errors/result.ts";
import { thrownOf } from "../environment-protocol/crossed-error.ts";
import type { Outbox } from "../environment-protocol/outbox.ts";
import type { ToEngineOf } from "../environment-protocol/to-engine.ts";
import type { ToEnvironmentOf } from "../environment-protocol/to-environment.ts";
import { rolloutOf } from "../rollouts/state/asked-questions.ts";
import type { Client, ModelCall, ModelRequest, ModelResponse, PromptScore, RelayReply, RelayRequest, ScoreRequest } from "../rollouts/types.ts";

type Call = ToEngineOf<"call">;

/** What a call needs of the unit that it is for. */
export interface CallingUnit {
  readonly unit: number;
  /** Keys of the state whose values go with a call of the model under evaluation. */
  readonly stateKeys: readonly string[];
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (thrown: unknown) => void;
  readonly onBegin: (() => void) | undefined;
  readonly onWait: ((waiting: boolean) => void) | undefined;
  readonly onAnswer: (() => void) | undefined;
  readonly letGo: () => void;
  begun: boolean;
  answering: boolean;
}

/** Model calls that the engine's side makes for the environment: its clients ask by messages. */
export class ModelCalls {
  readonly #outbox: Outbox;
  readonly #now: { at: number | null };
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  /** States by their trajectories, which copies of a state share; the units that they were seen in. */
  readonly #states = new WeakMap<object, { readonly id: number; unit: number | null }>();
  /** The units of the clients of the model under evaluation: a rollout that is scored from its row calls none before its judge. */
  readonly #unitsOf = new WeakMap<object, number>();
  #ids = 0;

  /** `clock`: what the time is taken for while a call begins. */
  constructor(outbox: Outbox, clock: { at: number | null }) {
    this.#outbox = outbox;
    this.#now = clock;
  }

  /** The model under evaluation, for one unit. */
  ofUnit(unit: CallingUnit, type: string, scores: boolean): Client {
    const client = this.#client(type, scores, null, unit);
    this.#unitsOf.set(client, unit.unit);
    return client;
  }

  /** Another model. */
  of(endpoint: NonNullable<Call["to"]>): Client {
    return this.#client(endpoint.client_type ?? "openai_chat_completions", true, endpoint, null);
  }

  /** The number under which calls named the state; null where none did. */
  stateOf({ trajectory }: { readonly trajectory?: unknown }): number | null {
    return typeof trajectory === "object" && trajectory !== null ? (this.#states.get(trajectory)?.id ?? null) : null;
  }

  #client(type: string, scores: boolean, to: Call["to"], unit: CallingUnit | null): Client {
    return {
      type,
      getResponse: (request) => this.#ask(request, to, unit, responseRequest(request)) as Promise<ModelResponse>,
      ...(to === null ? { relay: (request: RelayRequest) => this.#ask(request, to, unit, relayRequest(request)) as Promise<RelayReply> } : {}),
      ...(scores ? { score: (request: ScoreRequest) => this.#ask(request, to, unit, scoreRequest(request)) as Promise<PromptScore[]> } : {}),
    };
  }

  #ask(request: ModelCall & Pick<ModelRequest, "onAnswer" | "visibly">, to: Call["to"], unit: CallingUnit | null, asked: Call["request"]): Promise<unknown> {
    const { signal } = request;
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const call = ++this.#calls;
    const state = this.#seen(request.state, unit);
    const rollout = rolloutOf(request.state);
    const stateKeys = to === null ? (unit?.stateKeys ?? []) : [];
    return new Promise((resolve, reject) => {
      const letGo = signal === null || signal === undefined ? nothing : onAbort(signal, () => this.#cancel(call, signal.reason));
      this.#pending.set(call, {
        resolve,
        reject,
        onBegin: request.onBegin,
        onWait: request.onWait,
        onAnswer: request.onAnswer,
        letGo,
        begun: false,
        answering: false,
      });
      this.#outbox.put({
        type: "call",
        call,
        unit: unit?.unit ?? state?.unit ?? null,
        to,
        state: state?.id ?? null,
        ...(rollout === null ? {} : { rollout }),
        ...(stateKeys.length === 0 ? {} : { state_values: valuesOf(request.state, stateKeys) }),
        watches: request.visibly === true && request.onAnswer !== undefined,
        request: asked,
      } satisfies Call);
    });
  }

  #seen(state: unknown, unit: CallingUnit | null): { readonly id: number; unit: number | null } | null {
    const trajectory: unknown = typeof state === "object" && state !== null ? (state as { trajectory?: unknown }).trajectory : null;
    if (!Array.isArray(trajectory)) return null;
    let known = this.#states.get(trajectory);
    if (known === undefined) {
      known = { id: ++this.#ids, unit: unit?.unit ?? null };
      this.#states.set(trajectory, known);
    }
    known.unit ??= unit?.unit ?? this.#unitOf(state as { readonly client?: unknown });
    return known;
  }

  #unitOf({ client }: { readonly client?: unknown }): number | null {
    return typeof client === "object" && client !== null ? (this.#unitsOf.get(client) ?? null) : null;
  }

  #cancel(call: number, reason: unknown): void {
    const pending = this.#take(call);
    if (pending === undefined) return;
    this.#outbox.put({ type: "cancel_call", call });
    pending.reject(reason);
  }

  #take(call: number): Pending | undefined {
    const pending = this.#pending.get(call);
    this.#pending.delete(call);
    pending?.letGo();
    return pending;
  }

  permitted({ call, at }: ToEnvironmentOf<"permitted">): void {
    this.#begin(this.#pending.get(call), at);
  }

  #begin(pending: Pending | undefined, at: number): void {
    if (pending === undefined || pending.begun) return;
    pending.begun = true;
    this.#now.at = at;
    try {
      pending.onBegin?.();
    } finally {
      this.#now.at = null;
    }
  }

  waits({ call, waiting, at }: ToEnvironmentOf<"waits">): void {
    const pending = this.#pending.get(call);
    if (pending === undefined) return;
    this.#now.at = at;
    try {
      pending.onWait?.(waiting);
    } finally {
      this.#now.at = null;
    }
  }

  answering(call: number): void {
    const pending = this.#pending.get(call);
    if (pending === undefined || pending.answering) return;
    pending.answering = true;
    pending.onAnswer?.();
  }

  answered({ call, permitted_at, answering, response, scores, reply, error }: ToEnvironmentOf<"answer">): void {
    if (permitted_at !== undefined) this.#begin(this.#pending.get(call), permitted_at);
    if (answering === true) this.answering(call);
    const pending = this.#take(call);
    if (pending === undefined) return;
    if (response !== undefined) pending.resolve(response);
    else if (scores !== undefined) pending.resolve(scores);
    else if (error !== undefined) pending.reject(withReply(thrownOf(error), reply));
    else if (reply !== undefined) pending.resolve(reply);
    else pending.reject(new EdgewiseError("internal", "a model call was answered with nothing"));
  }
}

const nothing = (): void => undefined;

const responseRequest = ({ prompt, sampling_args, tools, model }: ModelRequest): Call["request"] =>
  ({ kind: "response", prompt, sampling_args, tools, model }) as unknown as Call["request"];

const relayRequest = ({ route, body }: RelayRequest): Call["request"] => ({ kind: "relay", route, body });

const scoreRequest = ({ texts, top, model }: ScoreRequest): Call["request"] =>
  ({ kind: "scores", texts, ...(top === undefined ? {} : { top }), model }) as Call["request"];

function valuesOf(state: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const key of keys) {
    const value = Object.hasOwn(state, key) ? state[key] : undefined;
    if (value === undefined || value === null) continue;
    // What a header carries of it is a text in any case.
    values[key] = typeof value === "object" ? (JSON.parse(JSON.stringify(value)) as unknown) : typeof value === "string" ? value : String(value);
  }
  return values;
}
