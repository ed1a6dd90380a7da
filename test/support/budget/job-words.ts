import { BUDGET_PROTOCOL, type JobRequest, type JobWord } from "../../../durable-objects/budget/budget-control.ts";

/** A grant as a Budget hears it speak of one job. */
export class JobSpeaker {
  readonly job: string;
  readonly epoch: number;
  #seq = 0;

  constructor(job = "0000abcd/1", epoch = 1) {
    this.job = job;
    this.epoch = epoch;
  }

  says(word: JobWord): JobRequest {
    this.#seq++;
    return this.again(word);
  }

  /** Under the same number. */
  again(word: JobWord): JobRequest {
    return { protocol: BUDGET_PROTOCOL, job: this.job, epoch: this.epoch, seq: this.#seq, word };
  }

  ask = (least = 0): JobRequest => this.says({ kind: "ask", least });
  reserve = (amount: number, least = amount): JobRequest => this.says({ kind: "reserve", amount, requests: 2, least });
  send = (amount: number): JobRequest => this.says({ kind: "send", amount, requests: 2, least: amount });
  release = (): JobRequest => this.says({ kind: "release" });
  lose = (): JobRequest => this.says({ kind: "lose" });
  settle = (settled: number, unseen = { calls: 0, amount: 0 }): JobRequest => this.says({ kind: "settle", settled, unseen });
}
