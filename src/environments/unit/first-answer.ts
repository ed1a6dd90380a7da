import { aroundClient } from "../../clients/around-client.ts";
import type { ClientPorts } from "../../clients/client.ts";
import { isEndpointError, isUnreachable } from "../../errors/codes.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { UnitOutcome } from "./run-unit.ts";
import { scriptHint } from "./script-hint.ts";
import type { Client } from "../../rollouts/types.ts";

/** How long a script that had no answer yet repeats requests that do not reach the model: it is watched, and the address is likely wrong. */
const PATIENCE_MS = 1_000;

/**
 * Watches for the first answer of an evaluation in a script. Until it came, an endpoint that fails is an error of the whole, not a
 * reward of 0.
 */
export class FirstAnswer {
  #answered = false;
  #failingSince: number | null = null;

  /** For clients made for the evaluation. A run of a service has none of it: it outlasts outages. */
  readonly ports: Partial<ClientPorts> = {
    elsewhere: (code) => {
      if (this.#answered || !isUnreachable(code)) return false;
      this.#failingSince ??= performance.now();
      return performance.now() - this.#failingSince >= PATIENCE_MS;
    },
  };

  watch(client: Client): Client {
    return aroundClient(client, async (request, ask) => {
      const answer = await ask(request);
      this.#answered = true;
      return answer;
    });
  }

  /** Throws the error of an example whose rollouts all ended at the endpoint, while nothing was answered at all. */
  check({ summaries, firstErrors }: UnitOutcome): void {
    const [first] = firstErrors;
    if (this.#answered || first === undefined || !summaries.every(({ error }) => error !== null && isEndpointError(error))) return;
    throw new EdgewiseError(first.code, first.message, first.hint === undefined ? {} : { hint: scriptHint(first.hint) });
  }
}
