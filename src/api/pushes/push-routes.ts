import { type Context, Hono } from "hono";
import type { ClosingRequest } from "../../../durable-objects/run/pushed/pushed-protocol.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { sha256Hex } from "../../config/sha256.ts";
import type { Failure } from "../../errors/result.ts";
import { tokenUseOf } from "../../teams/caller.ts";
import { digestOfToken, drawText } from "../../teams/token-text.ts";
import { portsFor } from "../access/team-of-request.ts";
import type { AppContext } from "../app-context.ts";
import { parseBody, readJsonText } from "../body.ts";
import { idempotencyKeyOf } from "../creation/idempotency-key.ts";
import { unwrap } from "../errors.ts";
import { runIdOf, viewOf } from "../runs/run-of.ts";
import { shownPath } from "../sharing/shared-path.ts";
import { createPushed } from "./create-pushed.ts";
import { finalizeBody, pushBody, updateBody } from "./push-schemas.ts";
import { receiveBatch } from "./receive-batch.ts";
import { mustBeKnown, mustBePushed, roomOf, tellRun, whenWritten } from "./taking-in.ts";

/** `/evaluations` that were made elsewhere: created, given their samples batch by batch, described, closed. */
export const pushes = new Hono<AppContext>();

const pageOf = (c: Context<AppContext>, runId: string): string => `${new URL(c.req.url).origin}/dashboard/evaluations/${runId}`;

pushes.post("/", async (c) => {
  const idempotencyKey = idempotencyKeyOf(c.req);
  const text = await readJsonText(c.req.raw);
  const body = parseBody(pushBody, text);
  const ports = await portsFor(c, body.team_id);
  await c.var.audit.begin(ports);
  const id = await createPushed(ports, body, { idempotencyKey, bodyDigest: await sha256Hex(text), user: c.var.caller.user, token: tokenUseOf(c.var.caller) });
  c.var.audit.made(id);
  return c.json({ evaluation_id: id, name: body.name, viewer_url: pageOf(c, id) });
});

pushes.post("/:id/samples", async (c) => {
  const { ports } = c.var;
  const runId = runIdOf(c);
  let refusal: Failure | null;
  try {
    mustBePushed(await viewOf(c));
    refusal = (await roomOf(ports))(Number(c.req.header("content-length") ?? 0));
  } catch (thrown) {
    // Read to its end, or the connection breaks while the client is still sending.
    await c.req.raw.body?.pipeTo(new WritableStream());
    throw thrown;
  }
  const batch = await receiveBatch(refusal === null ? ports.store : null, runId, c.req.raw);
  if (refusal !== null) await mustBeKnown(ports, runId, batch, refusal);
  const added = refusal === null && (await tellRun(ports, runId, batch, ["samples", "sample_id"]));
  return c.json({ samples: batch.samples, added });
});

pushes.put("/:id", async (c) => {
  const body = parseBody(updateBody, await readJsonText(c.req.raw));
  mustBePushed(await viewOf(c));
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
  const view = mustBePushed(await viewOf(c));
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
