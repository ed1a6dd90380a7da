import { Hono } from "hono";
import { evaluationSettings } from "../../config/plan/evaluation-settings.ts";
import { isAttended } from "../access/access.ts";
import { portsFor } from "../access/team-of-request.ts";
import type { AppContext } from "../app-context.ts";
import { parseBody, readJsonText } from "../body.ts";
import { plannedConfigs } from "./create-runs.ts";
import { createBody } from "../schemas.ts";

/** `/evaluation-settings`: what a creation would measure, for whoever looks for a run that measures the same. Creates nothing. */
export const settingsOfCreations = new Hono<AppContext>();

settingsOfCreations.post("/", async (c) => {
  const body = parseBody(createBody, await readJsonText(c.req.raw));
  const configs = await plannedConfigs(await portsFor(c, body.team_id), body, isAttended(c.var.ports.facts, c.req.raw));
  return c.json({ evaluations: configs.map((config) => ({ num_examples: config.num_examples, settings: evaluationSettings(config) })) });
});
