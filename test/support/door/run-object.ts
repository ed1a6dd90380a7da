import type { RunView } from "../../../durable-objects/run/control.ts";
import { evaluationObject, liveEvaluation } from "../../../src/api/runs/evaluation-object.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { Evaluation, FullState } from "../../../src/dashboard/api/run-answers.ts";
import { CONFIG, viewFor } from "./run-view.ts";

/** A run as the HTTP API answers it, for what draws it. */
export const runObject = (changes: Partial<RunView> = {}, config: Partial<RunConfig> = {}): Evaluation =>
  evaluationObject(viewFor({ ...CONFIG, ...config }, changes), "http://127.0.0.1") as unknown as Evaluation;

/** The same as a stream of states tells it. */
export const stateObject = (changes: Partial<RunView> = {}, config: Partial<RunConfig> = {}): FullState =>
  liveEvaluation(viewFor({ ...CONFIG, ...config }, changes)) as unknown as FullState;
