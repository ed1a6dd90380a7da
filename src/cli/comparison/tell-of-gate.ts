/** Alerts about `gate.failed`: the gate is judged here, so the service hears of it from here. */
import type { GateReport } from "../../metrics/gate/gate.ts";
import { gateFailure } from "../../report/statistics/gate-lines.ts";
import { singleLine } from "../../report/text/printable.ts";
import type { KeptRun } from "../exports/opened-run.ts";
import { reasonOf } from "../terminal/cli-error.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** What the service takes of a text, in characters. */
const MOST_TEXT = 500;
/** A pipeline waits for the verdict, not for this. */
const TELLING_MS = 10_000;

const short = (text: string): string => singleLine(text).slice(0, MOST_TEXT).toWellFormed();

/** Tells the service that its run did not pass. The same verdict told again counts once. Never rejects: what hinders it is said. */
export async function tellOfGate(terminal: Pick<Terminal, "tell">, { client, id }: KeptRun, report: GateReport): Promise<void> {
  const { metric, alpha, baseline, checks } = report;
  const facts = {
    metric: short(metric),
    alpha,
    ...(baseline === null ? {} : { baseline: short(baseline.run) }),
    ...Object.fromEntries(
      checks.flatMap(({ kind, bound, value, verdict, interval }) => [
        [kind, bound],
        [`${kind}_value`, value],
        [`${kind}_low`, interval?.[0] ?? null],
        [`${kind}_high`, interval?.[1] ?? null],
        [`${kind}_verdict`, verdict],
      ]),
    ),
  };
  const body = { text: short(`Run ${id} does not pass its gate: ${gateFailure(report)}.`), facts };
  try {
    await client.json("POST", `/evaluations/${id}/gate-failed`, { body, retries: 2, timeoutMs: TELLING_MS });
  } catch (error) {
    terminal.tell(`alerts were not told that run ${id} does not pass its gate: ${singleLine(reasonOf(error))}`);
  }
}
