import { z } from "zod";
import { plainText } from "../../config/plain-text.ts";
import { LIFETIME_RULE, lifetime } from "../../teams/lifetime.ts";
import { SCOPES } from "../../teams/scopes.ts";
import { tokenLimits } from "./limit-schemas.ts";
import { isTeam, TEAM_RULE } from "../../teams/team-name.ts";

/** Bodies, queries, paths and answers about people: teams, users and their tokens. */

const slug = z.string().refine(isTeam, TEAM_RULE);
const scopes = z.array(z.enum(SCOPES)).min(1, "must name a scope").max(SCOPES.length);
/** Teams that one token is good in. */
const MAX_TEAMS = 32;

export const tokenBody = z.strictObject({
  name: plainText(100).describe("What it is for, for people."),
  scopes: scopes.describe("`runs:write` includes `runs:read`; `admin` includes all within its teams."),
  expires_in: z
    .string()
    .refine((text) => lifetime(text) !== null, LIFETIME_RULE)
    .optional()
    .describe("Such as 30d; without it the token is good until it is revoked."),
  user: slug.optional().describe("Whose token it is; without it the caller's."),
  limits: tokenLimits.optional().describe("What it may use of the team's; without it what the team may."),
  teams: z.array(slug).min(1).max(MAX_TEAMS).optional().describe("Where it is good, the usual team first; without it the team that is asked."),
});
export const teamQuery = z.strictObject({ team_id: slug.optional() });
export const teamPath = z.strictObject({ team: slug });
export const memberPath = z.strictObject({ team: slug, user: slug });
export const memberBody = z.strictObject({
  email: z
    .email()
    .max(254)
    .transform((text) => text.toLowerCase())
    .optional()
    .describe("As Cloudflare Access names the person."),
  scopes: scopes.optional().describe("The most that the user's tokens may do; for a new user runs:write."),
});

const text = z.string();
const moment = z.iso.datetime();
const token = {
  id: text,
  name: text,
  user: text,
  teams: z.array(text),
  scopes: z.array(z.enum(SCOPES)),
  created_at: moment,
  created_by: text,
  expires_at: moment.nullable(),
  revoked_at: moment.nullable(),
  last_used_at: moment.nullable().describe("To the minute."),
  limits: tokenLimits,
};
const team = z.strictObject({
  team: text,
  created_at: moment,
  members: z.array(z.strictObject({ user: text, email: text.nullable(), scopes: z.array(z.enum(SCOPES)) })),
});
export const tokenList = z.strictObject({ data: z.array(z.strictObject(token)) });
export const tokenAnswer = z.strictObject({ data: z.strictObject(token) });
export const tokenCreated = z.strictObject({ data: z.strictObject({ ...token, token: text.describe("Its text, shown this once.") }) });
export const teamList = z.strictObject({ data: z.array(team) });
export const teamAnswer = z.strictObject({ data: team });
