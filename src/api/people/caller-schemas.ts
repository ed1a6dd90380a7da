import { z } from "zod";
import { SCOPES } from "../../teams/scopes.ts";

/** Who calls, in our own terms: what a page needs to know before it offers something. */
export const callerFacts = z.strictObject({
  owner: z.boolean().describe("May make teams, users and tokens of any team."),
  scopes: z.array(z.enum(SCOPES)).describe("All that the caller may do, what a scope includes among it."),
  teams: z.array(z.string()).describe("The first is meant where a request names none."),
  via: z
    .enum(["local", "owner", "token", "session", "access"])
    .describe("`local`: on this machine, where no token is set; `session`: a browser that is signed in."),
  token: z.string().nullable().describe("Id of the token; null for the owner, and for whom Cloudflare Access names."),
  expires_at: z.iso.datetime().nullable().describe("When the token, or the session, is over; null = never."),
  version: z.string().describe("Of the service."),
  local: z.boolean().describe("The service is on this machine."),
});
