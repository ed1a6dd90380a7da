import { z } from "zod";
import { GIVEN_NAME_RULE, isGivenName } from "../../config/given-name.ts";
import { plainText } from "../../config/plain-text.ts";
import { STANDINGS } from "../../monitors/state.ts";
import { teamQuery } from "../people/people-schemas.ts";

/** Bodies, paths and answers of `/monitors`; what a monitor is, `src/monitors/definition-schema.ts` says. */

export const monitorQuery = teamQuery;
export const monitorPath = z.strictObject({ monitor: z.string().refine(isGivenName, GIVEN_NAME_RULE) });
export const pauseBody = z.strictObject({ reason: plainText(200).default("paused") });
export const beatQuery = z.strictObject({ done: z.enum(["1", "true", "0", "false"]).optional().describe("1: the job has ended in order.") });

const text = z.string();
const moment = z.iso.datetime();
const entry = z.strictObject({ seq: z.int(), at: moment, type: text, detail: z.record(text, z.json()).describe("What the entry tells, by its type.") });
const facts = {
  name: text,
  every: text,
  grace: text,
  state: z
    .enum([...STANDINGS, "paused"])
    .describe("`new`: never a beat; `late`: one is due and may still come; `lost`: it did not; `done`: the job ended in order."),
  since: moment,
  last_beat_at: moment.nullable().describe("At least: beats are written down every so often."),
  losses: z.int().describe("How often it was lost."),
  paused: z.strictObject({ at: moment, by: text, reason: text }).nullable(),
  created_by: text.nullable().describe("null: a run made it."),
  created_at: moment,
  updated_at: moment,
  watched: z.boolean().describe("Whether this service watches; a local one that a command started for itself does not."),
};
const monitor = z.strictObject({ ...facts, history: z.array(entry) });
export const monitorList = z.strictObject({ data: z.array(z.strictObject(facts)) });
export const monitorAnswer = z.strictObject({ data: monitor });
export const beatUrlAnswer = z.strictObject({
  data: monitor,
  beat_url: z.string().nullable().describe("The address that the job calls, as it is when it is made or replaced: it is not kept. null: it is there already."),
});
