import type { CollectedJob, Grant } from "../../../durable-objects/run/protocol.ts";
import { answersKey } from "../../../r2-layout/keys.ts";
import type { Batched, BatchedAnswer, BatchedRequest } from "../../clients/batching/batch-route.ts";
import { badAnswer } from "../../clients/transport/request-failure.ts";
import { placesOf } from "../../config/plan/run-config.ts";
import { MAX_ANSWER_BYTES } from "../../limits.ts";
import { rolloutOf } from "../../rollouts/state/asked-questions.ts";
import { trajectoryOf } from "../../rollouts/state/judge-usage.ts";
import type { Client } from "../../rollouts/types.ts";
import { askedPlace } from "../endpoints/asked-place.ts";
import type { ExecutorPorts, ExecutorStore } from "../ports.ts";
import type { Slice } from "../slice.ts";
import type { TicketHost } from "../units/ticket-host.ts";
import { AnswerIndexes, type FoundAnswer, type IndexesHost } from "./answer-indexes.ts";
import { AnswerWindows } from "./answer-windows.ts";
import { AskedBy } from "./asked-by.ts";
import { Breather } from "./breather.ts";
import { unaskable } from "./askable.ts";
import { type NameRequest, nameRequests } from "./question-id.ts";
import { unanswered } from "./unanswered.ts";

export interface AnswersHost extends IndexesHost {
  readonly store: Pick<ExecutorStore, "readAll" | "read">;
  readonly sleep: ExecutorPorts["sleep"];
}

/** A unit that is played for its answers. */
interface Answered {
  readonly unit: number;
}

/** Answers rollouts of one grant from jobs that were collected: each its first question, and no other. */
export class BatchAnswers implements Batched {
  readonly #runId: string;
  readonly #name: NameRequest;
  readonly #indexes: AnswerIndexes;
  readonly #windows: AnswerWindows;
  readonly #breather: Breather;
  readonly #asked = new AskedBy<Answered>();
  readonly #jobs = new Map<number, readonly CollectedJob[]>();
  /** Rollouts that have asked, by what their states share. */
  readonly #answered = new WeakSet<object>();

  constructor(host: AnswersHost, runId: string, name: NameRequest) {
    this.#runId = runId;
    this.#name = name;
    this.#indexes = new AnswerIndexes(host, runId);
    this.#windows = new AnswerWindows(host);
    this.#breather = new Breather(host.sleep);
  }

  /** The client of a unit. */
  of(unit: number, client: Client): Client {
    return this.#asked.of({ unit }, client);
  }

  /** The unit is played now, and these jobs may have its answers; the function that it gives back says that it is over. */
  begin(unit: number, jobs: readonly CollectedJob[]): () => void {
    this.#jobs.set(unit, jobs);
    return () => void this.#jobs.delete(unit);
  }

  /** Holds nothing any more. */
  close(): void {
    this.#indexes.drop();
    this.#windows.drop();
  }

  async answer(request: BatchedRequest, signal: AbortSignal | null): Promise<BatchedAnswer> {
    const { state } = request;
    const unit = this.#asked.ownerOf(state)?.unit;
    const rollout = rolloutOf(state);
    if (unit === undefined || rollout === null) throw unanswered("it does not say which rollout asks, and with --batch answers are known by that");
    this.#isFirst(state);
    await this.#breather.breathe();
    const { answer, lost } = await this.#indexes.saidOf(this.#jobs.get(unit) ?? [], await this.#name(unit, rollout, request));
    signal?.throwIfAborted();
    if (answer !== null) return await this.#read(answer);
    if (lost !== null) throw unanswered(`its request came back from a batch without an answer (${lost.why}): ${lost.message}`);
    throw unanswered(
      unaskable(JSON.stringify(request.body)) ?? "it asks something that was in no batch: it asked something else, or nothing, when its requests were written",
    );
  }

  #isFirst(state: BatchedRequest["state"]): void {
    const rollout = trajectoryOf(state) ?? state;
    if (this.#answered.has(rollout)) throw unanswered("it asks the model a second time: --batch is for environments of one turn");
    this.#answered.add(rollout);
  }

  async #read({ status, part, offset, length, index, size }: FoundAnswer): Promise<BatchedAnswer> {
    if (part === null) throw badAnswer("row_too_large", `the answer is larger than ${MAX_ANSWER_BYTES} bytes (${length})`);
    const bytes = await this.#windows.read({ key: answersKey(this.#runId, index, part), size, offset, length });
    return { status, text: new TextDecoder().decode(bytes) };
  }
}

/** What units of a grant are answered by; undefined where each of their requests is sent. */
export function batchAnswers(
  { config }: Grant,
  { store, bytes, sleep }: Pick<ExecutorPorts, "store" | "bytes" | "sleep">,
  slice: Pick<Slice, "spend">,
): BatchAnswers | undefined {
  const [first] = placesOf(config);
  if (config.batch !== true || first === undefined) return undefined;
  return new BatchAnswers({ store, bytes, sleep, slice }, config.run_id, nameRequests(askedPlace(config, first)));
}

/** What a ticket has of that. */
export function answeredBy(
  batched: BatchAnswers | undefined,
  { clientOf }: Pick<TicketHost, "clientOf">,
): Pick<TicketHost, "answersOf"> & Partial<Pick<TicketHost, "clientOf">> {
  if (batched === undefined) return {};
  return { clientOf: (unit) => batched.of(unit, clientOf(unit)), answersOf: (unit, jobs) => batched.begin(unit, jobs) };
}
