import { createWorker } from "./create-worker.ts";

export { AlertBook } from "../durable-objects/alert-book/alert-book.ts";
export { Budget } from "../durable-objects/budget/budget.ts";
export { AnswerDesk } from "../durable-objects/answers/answer-desk.ts";
export { Directory } from "../durable-objects/directory/directory.ts";
export { Dispatcher } from "../durable-objects/dispatcher/dispatcher.ts";
export { Monitor } from "../durable-objects/monitor/monitor.ts";
export { Evaluator } from "../durable-objects/evaluator/evaluator.ts";
export { Limiter } from "../durable-objects/limiter/limiter.ts";
export { Registry } from "../durable-objects/registry/registry.ts";
export { Run } from "../durable-objects/run/run.ts";
export { Schedule } from "../durable-objects/schedule/schedule.ts";
export { EnvironmentOutbound } from "./isolates/environment-outbound.ts";

/** The Worker with the bundled environments alone. */
export default createWorker();
