import { type Context, Hono } from "hono";
import type { EvaluatorControl, EvaluatorView } from "../../../durable-objects/evaluator/evaluator-control.ts";
import { changedFields } from "../../config/changed-fields.ts";
import { EdgewiseError, fail, type Result } from "../../errors/result.ts";
import { reportedStep } from "../../evaluators/due.ts";
import type { Creator } from "../../schedules/state.ts";
import type { Caller } from "../../teams/caller.ts";
import type { EvaluatorDefinition } from "../../training/definition.ts";
import { definitionOf, definitionSchema } from "../../training/definition-schema.ts";
import { pointsOf } from "../../training/series.ts";
import type { PostedStep } from "../../training/state.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts, EvaluatorPorts } from "../app-ports.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { plannedConfigs } from "../creation/create-runs.ts";
import { unwrap } from "../errors.ts";
import { unlessOlder } from "../older-object.ts";
import { administered } from "../people/directory-of.ts";
import { plannedChange, putQuery } from "../planned-change.ts";
import { readTwice } from "../read-twice.ts";
import { emptyBody } from "../schemas.ts";
import { stepBody as creationOf } from "./begin-step.ts";
import { evaluatorPath, evaluatorQuery, pauseEvaluatorBody, pointsQuery, showQuery, stepBody } from "./evaluator-schemas.ts";
import { mlflowToken } from "./post-points.ts";
import { evaluatorShown, factsShown, pausedShown, pointShown, recordShown } from "./shown-evaluator.ts";

/** `/evaluators`: evaluations from a training loop. */
export const evaluators = new Hono<AppContext>();

interface Asked {
  readonly ports: AppPorts;
  readonly own: EvaluatorPorts;
}

async function asked(c: Context<AppContext>, team: string | undefined): Promise<Asked> {
  const ports = c.var.ports.inTeam(await administered(c, team));
  if (ports.evaluators !== null) return { ports, own: ports.evaluators };
  throw new EdgewiseError("not_found", "This deployment has no evaluators.", {
    hint: "Take the binding EVALUATOR and its migration over from the wrangler.toml of this version, export Evaluator from the main module, and deploy.",
  });
}

const teamIn = (c: Context<AppContext>): string | undefined => check(evaluatorQuery, c.req.query(), "query").team_id;
const nameIn = (c: Context<AppContext>): string => check(evaluatorPath, { evaluator: c.req.param("evaluator") }, "path").evaluator;
const notFound = (): EdgewiseError => new EdgewiseError("not_found", "Evaluator not found.", { hint: "`npx edgewise evaluator list` shows those there are." });
const creatorOf = ({ user, token, owner }: Caller): Creator => ({ user, token, owner });
const lookUp = ({ own }: Asked, name: string, most: number): Promise<EvaluatorView | null> =>
  readTwice(
    () => own.of(name),
    (evaluator) => evaluator.view(most),
  );

evaluators.get("/", async (c) => {
  const { own } = await asked(c, teamIn(c));
  const all = await readTwice(
    () => own.index,
    (index) => index.listEvaluators(),
  );
  return c.json({ data: all.map((facts) => factsShown(facts, own.served)) });
});

evaluators.get("/:evaluator", async (c) => {
  const { team_id, limit } = check(showQuery, c.req.query(), "query");
  const there = await asked(c, team_id);
  const view = await lookUp(there, nameIn(c), limit);
  if (view === null) throw notFound();
  return c.json({ data: evaluatorShown(view, there.own.served) });
});

/** Finished evaluations of one page. */
const PAGE = 200;

evaluators.get("/:evaluator/points", async (c) => {
  const { team_id, after } = check(pointsQuery, c.req.query(), "query");
  const there = await asked(c, team_id);
  const name = nameIn(c);
  // Before the page: whatever is finished after it is on a later one.
  const view = await lookUp(there, name, 1);
  const page = await readTwice(
    () => there.own.of(name),
    (evaluator) => evaluator.finished(after, PAGE),
  );
  if (page === null || view === null) throw notFound();
  return c.json({ data: pointsOf(page.records).map(pointShown), next: page.through, more: page.more, open: view.open });
});

