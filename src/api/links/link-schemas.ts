import { z } from "zod";
import { MAX_LINK_LEASE_S, MAX_LINK_URLS } from "../../limits.ts";
import { isLinkName, LINK_NAME_RULE, nameOfSlug } from "../../links/link-name.ts";
import { isSecretValue, VALUE_RULE } from "../../secrets/secret-rules.ts";
import { argumentFacts } from "../published/published-schemas.ts";
import { teamQuery } from "../people/people-schemas.ts";

/** Bodies, paths and answers of `/environments/linked`. */

const command = z
  .string()
  .regex(/^[\w-]{1,64}$/, "must be 1 to 64 letters, digits, _ and -")
  .describe("Whose link it is, which lapses unless it is renewed; absent = of the one that lasts.");
const leaseSeconds = z.int().min(1).max(MAX_LINK_LEASE_S);

export const linkPath = z.strictObject({
  link: z.string().transform(nameOfSlug).refine(isLinkName, LINK_NAME_RULE).describe("The environment's id; `owner/name` is written `owner~name`."),
});
export const linkQuery = teamQuery;
export const linkDeletion = teamQuery.extend({ command: command.optional() });

export const linkBody = z
  .strictObject({
    urls: z
      .array(z.string().max(2048))
      .min(1, "must name an environment server")
      .max(MAX_LINK_URLS)
      .describe("Base URLs of processes with the same code. Deployed: https, and public."),
    token: z.string().refine(isSecretValue, VALUE_RULE).describe("What the server asks for as its bearer token. Kept encrypted, and never told."),
    lease_seconds: leaseSeconds.optional().describe("It lapses after so many seconds unless it is renewed; absent = it lasts."),
    command: command.optional(),
  })
  .refine((body) => (body.lease_seconds === undefined) === (body.command === undefined), {
    path: ["command"],
    error: "belongs to lease_seconds: give both, or none for a link that lasts",
  });
export const leaseBody = z.strictObject({ command, lease_seconds: leaseSeconds });

const text = z.string();
const moment = z.iso.datetime();
const link = {
  name: text,
  urls: z.array(text),
  environment: text.describe("As its server calls it."),
  version: text,
  description: text,
  digest: text.describe("What the server said that its code was made from, when the link was made."),
  args: z.array(argumentFacts),
  defaults: z.looseObject({}),
  keys: z.array(text).describe("Variables whose values it is given."),
  hosts: z.array(text).describe("Hosts that its code says it sends requests to."),
  linked_at: moment,
  linked_by: text,
  command: text.nullable().describe("Of a command that plays its run with it; null = it lasts."),
  lease_until: moment.nullable(),
};
const health = z.strictObject({
  url: text,
  state: z.enum(["healthy", "other_code", "refused", "unreachable"]),
  problem: text.nullable().describe("Why it is not healthy, and what to do."),
  protocol: z.int().nullable(),
  environment: text.nullable(),
  version: text.nullable(),
  conversations: z.int().nullable(),
  units: z.int().nullable(),
});
export const linkAnswer = z.strictObject({ data: z.strictObject(link) });
export const linkList = z.strictObject({ data: z.array(z.strictObject(link)) });
export const linkStatus = z.strictObject({ data: z.strictObject({ ...link, servers: z.array(health) }) });
export const leaseAnswer = z.strictObject({ data: z.strictObject({ lease_until: moment }) });
export type LinkHealth = z.infer<typeof health>;
