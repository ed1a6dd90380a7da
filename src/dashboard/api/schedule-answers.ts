/** What the HTTP API answers about schedules and evaluators. */
import type { z } from "zod";
import type { evaluatorAnswer, evaluatorList, stepAnswer } from "../../api/evaluators/evaluator-schemas.ts";
import type { scheduleAnswer, scheduleList } from "../../api/schedules/schedule-schemas.ts";

export type ScheduleList = z.infer<typeof scheduleList>;
/** A schedule as lists have it. */
export type ListedSchedule = ScheduleList["data"][number];
export type ScheduleAnswer = z.infer<typeof scheduleAnswer>;
export type Schedule = ScheduleAnswer["data"];
/** One due time that was begun, or was not though it came. */
export type SeriesEntry = Schedule["series"][number];
export type ScheduleEvent = Schedule["events"][number];

export type EvaluatorList = z.infer<typeof evaluatorList>;
export type ListedEvaluator = EvaluatorList["data"][number];
export type EvaluatorAnswer = z.infer<typeof evaluatorAnswer>;
export type Evaluator = EvaluatorAnswer["data"];
/** What a step that was posted came to. */
export type PostedStep = z.infer<typeof stepAnswer>;
/** What became of one evaluation of a step. */
export type StepRecord = Evaluator["records"][number];