evaluators.put("/:evaluator", async (c) => {
  const { team_id, dry_run } = check(putQuery, c.req.query(), "query");
  const there = await asked(c, team_id);
  const { ports, own } = there;
  const name = nameIn(c);
  const definition = definitionOf(parseBody(definitionSchema, await readJsonText(c.req.raw)));
  await checkDefinition(ports, name, definition);
  if (dry_run === "true") {
    const before = await lookUp(there, name, 1);
    return c.json({ ...plannedChange(before === null ? null : changedFields(before.definition, definition)), data: { name } });
  }
  await c.var.audit.begin(ports);
  unwrap(await own.index.reserveEvaluator(name));
  const view = unwrap(await own.of(name).put({ team: ports.team, name, definition, creator: creatorOf(c.var.caller) }));
  return c.json({ data: evaluatorShown(view, own.served) });
});

/** As creations of now, by whoever asks: what would be refused at each step is refused here. Where only steps say where the model is, that is not looked at. */
async function checkDefinition(ports: AppPorts, name: string, definition: EvaluatorDefinition): Promise<void> {
  if (definition.mlflow !== undefined) await mlflowToken(ports, definition.mlflow);
  for (const [index, evaluation] of definition.evaluations.entries()) {
    const body = creationOf({ evaluator: name, evaluation, posted: { step: 0, model: "checkpoint" } }, ["body", "evaluations", index, "eval"]);
    const placed = ["api_base_url", "provider", "endpoint_id", "replicas"].some((key) => Object.hasOwn(evaluation.eval, key));
    try {
      await plannedConfigs(ports, body, false);
    } catch (error) {
      if (placed || !(error instanceof EdgewiseError) || error.code !== "missing_key") throw error;
    }
  }
}

evaluators.delete("/:evaluator", async (c) => {
  const { ports, own } = await asked(c, teamIn(c));
  const name = nameIn(c);
  await c.var.audit.begin(ports);
  const there = await own.of(name).remove();
  await own.index.forgetEvaluator({ name, deleted: true });
  if (!there) throw notFound();
  return c.json({ message: "Evaluator deleted; its runs stay." });
});

evaluators.post("/:evaluator/steps", async (c) => {
  const { ports, own } = await asked(c, teamIn(c));
  const name = nameIn(c);
  const { final, now, api_base_url, api_key_var, step, model } = parseBody(stepBody, await readJsonText(c.req.raw));
  const posted: PostedStep = {
    step,
    model,
    ...(api_base_url === undefined ? {} : { api_base_url }),
    ...(api_key_var === undefined ? {} : { api_key_var }),
    ...(final === true ? { final } : {}),
    ...(now === true ? { now } : {}),
  };
  await c.var.audit.begin(ports);
  const { due, records, paused } = unwrap(await own.of(name).post({ posted, creator: creatorOf(c.var.caller) }));
  return c.json({ data: { step: reportedStep(step), due, records: records.map(recordShown), paused: pausedShown(paused), served: own.served } }, 202);
});

evaluators.post("/:evaluator/pause", async (c) => {
  const { reason } = parseBody(pauseEvaluatorBody, await readJsonText(c.req.raw));
  return changed(c, (evaluator) => evaluator.pause({ by: c.var.caller.user, reason }));
});

evaluators.post("/:evaluator/resume", async (c) => {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  return changed(c, (evaluator) => evaluator.resume());
});

async function changed(c: Context<AppContext>, change: (evaluator: EvaluatorControl) => Promise<Result<EvaluatorView>>): Promise<Response> {
  const { ports, own } = await asked(c, teamIn(c));
  const name = nameIn(c);
  await c.var.audit.begin(ports);
  const view = unwrap(await unlessOlder(change(own.of(name)), OLDER));
  return c.json({ data: evaluatorShown(view, own.served) });
}

const OLDER = fail("storage_unavailable", "The evaluator is of an older version of the service still.", "Ask again in a minute.");
