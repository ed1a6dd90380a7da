/** Keys that steer the run which is looked at: p pauses it and lets it go on, + and - double and halve its requests. */
import type { RunState } from "../connection/api-types.ts";
import type { ServiceClient } from "../connection/http-client.ts";
import { MAX_CONCURRENT } from "../../config/options/execution-options.ts";
import { reasonOf } from "../terminal/cli-error.ts";
import type { RunView } from "./run-view.ts";

export class SteeringKeys {
  readonly #client: () => ServiceClient | null;
  readonly #say: (view: RunView, line: string) => void;
  /** What was asked for and is not seen in a state yet, by run: keys that are pressed fast add up. */
  readonly #asked = new Map<RunView, number>();

  /** `client`: of the service as it is now; null before there is one. `say`: what became of a key. */
  constructor(client: () => ServiceClient | null, say: (view: RunView, line: string) => void) {
    this.#client = client;
    this.#say = say;
  }

  /** Whether the key is one of them. */
  press(key: string, view: RunView | undefined): boolean {
    if (key !== "p" && key !== "+" && key !== "-") return false;
    const client = this.#client();
    const { evaluation = null, state = null, how = null } = view ?? {};
    if (view === undefined || client === null || evaluation === null || state === null || how !== null) return true;
    const id = evaluation.evaluation_id;
    if (key === "p") {
      const paused = state.paused !== undefined;
      this.#ask(view, paused ? client.continueRun(id) : client.pauseRun(id), paused ? "goes on" : "is paused: what is in progress is finished first");
    } else this.#resize(client, view, id, this.#wanted(key, view, state));
    return true;
  }

  #wanted(key: "+" | "-", view: RunView, { max_concurrent = 0 }: RunState): number {
    const now = this.#asked.get(view) ?? max_concurrent;
    // Of a run without a limit nobody knows what twice as many would be.
    if (now < 1) return now;
    return key === "+" ? Math.min(MAX_CONCURRENT, now * 2) : Math.max(1, Math.floor(now / 2));
  }

  #resize(client: ServiceClient, view: RunView, id: string, wanted: number): void {
    if (wanted < 1) return this.#say(view, "the run has no limit of requests to double or halve: set one with eval set -c");
    this.#asked.set(view, wanted);
    const set = client.setRun(id, { max_concurrent: wanted }).then(({ settings }) => {
      const granted = settings.max_concurrent;
      if (typeof granted === "number") this.#asked.set(view, granted);
    });
    this.#ask(view, set, `goes on with ${wanted} requests at once`);
  }

  #ask(view: RunView, call: Promise<unknown>, done: string): void {
    call.then(
      () => this.#say(view, `the run ${done}`),
      (error: unknown) => {
        this.#asked.delete(view);
        this.#say(view, `the run could not be steered: ${reasonOf(error)}`);
      },
    );
  }
}
