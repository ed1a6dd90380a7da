import { Hono } from "hono";
import { namesOfRun, subjectOfRun } from "../../../durable-objects/run/sending/alerts.ts";
import { sha256Hex } from "../../config/sha256.ts";
import type { AppContext } from "../app-context.ts";
import { parseBody, readJsonText } from "../body.ts";
import { unwrap } from "../errors.ts";
import { viewOf } from "../runs/run-of.ts";
import { gateBody } from "./alert-schemas.ts";

/**
 * `/evaluations/{id}/gate-failed`: gates are judged on the command line, which tells it here. Nothing is kept: who asks repeats it until it is answered, and what
 * is told twice counts once.
 */
export const gateFailed = new Hono<AppContext>();

gateFailed.post("/:id/gate-failed", async (c) => {
  const { text, facts } = parseBody(gateBody, await readJsonText(c.req.raw));
  const { ports } = c.var;
  const { config, generation } = await viewOf(c);
  const told = (await sha256Hex(JSON.stringify([text, facts]))).slice(0, 16);
  const occurrence = {
    id: `run/${config.run_id}/${generation}/gate/${told}`,
    type: "gate.failed" as const,
    at: Date.now(),
    names: namesOfRun(config),
    subject: subjectOfRun(config),
    text,
    data: facts,
  };
  const taken = ports.alerts === null ? null : unwrap(await ports.alerts.book.take({ team: ports.team, occurrences: [occurrence] }));
  return c.json({ message: taken?.asked === true ? "Alerts are told of it." : "The team has no alerts." });
});
