import type { BatchRequest } from "../../../durable-objects/run/pushed/pushed-protocol.ts";
import type { RunView } from "../../../durable-objects/run/control.ts";
import { batchKey } from "../../../r2-layout/keys.ts";
import { EdgewiseError, type Failure, type Result } from "../../errors/result.ts";
import { BatchError } from "../../pushed/scanned-sample.ts";
import { storageRefusal } from "../../teams/admission.ts";
import { teamField } from "../../teams/team-name.ts";
import type { AppPorts } from "../app-ports.ts";
import { invalid, refused, unwrap } from "../errors.ts";

/** What batches of any kind go through at the door. */

/** How long a request waits for files that are being written; clients give one 30 seconds. */
const BUSY_MS = 20_000;
const BUSY_PAUSE_MS = 200;

/** Throws for a run whose rollouts are made here. */
export function mustBePushed(view: RunView): RunView {
  if (view.pushed !== undefined) return view;
  throw new EdgewiseError("illegal_transition", "The rollouts of this evaluation are made here: nothing is pushed to it.", {
    hint: "Create an evaluation of its own: POST /evaluations.",
  });
}

/** What a team may have stored is bounded for what is pushed as for what is uploaded: says of more bytes why not; null = there is room. */
export async function roomOf({ registry, team }: AppPorts): Promise<(more: number) => Failure | null> {
  const { limits, used } = await registry.limits(teamField(team));
  return (more) => storageRefusal(team, limits.stored_bytes ?? null, used.stored_bytes, more);
}

/** Tells the Run of a batch that was stored, and whether it was new. What is not kept of it is removed. `fields`: what a sample and its id are called in errors. */
export async function tellRun(ports: AppPorts, runId: string, batch: BatchRequest, fields: readonly [list: string, id: string]): Promise<boolean> {
  // Where no answer comes, it may have been taken in: it stays.
  const answer = await whenWritten(() => ports.run(runId).pushBatch(batch));
  const isKept = answer.ok && answer.value.kind === "added";
  if (!isKept && batch.object !== null) await ports.store.remove(batchKey(runId, batch.object));
  const said = unwrap(answer);
  if (said.kind === "conflict") throw invalid(["body", fields[0], said.position, fields[1]], `${JSON.stringify(said.id)} was pushed before with other content`);
  return isKept;
}

/** Of a batch for which there is no room, and which was not stored: one that is there already is no more than there is. Throws `refusal` for another. */
export async function mustBeKnown(ports: AppPorts, runId: string, batch: BatchRequest, refusal: Failure): Promise<void> {
  const answer = unwrap(await ports.run(runId).pushBatch({ ...batch, object: null }));
  if (answer.kind !== "known") throw refused(refusal);
}

/** Files that are being written are waited for: who sends samples does not ask again. */
export async function whenWritten<T>(call: () => Promise<Result<T>>): Promise<Result<T>> {
  const until = performance.now() + BUSY_MS;
  for (;;) {
    const answer = await call();
    if (answer.ok || answer.error.code !== "run_busy" || performance.now() >= until) return answer;
    await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
  }
}

/** What is wrong with a body, as the answer to it. */
export function refusalOf(thrown: unknown): unknown {
  if (!(thrown instanceof BatchError) || thrown.code === "body_too_large") return thrown;
  return invalid(["body", ...fieldOf(thrown)], thrown.message.slice(thrown.field.length + 2));
}

const fieldOf = ({ field }: BatchError): (string | number)[] =>
  field === "body" ? [] : field.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
