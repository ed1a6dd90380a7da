import type { ModelCall, PromptScore } from "../../rollouts/types.ts";
import { JointSignal } from "./joint-signal.ts";

/** One text that is to be scored, with the call that asked for it. */
export interface ScoredCall {
  readonly text: string;
  readonly call: ModelCall;
}

interface Member extends ScoredCall {
  readonly resolve: (score: PromptScore) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Texts that go out in one request. Others may join until the request holds its permit, so that the more there is to wait for, the more go
 * together. Who gives up takes only its own text out; the request ends when nobody is left.
 */
export class Batch {
  readonly #joint = new JointSignal();
  readonly #limit: { readonly texts: number; readonly characters: number };
  #members: Member[] = [];
  #characters = 0;
  #sealed = false;
  #begun = false;
  #tellFull: () => void = () => undefined;
  /** Resolves when no more may join. */
  readonly full: Promise<void>;

  constructor(limit: { readonly texts: number; readonly characters: number }) {
    this.#limit = limit;
    this.full = new Promise((resolve) => {
      this.#tellFull = resolve;
    });
  }

  get signal(): AbortSignal {
    return this.#joint.signal;
  }

  get members(): readonly ScoredCall[] {
    return this.#members;
  }

  /** Of all texts that have joined. */
  get characters(): number {
    return this.#characters;
  }

  /** Whether a text of so many characters may join: any may be the first. */
  takes(text: string): boolean {
    if (this.#sealed || this.signal.aborted) return false;
    return this.#members.length === 0 || (this.#members.length < this.#limit.texts && this.#characters + text.length <= this.#limit.characters);
  }

  join({ text, call }: ScoredCall): Promise<PromptScore> {
    const score = new Promise<PromptScore>((resolve, reject) => {
      this.#members.push({ text, call, resolve, reject });
    });
    this.#characters += text.length;
    if (this.#members.length >= this.#limit.texts || this.#characters >= this.#limit.characters) this.#tellFull();
    return this.#joint.join(call.signal, score);
  }

  /** The texts that go out: no more join from now on. */
  seal(): readonly string[] {
    if (!this.#sealed) {
      this.#sealed = true;
      this.#members = this.#members.filter(({ call }) => call.signal?.aborted !== true);
    }
    if (!this.#begun) for (const { call } of this.#members) call.onBegin?.();
    this.#begun = true;
    return this.#members.map(({ text }) => text);
  }

  /** Its request waits to be sent again, or goes on. */
  waits(waiting: boolean): void {
    for (const { call } of this.#members) call.onWait?.(waiting);
  }

  /** Its halves, each sealed and begun; for a request that may have failed by one of its texts. */
  halves(): readonly Batch[] {
    const middle = Math.ceil(this.#members.length / 2);
    return [this.#members.slice(0, middle), this.#members.slice(middle)].map((members) => this.#part(members));
  }

  #part(members: readonly Member[]): Batch {
    const part = new Batch(this.#limit);
    for (const { text, call, resolve, reject } of members) part.join({ text, call }).then(resolve, reject);
    part.#begun = true;
    part.seal();
    return part;
  }

  resolve(scores: readonly PromptScore[]): void {
    for (const [at, { resolve, reject }] of this.#members.entries()) {
      const score = scores[at];
      if (score === undefined) reject(new RangeError("a text was scored without an answer"));
      else resolve(score);
    }
  }

  reject(reason: unknown): void {
    for (const member of this.#members) member.reject(reason);
  }
}
