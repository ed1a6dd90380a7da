/** Fetches what states do not carry (metrics, pass@k, the interval) now and then: one request at a time, however many runs there are. */
import type { ServiceClient } from "../connection/http-client.ts";
import type { RunNumbers, RunView } from "./run-view.ts";

/** Age at which the numbers of the run that is looked at, and of the others, are asked for again. The service computes them every five seconds at most. */
const SELECTED_MS = 2000;
const OTHERS_MS = 15_000;
const TIMEOUT_MS = 10_000;

interface Asked {
  readonly at: number;
  /** Rollouts that were done then. */
  readonly done: number;
  readonly ended: boolean;
}

export class NumbersPoll {
  readonly #client: () => ServiceClient | null;
  readonly #asked = new Map<RunView, Asked>();
  #underWay: Promise<void> | null = null;
  readonly #ending = new AbortController();

  /** `client`: of the service as it is now; null before there is one. */
  constructor(client: () => ServiceClient | null) {
    this.#client = client;
  }

  /** To be called about once a second. `now`: milliseconds that only go forward. */
  tick(views: readonly RunView[], selected: number, now: number): void {
    const client = this.#client();
    if (client === null || this.#underWay !== null) return;
    const due = views.filter((view, index) => this.#isDue(view, now, index === selected ? SELECTED_MS : OTHERS_MS));
    const next = due.find((view) => view === views[selected]) ?? due.toSorted((a, b) => (this.#asked.get(a)?.at ?? 0) - (this.#asked.get(b)?.at ?? 0))[0];
    if (next === undefined) return;
    this.#asked.set(next, { at: now, done: next.state?.done_rollouts ?? 0, ended: next.how !== null });
    this.#underWay = this.#ask(client, next).finally(() => {
      this.#underWay = null;
    });
  }

  stop(): void {
    this.#ending.abort();
  }

  /** Not before the first rollout, not again while nothing changes, and once more when it has ended. */
  #isDue(view: RunView, now: number, age: number): boolean {
    const { state, evaluation, how } = view;
    const asked = this.#asked.get(view);
    if (evaluation === null || state === null || state.done_rollouts === 0) return false;
    if (asked === undefined || (how !== null && !asked.ended)) return true;
    return now - asked.at >= age && state.done_rollouts !== asked.done;
  }

  async #ask(client: ServiceClient, view: RunView): Promise<void> {
    const runId = view.evaluation?.evaluation_id;
    if (runId === undefined) return;
    try {
      const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      view.numbers = await client.numbers<RunNumbers>(runId, signal);
    } catch {
      // A service that does not answer is the business of whoever follows the run; the numbers are asked for again.
      const asked = this.#asked.get(view);
      if (asked !== undefined) this.#asked.set(view, { ...asked, done: -1 });
    }
  }
}
