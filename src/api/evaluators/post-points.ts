import { addressProblem } from "../../config/endpoints/called-place.ts";
import { keyPlaceProblem, keyVarProblem } from "../../config/endpoints/key-vars.ts";
import { failureOf } from "../../errors/result.ts";
import type { MlflowTarget } from "../../training/definition.ts";
import { MlflowSink } from "../../training/mlflow.ts";
import { pointsOf } from "../../training/series.ts";
import type { AppPorts } from "../app-ports.ts";
import { InvalidRequest, unwrap } from "../errors.ts";
import { keyOfPlace, secretsOfRun } from "../secrets/secrets-of-run.ts";

/**
 * Posts the points that wait to where the evaluator's definition says, and tells it what came of it. At least once: one that arrived and was not told of is
 * posted again, the same to the letter.
 */
export async function postPoints(ports: AppPorts, name: string, send: ConstructorParameters<typeof MlflowSink>[2]): Promise<void> {
  const { evaluators } = ports;
  if (evaluators === null) return;
  const page = await evaluators.of(name).undelivered();
  if (page === null) return;
  try {
    const points = pointsOf(page.records);
    const token = await mlflowToken(ports, page.target);
    if (points.length > 0) await new MlflowSink(page.target, token, send).post(points);
  } catch (thrown) {
    return evaluators.of(name).undeliverable({ failure: failureOf(thrown) });
  }
  await evaluators.of(name).delivered({ through: page.through, target: page.target });
}

/** What is sent to a tracking server to be let in; null = nothing. Throws where the server may not be called, or the secret may not go there. */
export async function mlflowToken(ports: AppPorts, { tracking_uri, token_var }: MlflowTarget): Promise<string | null> {
  const { facts } = ports;
  const refuse = (field: string, msg: string | null): void => {
    if (msg !== null) throw new InvalidRequest([{ loc: ["body", "mlflow", field], msg }]);
  };
  if (!facts.local) refuse("tracking_uri", addressProblem(tracking_uri));
  if (token_var === undefined) return null;
  const needs = { environment: "", declared: [], modelKeys: [token_var], named: [], custom: {} };
  const { secrets } = await secretsOfRun(ports, needs);
  const ofSecret = secrets.placeProblem(token_var, tracking_uri);
  refuse("token_var", ofSecret === undefined ? (keyVarProblem(facts.keyVars, token_var) ?? keyPlaceProblem(facts, token_var, tracking_uri)) : ofSecret);
  return unwrap(keyOfPlace(ports, secrets, token_var, tracking_uri)).key;
}
