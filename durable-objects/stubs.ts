import type { BudgetControl } from "../durable-objects/budget/budget-control.ts";
import type { AlertBookControl } from "../durable-objects/alert-book/alert-book-control.ts";
import type { AnswerDeskControl } from "./answers/answer-desk-control.ts";
import type { DirectoryControl } from "../durable-objects/directory/directory-control.ts";
import type { DispatcherControl } from "../durable-objects/dispatcher/dispatcher-control.ts";
import type { LimiterControl } from "../durable-objects/limiter/limiter-control.ts";
import type { RegistryControl } from "../durable-objects/registry/registry-control.ts";
import type { EvaluatorControl } from "../durable-objects/evaluator/evaluator-control.ts";
import type { EvaluatorIndexControl, ScheduleIndexControl } from "../durable-objects/registry/schedules/schedule-index-control.ts";
import type { MonitorIndexControl } from "../durable-objects/registry/monitors/monitor-index-control.ts";
import type { MonitorControl } from "../durable-objects/monitor/monitor-control.ts";
import type { BatchExecution } from "./run/batching/batching-protocol.ts";
import type { RunControl } from "../durable-objects/run/control.ts";
import type { RunExecution } from "../durable-objects/run/protocol.ts";
import type { IntakeExecution, PushControl } from "../durable-objects/run/pushed/pushed-protocol.ts";
import type { ScheduleControl } from "../durable-objects/schedule/schedule-control.ts";
import type { Env } from "../src/env.ts";
import { count } from "../src/operations.ts";
import { alertBookName, answerDeskName, evaluatorName, registryName, scheduleName } from "../src/teams/team-name.ts";
import { locationOf } from "./location-hint.ts";

/** The Registry of the default team. */
export const REGISTRY_NAME = registryName();
/** There is one Dispatcher. */
export const DISPATCHER_NAME = "dispatcher";
/** And one Directory. */
export const DIRECTORY_NAME = "directory";

/** A stub for one conversation with a Run, by its name (`runName`): after an exception take a new one, the old one stays broken. */
export const runStub = (env: Env, name: string): RunMethods => counted<RunMethods>(env.RUN.getByName(name, locationOf(env)));
type RunMethods = RunControl & RunExecution & IntakeExecution & BatchExecution & PushControl;
/** `team`: whose runs it knows. */
export const registryStub = (env: Env, team?: string): RegistryControl => counted<RegistryControl>(env.REGISTRY.getByName(registryName(team), locationOf(env)));
export const dispatcherStub = (env: Env): DispatcherControl => counted<DispatcherControl>(env.DISPATCHER.getByName(DISPATCHER_NAME, locationOf(env)));

/** The schedules that a team has. */
export const scheduleIndexStub = (env: Env, team?: string): ScheduleIndexControl =>
  counted<ScheduleIndexControl>(env.REGISTRY.getByName(registryName(team), locationOf(env)));

/** Null in a deployment whose wrangler.toml is of before there were schedules. */
export const scheduleStub = (env: Partial<Pick<Env, "SCHEDULE" | "LOCATION_HINT">>, team: string, name: string): ScheduleControl | null =>
  env.SCHEDULE === undefined ? null : counted<ScheduleControl>(env.SCHEDULE.getByName(scheduleName(team, name), locationOf(env)));

/** The alerts of a team. Null in a deployment whose wrangler.toml is of before there were any. */
export const alertBookStub = (env: Partial<Pick<Env, "ALERT_BOOK" | "LOCATION_HINT">>, team: string): AlertBookControl | null =>
  env.ALERT_BOOK === undefined ? null : counted<AlertBookControl>(env.ALERT_BOOK.getByName(alertBookName(team), locationOf(env)));

/** The monitors that a team has. */
export const monitorIndexStub = (env: Env, team?: string): MonitorIndexControl =>
  counted<MonitorIndexControl>(env.REGISTRY.getByName(registryName(team), locationOf(env)));

/** `id`: that of its address. Null in a deployment whose wrangler.toml is of before there were any. */
export const monitorStub = (env: Partial<Pick<Env, "MONITOR" | "LOCATION_HINT">>, id: string): MonitorControl | null =>
  env.MONITOR === undefined ? null : counted<MonitorControl>(env.MONITOR.getByName(id, locationOf(env)));

/** The evaluators that a team has. */
export const evaluatorIndexStub = (env: Env, team?: string): EvaluatorIndexControl =>
  counted<EvaluatorIndexControl>(env.REGISTRY.getByName(registryName(team), locationOf(env)));

/** Null in a deployment whose wrangler.toml is of before there were evaluators. */
export const evaluatorStub = (env: Partial<Pick<Env, "EVALUATOR" | "LOCATION_HINT">>, team: string, name: string): EvaluatorControl | null =>
  env.EVALUATOR === undefined ? null : counted<EvaluatorControl>(env.EVALUATOR.getByName(evaluatorName(team, name), locationOf(env)));

/** By its name (`limiterName`). Null in a deployment whose wrangler.toml is of before there were any. */
export const limiterStub = (env: Partial<Pick<Env, "LIMITER" | "LOCATION_HINT">>, name: string): LimiterControl | null =>
  env.LIMITER === undefined ? null : counted<LimiterControl>(env.LIMITER.getByName(name, locationOf(env)));

/** By its name (src/budgets/budget-name.ts). Null in a deployment whose wrangler.toml is of before there were any. */
export const budgetStub = (env: Partial<Pick<Env, "BUDGET" | "LOCATION_HINT">>, name: string): BudgetControl | null =>
  env.BUDGET === undefined ? null : counted<BudgetControl>(env.BUDGET.getByName(name, locationOf(env)));

/** The desk of a team's answers whose digests begin with that digit. Null in a deployment whose wrangler.toml is of before there were any. */
export const answerDeskStub = (
  env: Partial<Pick<Env, "ANSWERS" | "LOCATION_HINT">>,
  team: string,
  digit: Parameters<typeof answerDeskName>[1],
): AnswerDeskControl | null =>
  env.ANSWERS === undefined ? null : counted<AnswerDeskControl>(env.ANSWERS.getByName(answerDeskName(team, digit), locationOf(env)));

/** Null in a deployment whose wrangler.toml is of before there were teams: it has its owner and the default team. */
export const directoryStub = (env: Pick<Partial<Env>, "DIRECTORY" | "LOCATION_HINT">): DirectoryControl | null =>
  env.DIRECTORY === undefined ? null : counted<DirectoryControl>(env.DIRECTORY.getByName(DIRECTORY_NAME, locationOf(env)));

/** Every call on the stub is one billed request. */
export function counted<Control extends object>(stub: object): Control {
  return new Proxy(stub as Control, {
    get(target, method) {
      const call: unknown = Reflect.get(target, method);
      if (typeof call !== "function") return call;
      return (...args: unknown[]) => {
        count("do_requests");
        return Reflect.apply(call, target, args) as unknown;
      };
    },
  });
}
