import {
  ANSWER_PROTOCOL,
  type AnswerDeskControl,
  type AnswerParty,
  type DeskAnswer,
  type DeskRequest,
  type DoneAnswer,
  MAX_CLAIMS,
  type QuestionDigest,
  type Standing,
} from "../../../durable-objects/answers/answer-desk-control.ts";
import type { Timer } from "../../clients/transport/timer.ts";
import { failureOf } from "../../errors/result.ts";

/** What is wanted within so many milliseconds goes out together. */
const COLLECT_MS = 4;
/** A desk that does not answer in so many milliseconds is gone on without. */
const ANSWER_MS = 3_000;
/** And is not asked again for so many. */
const SILENT_MS = 10_000;
/** Of a lease, how much goes by before it is begun anew. */
const HOLD_SHARE = 1 / 3;

export interface DeskPorts {
  readonly party: AnswerParty;
  /** Whether what nobody has is claimed. */
  readonly claims: boolean;
  /** A fresh stub per call. */
  readonly desk: () => Pick<AnswerDeskControl, "ask"> | null;
  /** Milliseconds. */
  readonly now: () => number;
  readonly timer: Timer;
  /** The desk does not answer, or refuses to. */
  readonly onTrouble: (message: string) => void;
}

interface Want {
  readonly digest: QuestionDigest;
  readonly missing: boolean;
  readonly settle: (standing: Standing | null) => void;
}

interface Done {
  readonly answer: DoneAnswer;
  readonly settle: () => void;
}

/** What one executor has with one desk: wants, claims and answers of a few milliseconds are one call, and claims are held for as long as they are asked. */
export class DeskLink {
  readonly #ports: DeskPorts;
  #wants: Want[] = [];
  #done: Done[] = [];
  #dropped: QuestionDigest[] = [];
  readonly #held = new Set<QuestionDigest>();
  #leaseMs = 0;
  #silentUntil = Number.NEGATIVE_INFINITY;
  #collecting = false;
  #holding: (() => void) | null = null;

  constructor(ports: DeskPorts) {
    this.#ports = ports;
  }

  /** What becomes of a question; null = the desk says nothing. Never rejects. `missing`: the desk said that its answer is there, and it is not. */
  want(digest: QuestionDigest, missing: boolean): Promise<Standing | null> {
    if (this.#isSilent) return Promise.resolve(null);
    return new Promise((settle) => {
      this.#wants.push({ digest, missing, settle });
      this.#collect();
    });
  }

  /** The claim ends with an answer that is in R2. Resolves when the desk knows it, or cannot be told. */
  done(answer: DoneAnswer): Promise<void> {
    this.#held.delete(answer.digest);
    return new Promise((settle) => {
      this.#done.push({ answer, settle });
      this.#collect();
    });
  }

  /** The claim ends without one. */
  drop(digest: QuestionDigest): void {
    this.#held.delete(digest);
    this.#dropped.push(digest);
    this.#collect();
  }

  /** Nothing is held any more. */
  close(): void {
    this.#holding?.();
    this.#holding = null;
    this.#dropped.push(...this.#held);
    this.#held.clear();
    this.#send();
  }

  get #isSilent(): boolean {
    return this.#ports.now() < this.#silentUntil;
  }

  #collect(): void {
    if (this.#collecting) return;
    this.#collecting = true;
    this.#ports.timer(COLLECT_MS, () => {
      this.#collecting = false;
      this.#send();
    });
  }

  #send(): void {
    const { party, claims, timer } = this.#ports;
    const wants = this.#wants.splice(0, MAX_CLAIMS);
    const done = this.#done.splice(0, MAX_CLAIMS);
    const dropped = this.#dropped.splice(0, MAX_CLAIMS);
    const holds = [...this.#held];
    if (wants.length + done.length + dropped.length + holds.length === 0) return;
    if (this.#wants.length + this.#done.length + this.#dropped.length > 0) this.#collect();
    let isOver = false;
    const end = (answer: DeskAnswer | null): void => {
      if (isOver) return this.#late(wants, answer);
      isOver = true;
      late();
      for (const { settle } of done) settle();
      this.#settle(wants, answer);
    };
    const failed = (message: string): void => {
      if (!isOver) this.#trouble(message);
      end(null);
    };
    const late = timer(ANSWER_MS, () => failed("no answer"));
    const request: DeskRequest = {
      protocol: ANSWER_PROTOCOL,
      party,
      wants: wants.map(({ digest }) => digest),
      claims,
      missing: wants.flatMap(({ digest, missing }) => (missing ? [digest] : [])),
      done: done.map(({ answer }) => answer),
      dropped,
      holds,
    };
    const desk = this.#ports.desk();
    if (desk === null) return failed("there is none any more");
    desk.ask(request).then(end, (thrown: unknown) => failed(failureOf(thrown).message));
  }

  #settle(wants: readonly Want[], answer: DeskAnswer | null): void {
    if (answer?.kind === "refused") this.#trouble(answer.message);
    const standings = answer?.kind === "ok" ? answer.standings : null;
    for (const [at, { digest, settle }] of wants.entries()) {
      const standing = standings?.[at] ?? null;
      if (standing === "yours") this.#held.add(digest);
      settle(standing);
    }
    if (answer?.kind === "ok") this.#leaseMs = answer.lease_ms;
    this.#keepHolding();
  }

  /** An answer that was given up: what it gave nobody uses. */
  #late(wants: readonly Want[], answer: DeskAnswer | null): void {
    if (answer?.kind !== "ok") return;
    for (const [at, { digest }] of wants.entries()) if (answer.standings[at] === "yours" && !this.#held.has(digest)) this.drop(digest);
  }

  #keepHolding(): void {
    if (this.#holding !== null || this.#held.size === 0) return;
    this.#holding = this.#ports.timer(Math.ceil(this.#leaseMs * HOLD_SHARE), () => {
      this.#holding = null;
      if (this.#held.size === 0) return;
      this.#send();
      this.#keepHolding();
    });
  }

  #trouble(message: string): void {
    this.#silentUntil = this.#ports.now() + SILENT_MS;
    this.#ports.onTrouble(message);
  }
}
