import type { Evaluation } from "../connection/api-types.ts";
import { ServiceUnreachable, type ServiceClient } from "../connection/http-client.ts";
import { type Patience, patiently } from "../connection/patience.ts";
import { pause } from "../connection/pause.ts";
import { CliError, reasonOf } from "../terminal/cli-error.ts";

/** How long the service has to make rows of what was sent, and how often it is asked. */
const SETTLE_MS = 10 * 60_000;
const LOOK_MS = 250;

/** From the first failure on. A service that makes a million rows may be slow to say so: one of this machine is gone only when it was silent for long. */
const PATIENCE_MS = { owner: 120_000, client: 120_000, remote: 600_000 } as const;
const MAX_WAIT_MS = 5_000;

export interface Receiver {
  readonly role: keyof typeof PATIENCE_MS;
  readonly url: string;
  readonly tell: (line: string) => void;
}

/** How a service that takes samples is waited for, and what is said meanwhile. */
export const patienceWith = ({ role, url, tell }: Receiver): Patience => ({
  patienceMs: PATIENCE_MS[role],
  maxWaitMs: MAX_WAIT_MS,
  // The command holds nothing that would have to be put away: Ctrl-C ends it.
  signal: new AbortController().signal,
  onOutage: (error) =>
    tell(`${url} does not answer (${reasonOf(error instanceof ServiceUnreachable ? error.cause : error)}); trying again. What was sent is there.`),
  onReturn: () => tell(`${url} answers again.`),
});

/** The evaluation once its rows are made. Nothing is sent while it waits, so that each look may be repeated. Throws what is certain at once. */
export async function whenSettled(client: Pick<ServiceClient, "run">, id: string, patience: Patience): Promise<Evaluation> {
  for (const until = performance.now() + SETTLE_MS; ; await pause(LOOK_MS)) {
    const evaluation = await patiently(() => client.run(id), patience);
    if (evaluation.edgewise.settled) return evaluation;
    if (performance.now() > until)
      throw new CliError(`evaluation ${id} is pushed, and the service has not made its rows yet`, { hints: [`Look at it: npx edgewise eval get ${id}`] });
  }
}
