/** The Durable Objects of the local service, by binding: every Worker that is started here exports these classes, also one with environments of one's own. */
export const OBJECT_CLASSES = {
  RUN: "Run",
  DISPATCHER: "Dispatcher",
  REGISTRY: "Registry",
  DIRECTORY: "Directory",
  SCHEDULE: "Schedule",
  ALERT_BOOK: "AlertBook",
  MONITOR: "Monitor",
  EVALUATOR: "Evaluator",
  LIMITER: "Limiter",
  BUDGET: "Budget",
  ANSWERS: "AnswerDesk",
} as const;
