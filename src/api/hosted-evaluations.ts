import { Hono } from "hono";
import { sha256Hex } from "../config/sha256.ts";
import type { AppContext } from "./app-context.ts";
import { parseBody, readJsonText } from "./body.ts";
import { isAttended } from "./access.ts";
import { createRuns } from "./create-runs.ts";
import { invalid, unwrap } from "./errors.ts";
import { runOf } from "./run-of.ts";
import { createBody } from "./schemas.ts";

/** `/hosted-evaluations`: start and cancel, as the `prime` client does it (prime-api 3, rows 4 and 7). */
export const hostedEvaluations = new Hono<AppContext>();

const MAX_KEY = 255;

hostedEvaluations.post("/", async (c) => {
  const { facts } = c.var.ports;
  const idempotencyKey = c.req.header("idempotency-key") ?? null;
  if (idempotencyKey !== null && !(/^[\x20-\x7e]+$/.test(idempotencyKey) && idempotencyKey.length <= MAX_KEY)) {
    throw invalid(["header", "Idempotency-Key"], `must have 1 to ${MAX_KEY} characters of ASCII`);
  }
  const text = await readJsonText(c.req.raw);
  const ids = await createRuns(c.var.ports, {
    body: parseBody(createBody, text),
    idempotencyKey,
    bodyDigest: await sha256Hex(text),
    attended: isAttended(facts, c.req.raw),
  });
  return c.json({ evaluation_id: ids[0], evaluation_ids: ids });
});

hostedEvaluations.patch("/:id/cancel", async (c) => {
  const view = unwrap(await runOf(c).cancel());
  return c.json({ message: view.phase === "settled" ? "Evaluation cancelled." : "Evaluation cancelled; what is in progress is finished first." });
});
