import { z } from "zod";
import { wholeNumber } from "../schemas.ts";
import { teamQuery } from "./people-schemas.ts";

/** Entries of one answer. */
const MAX_ENTRIES = 1_000;

export const auditQuery = teamQuery.extend({
  after: wholeNumber().default(0).describe("`next` of the page before."),
  limit: wholeNumber(1, MAX_ENTRIES).default(MAX_ENTRIES),
  order: z.enum(["asc", "desc"]).default("asc").describe("asc: oldest first; desc: newest first."),
});

const text = z.string();
export const auditPage = z.strictObject({
  data: z.array(
    z.strictObject({
      seq: z.int(),
      time: z.iso.datetime(),
      user: text,
      via: z.enum(["local", "owner", "token", "session", "access", "service", "nobody"]),
      token: text.nullable().describe("Its id."),
      origin: text.describe("Address that the request came from."),
      action: text.describe("Such as run.create or token.revoke."),
      target: text.nullable().describe("What it was done to, or what was made."),
      status: z.int().nullable().describe("Of the answer; null where the service ended in the middle of it."),
      ended_at: z.iso.datetime().nullable(),
    }),
  ),
  next: z.int().describe("The next `after`."),
  more: z.boolean(),
});
