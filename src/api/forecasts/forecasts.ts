import { Hono } from "hono";
import { forecastRun } from "../../forecast/run-forecast.ts";
import { isAttended } from "../access/access.ts";
import { portsFor } from "../access/team-of-request.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { plannedConfigs } from "../creation/create-runs.ts";
import type { UnnamedConfig } from "../creation/resolve.ts";
import { invalid } from "../errors.ts";
import { forecastBody, forecastQuery } from "./forecast-schemas.ts";
import { paceOf } from "./pace-of.ts";
import { examplesOfHistory, examplesOfPilot, type PlayedExamples } from "./played-examples.ts";

/** `/evaluation-forecasts`: what a creation would take, from its first examples or from runs like it. Creates nothing. */
export const forecasts = new Hono<AppContext>();

forecasts.post("/", async (c) => {
  const { pilot } = check(forecastQuery, c.req.query(), "query");
  const body = parseBody(forecastBody, await readJsonText(c.req.raw));
  if (body.rescore !== undefined) throw invalid(["body", "rescore"], "makes no rollouts: there is nothing to forecast");
  const ports = await portsFor(c, body.team_id);
  const configs = await plannedConfigs(ports, body, isAttended(c.var.ports.facts, c.req.raw));
  if (pilot !== undefined && configs.length > 1) throw invalid(["query", "pilot"], "is of one evaluation: name one environment");
  const evaluations = [];
  for (const config of configs) {
    const played = pilot === undefined ? await examplesOfHistory(ports, config) : await examplesOfPilot(ports, pilot, config);
    evaluations.push(await forecastOf(ports, config, played, pilot !== undefined));
  }
  return c.json({ evaluations });
});

/** Examples that a forecast is of where all are asked for and nobody knows how many those are. */
const UNKNOWN_TOTAL = 100;

async function forecastOf(ports: AppPorts, config: UnnamedConfig, { runs, figures, known }: PlayedExamples, own: boolean) {
  const { env_id, model, rollouts_per_example, max_concurrent } = config;
  const { examples } = figures;
  const asked = config.num_examples;
  const total = known === null ? asked : asked < 1 ? known : Math.min(asked, known);
  const of = total < 1 ? Math.max(UNKNOWN_TOTAL, own ? examples.length : 0) : total;
  const forecast = forecastRun({ examples, own, total: of, rollouts: rollouts_per_example, pace: config.batch === true ? null : await paceOf(ports, config) });
  return {
    environment: env_id,
    model,
    num_examples: total,
    rollouts_per_example,
    max_concurrent,
    from: { runs, examples: examples.length, rollouts: examples.reduce((sum, { length }) => sum + length, 0) },
    forecast_examples: forecast === null ? null : of,
    forecast,
  };
}
