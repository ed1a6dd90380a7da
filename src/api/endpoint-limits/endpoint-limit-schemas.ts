import { z } from "zod";
import { limitRow } from "../../config/endpoints/limit-rows.ts";
import { LIMIT_FIELDS } from "../../config/endpoints/given-limit.ts";
import { GIVEN_NAME_RULE, isGivenName } from "../../config/given-name.ts";
import { LIMIT_KINDS } from "../../endpoint-limits/limit-kinds.ts";
import { teamQuery } from "../people/people-schemas.ts";
import { wholeNumber } from "../schemas.ts";

/** Paths, queries, bodies and answers of `/limits`: what endpoints bear, and not what a team may use (`/teams/{team}/limits`). */

/** Limiters of one answer: each is asked. */
const MAX_LIMITERS = 100;

export const limiterId = z.string().regex(/^[0-9a-f]{8}$/, "must be the id of a limiter: eight hex characters");
export const limitersQuery = z.strictObject({ ...teamQuery.shape, skip: wholeNumber().default(0), limit: wholeNumber(1, MAX_LIMITERS).default(50) });
export const limitQuery = teamQuery;
export const limiterPath = z.strictObject({ limiter: limiterId });
export const givenPath = z.strictObject({ limit: z.string().refine(isGivenName, GIVEN_NAME_RULE) });
/** One `[[limit]]`. */
export const givenBody = limitRow;

const text = z.string();
const moment = z.iso.datetime();
const whole = z.int().min(0);
const [first, ...others] = LIMIT_KINDS.map((kind) => LIMIT_FIELDS[kind]);
const kind = z.enum([first ?? "concurrent", ...others]);
const source = z.enum(["given", "told", "found"]).describe("given: by a person; told: by the endpoint; found: by its refusals.");

const limiter = z.strictObject({
  limiter_id: text,
  api_base_url: text,
  api_key_var: text.describe("The name of the key, never the key."),
  model_class: text.describe("The model, or what several models that share a limit are called together."),
  seen_at: moment.describe("When the limiter last began anew."),
  given: z.array(text).describe("Names of the team's limits that hold here."),
  state: z
    .strictObject({
      mode: z.enum(["open", "limited"]).describe("open: nothing is known that limits."),
      limits: z.array(z.strictObject({ kind, limit: z.number(), source })),
      bound: z
        .strictObject({
          kind: z.enum([...kind.options, "pause", "down", "start"]),
          limit: z.number().nullable(),
          source: z.enum([...source.options, "common"]).nullable(),
        })
        .nullable()
        .describe("Why not everything is granted now: the strictest bound."),
      paused_until: moment.nullable(),
      down_since: moment.nullable(),
      in_flight: whole,
      waiting: whole,
      minute: z
        .strictObject({
          sent: whole,
          accepted: whole,
          refused: whole,
          refused_share: z.number().min(0).max(1).nullable().describe("Of what was sent; null where nothing was."),
          input_tokens: z.number(),
          output_tokens: z.number(),
        })
        .describe("Of the last minute."),
      latency_ms: z.strictObject({ p50: z.number(), p95: z.number(), p99: z.number() }).nullable().describe("Of accepted requests of the last ten minutes."),
      users: z.array(
        z.strictObject({
          run_id: text.nullable().describe("Null: runs of other teams, counted together."),
          team: text.nullable(),
          kind: z.enum(["model", "judges"]),
          priority: z.number(),
          in_flight: whole,
          waiting: whole,
          accepted: whole.describe("In the last minute."),
        }),
      ),
    })
    .nullable()
    .describe("Null: the limiter knows nothing, or does not answer."),
});
export const limiterList = z.strictObject({ data: z.array(limiter), total: whole, skip: whole, limit: whole });
export const limiterAnswer = z.strictObject({ data: limiter });

const given = z.strictObject({
  name: text,
  limits: z.array(
    z.strictObject({
      api_base_url: text,
      api_key_var: text.optional().describe("Absent: whichever key."),
      model: text.optional().describe("Absent: each model by itself."),
      ...Object.fromEntries(kind.options.map((name) => [name, z.int().min(1).optional()])),
    }),
  ),
  created_at: moment,
  updated_at: moment,
  updated_by: text,
});
export const givenList = z.strictObject({ data: z.array(given) });
export const givenAnswer = z.strictObject({ data: given });
