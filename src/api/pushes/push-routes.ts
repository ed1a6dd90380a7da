import { type Context, Hono } from "hono";
import type { ClosingRequest } from "../../../durable-objects/run/pushed/pushed-protocol.ts";
import type { RunView } from "../../../durable-objects/run/control.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { batchKey } from "../../../r2-layout/keys.ts";
import { sha256Hex } from "../../config/sha256.ts";
import { EdgewiseError, type Result } from "../../errors/result.ts";
import { storageRefusal } from "../../teams/admission.ts";
import { tokenUseOf } from "../../teams/caller.ts";
import { teamField } from "../../teams/team-name.ts";
import { digestOfToken, drawText } from "../../teams/token-text.ts";
import { portsFor } from "../access/team-of-request.ts";
import type { AppContext } from "../app-context.ts";
import { parseBody, readJsonText } from "../body.ts";
import { idempotencyKeyOf } from "../creation/idempotency-key.ts";
import { invalid, refused, unwrap } from "../errors.ts";
import { runIdOf, viewOf } from "../runs/run-of.ts";
import { shownPath } from "../sharing/shared-path.ts";
import { createPushed } from "./create-pushed.ts";
import { finalizeBody, pushBody, updateBody } from "./push-schemas.ts";
import { receiveBatch } from "./receive-batch.ts";

/** `/evaluations` that were made elsewhere: created, given their samples batch by batch, described, closed. */
export const pushes = new Hono<AppContext>();

/** How long a request waits for files that are being written; clients give one 30 seconds. */
const BUSY_MS = 20_000;
const BUSY_PAUSE_MS = 200;

const pageOf = (c: Context<AppContext>, runId: string): string => `${new URL(c.req.url).origin}/dashboard/evaluations/${runId}`;

pushes.post("/", async (c) => {
  const idempotencyKey = idempotencyKeyOf(c.req);
  const text = await readJsonText(c.req.raw);
  const body = parseBody(pushBody, text);
  const ports = await portsFor(c, body.team_id);
  await c.var.audit.begin(ports);
  const id = await createPushed(ports, body, { idempotencyKey, bodyDigest: await sha256Hex(text), token: tokenUseOf(c.var.caller) });
  c.var.audit.made(id);
  return c.json({ evaluation_id: id, name: body.name, viewer_url: pageOf(c, id) });
});

pushes.post("/:id/samples", async (c) => {
  const { ports } = c.var;
  const runId = runIdOf(c);
  try {
    await mustBePushed(c);
    await mustHaveRoom(c);
  } catch (thrown) {
    // Read to its end, or the connection breaks while the client is still sending.
    await c.req.raw.body?.pipeTo(new WritableStream());
    throw thrown;
  }
  const batch = await receiveBatch(ports.store, runId, c.req.raw);
  let isKept = false;
  try {
    const answer = unwrap(await whenWritten(() => ports.run(runId).pushBatch(batch)));
    isKept = answer.kind === "added";
    if (answer.kind === "conflict")
      throw invalid(["body", "samples", answer.position, "sample_id"], `${JSON.stringify(answer.id)} was pushed before with other content`);
    return c.json({ samples: batch.samples, added: isKept });
  } finally {
    if (!isKept) await ports.store.remove(batchKey(runId, batch.object));
  }
});

pushes.put("/:id", async (c) => {
  const body = parseBody(updateBody, await readJsonText(c.req.raw));
  await mustBePushed(c);
  const run = () => c.var.ports.run(runIdOf(c));
  const { status, error_message, metadata, metrics, ...changes } = body;
  const free = {
    ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }),
    ...(metrics === undefined ? {} : { metrics: metrics as JsonObject }),
  };
  unwrap(await whenWritten(() => run().describePushed({ ...changes, ...free })));
  if (status !== undefined) await close(c, { status, message: error_message ?? null });
  return c.json({ evaluation_id: runIdOf(c), viewer_url: pageOf(c, runIdOf(c)) });
});

pushes.post("/:id/finalize", async (c) => {
  const { metrics } = parseBody(finalizeBody, await readJsonText(c.req.raw));
  const view = await mustBePushed(c);
  const run = () => c.var.ports.run(runIdOf(c));
  if (metrics !== undefined && Object.keys(metrics).length > 0) unwrap(await whenWritten(() => run().describePushed({ metrics: metrics as JsonObject })));
  await close(c, { status: "COMPLETED", message: null });
  return c.json({ evaluation_id: runIdOf(c), viewer_url: view.pushed?.facts.is_public === true ? await newLink(c) : pageOf(c, runIdOf(c)) });
});

const close = async (c: Context<AppContext>, request: ClosingRequest): Promise<null> =>
  unwrap(await whenWritten(() => c.var.ports.run(runIdOf(c)).closePushed(request)));

/** The link of an evaluation that is public: a former one ends. */
async function newLink(c: Context<AppContext>): Promise<string> {
  const text = drawText();
  unwrap(await c.var.ports.run(runIdOf(c)).share(await digestOfToken(text)));
  return `${new URL(c.req.url).origin}${shownPath(c.var.ports.team, text, runIdOf(c))}`;
}

async function mustBePushed(c: Context<AppContext>): Promise<RunView> {
  const view = await viewOf(c);
  if (view.pushed !== undefined) return view;
  throw new EdgewiseError("illegal_transition", "The rollouts of this evaluation are made here: nothing is pushed to it.", {
    hint: "Create an evaluation of its own: POST /evaluations.",
  });
}

/** What a team has stored is bounded for what is pushed as for what is uploaded. */
async function mustHaveRoom(c: Context<AppContext>): Promise<void> {
  const { ports } = c.var;
  const { limits, used } = await ports.registry.limits(teamField(ports.team));
  const refusal = storageRefusal(ports.team, limits.stored_bytes ?? null, used.stored_bytes, Number(c.req.header("content-length") ?? 0));
  if (refusal !== null) throw refused(refusal);
}

/** Files that are being written are waited for: who sends samples does not ask again. */
async function whenWritten<T>(call: () => Promise<Result<T>>): Promise<Result<T>> {
  const until = performance.now() + BUSY_MS;
  for (;;) {
    const answer = await call();
    if (answer.ok || answer.error.code !== "run_busy" || performance.now() >= until) return answer;
    await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
  }
}
