import { Hono } from "hono";
import { tokenUseOf } from "../../teams/caller.ts";
import type { AppContext } from "../app-context.ts";
import { parseBody, readJsonText } from "../body.ts";
import { isAttended } from "../access/access.ts";
import { portsFor } from "../access/team-of-request.ts";
import { createRuns } from "./create-runs.ts";
import { unwrap } from "../errors.ts";
import { idempotencyKeyOf } from "./idempotency-key.ts";
import { runOf } from "../runs/run-of.ts";
import { createBody } from "../schemas.ts";
import { digestOfCreation } from "../secrets/custom-secrets.ts";

/** `/hosted-evaluations`: start and cancel, as the `prime` client does it. */
export const hostedEvaluations = new Hono<AppContext>();

hostedEvaluations.post("/", async (c) => {
  const { facts } = c.var.ports;
  const idempotencyKey = idempotencyKeyOf(c.req);
  const text = await readJsonText(c.req.raw);
  const body = parseBody(createBody, text);
  const ports = await portsFor(c, body.team_id);
  await c.var.audit.begin(ports);
  const ids = await createRuns(ports, {
    parts: [{ body, place: null }],
    idempotencyKey,
    bodyDigest: await digestOfCreation(text, body),
    attended: isAttended(facts, c.req.raw),
    user: c.var.caller.user,
    token: tokenUseOf(c.var.caller),
  });
  c.var.audit.made(...ids);
  return c.json({ evaluation_id: ids[0], evaluation_ids: ids });
});

hostedEvaluations.patch("/:id/cancel", async (c) => {
  const view = unwrap(await runOf(c).cancel());
  return c.json({ message: view.phase === "settled" ? "Evaluation cancelled." : "Evaluation cancelled; what is in progress is finished first." });
});
