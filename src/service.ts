/**
 * What a project deploys its own environments with: `import { AlertBook, AnswerDesk, Budget, createWorker, Directory, Dispatcher, EnvironmentOutbound, Evaluator, Limiter, Monitor, Registry, Run, Schedule } from "edgewise/worker"`. Its types
 * name nothing of the platform, so that the project chooses its own types of Workers.
 */
import { AlertBook as AlertBookClass } from "../durable-objects/alert-book/alert-book.ts";
import { AnswerDesk as AnswerDeskClass } from "../durable-objects/answers/answer-desk.ts";
import { Budget as BudgetClass } from "../durable-objects/budget/budget.ts";
import { Directory as DirectoryClass } from "../durable-objects/directory/directory.ts";
import { Dispatcher as DispatcherClass } from "../durable-objects/dispatcher/dispatcher.ts";
import { Monitor as MonitorClass } from "../durable-objects/monitor/monitor.ts";
import { Evaluator as EvaluatorClass } from "../durable-objects/evaluator/evaluator.ts";
import { Limiter as LimiterClass } from "../durable-objects/limiter/limiter.ts";
import { Registry as RegistryClass } from "../durable-objects/registry/registry.ts";
import { Run as RunClass } from "../durable-objects/run/run.ts";
import { Schedule as ScheduleClass } from "../durable-objects/schedule/schedule.ts";
import { createWorker as create } from "./create-worker.ts";
import { EnvironmentOutbound as EnvironmentOutboundClass } from "./isolates/environment-outbound.ts";
import type { WorkerOptions } from "./worker-options.ts";

export { environmentOf } from "./environments/definition/environment-of.ts";
export type { OfferedFacts } from "./environments/definition/offered.ts";
export type { CodeText, IsolatedModule } from "./isolates/isolated-module.ts";
export type { WorkerOptions } from "./worker-options.ts";

/** A class that the main module exports by its name in `wrangler.toml`. */
export type DurableObjectClass = new (...args: never[]) => object;

/** What the main module exports by default. */
export interface WorkerHandlers {
  fetch(...args: never[]): Response | Promise<Response>;
  queue(...args: never[]): Promise<void>;
  scheduled(...args: never[]): Promise<void>;
}

export const AlertBook: DurableObjectClass = AlertBookClass;
export const Budget: DurableObjectClass = BudgetClass;
export const AnswerDesk: DurableObjectClass = AnswerDeskClass;
export const Directory: DurableObjectClass = DirectoryClass;
export const Dispatcher: DurableObjectClass = DispatcherClass;
export const Monitor: DurableObjectClass = MonitorClass;
export const Evaluator: DurableObjectClass = EvaluatorClass;
export const Limiter: DurableObjectClass = LimiterClass;
export const Registry: DurableObjectClass = RegistryClass;
export const Run: DurableObjectClass = RunClass;
export const Schedule: DurableObjectClass = ScheduleClass;

/** What requests of environments in isolates of their own go through. */
export const EnvironmentOutbound: DurableObjectClass = EnvironmentOutboundClass;

/** The handlers of a service with environments of one's own beside the bundled ones. Throws `TypeError` for two environments of one id. */
export const createWorker: (options?: WorkerOptions) => WorkerHandlers = create;
