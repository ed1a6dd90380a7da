import { z } from "zod";
import { plainText } from "../../config/plain-text.ts";
import { HOST_RULE, isHost, isSecretName, isSecretValue, MAX_HOSTS, MAX_OF_RUN, NAME_RULE, VALUE_RULE } from "../../secrets/secret-rules.ts";

/** Bodies, queries and answers about secrets and variables, in the terms of the `prime` client. No answer has the value of a secret. */

const name = z.string().max(128).refine(isSecretName, NAME_RULE);
const value = z.string().refine(isSecretValue, VALUE_RULE);
const description = plainText(500);
const hosts = z
  .array(
    z
      .string()
      .transform((text) => text.toLowerCase())
      .refine(isHost, HOST_RULE),
  )
  .max(MAX_HOSTS)
  .describe("The hosts of models that it is a key for: it is sent nowhere else, and no environment gets it.");
const isFile = z
  .boolean()
  .refine((file) => !file, "environments here have no files: leave it out, and give the text itself")
  .optional();

const some = (body: object): boolean => Object.values(body).some((each) => each !== undefined);
const NOTHING = { error: "must change something" };

export const secretBody = z.strictObject({
  name,
  value,
  description: description.optional(),
  hosts: hosts.optional(),
  isFile,
  teamId: plainText(200).nullable().optional(),
});
export const secretChange = z
  .strictObject({ name: name.optional(), value: value.optional(), description: description.nullable().optional(), hosts: hosts.optional() })
  .refine(some, NOTHING);
export const environmentSecretBody = z.strictObject({ name, value, description: description.optional(), isFile });
export const environmentSecretChange = z
  .strictObject({ name: name.optional(), value: value.optional(), description: description.nullable().optional() })
  .refine(some, NOTHING);
export const teamIdQuery = z.strictObject({ teamId: plainText(200).optional() });

/** Stands in the answers, so it may be shown. */
const shownValue = plainText(4_096);
export const variableBody = z.strictObject({ name, value: shownValue, description: description.optional() });
export const variableChange = z
  .strictObject({ name: name.optional(), value: shownValue.optional(), description: description.nullable().optional() })
  .refine(some, NOTHING);

/** Secrets of one run: removed when it has settled. */
export const customSecrets = z.record(z.string(), value).superRefine((given, context) => {
  const names = Object.keys(given);
  if (names.length > MAX_OF_RUN) context.addIssue({ code: "custom", message: `must be ${MAX_OF_RUN} at most` });
  for (const wrong of names.filter((each) => !isSecretName(each)).slice(0, MAX_OF_RUN)) context.addIssue({ code: "custom", path: [wrong], message: NAME_RULE });
});

/** Where a change of the master key goes on. */
export const rotateBody = z.strictObject({ team: plainText(32).optional(), after: plainText(200).optional() });

const text = z.string();
const moment = z.iso.datetime();
const facts = { id: text, name: text, description: text.nullable(), createdAt: moment, updatedAt: moment };
const secret = z.strictObject({ ...facts, hosts: z.array(text), createdBy: text });
const environmentSecret = z.strictObject({ ...facts, source: z.enum(["environment", "global"]).describe("global: one of the team's that is linked to it.") });
const variable = z.strictObject({ ...facts, value: text });
export const secretList = z.strictObject({ data: z.array(secret) });
export const secretAnswer = z.strictObject({ data: secret });
export const environmentSecretList = z.strictObject({ data: z.array(environmentSecret) });
export const environmentSecretAnswer = z.strictObject({ data: environmentSecret });
export const linkAnswer = z.strictObject({ data: z.strictObject({ id: text, secretId: text, secretName: text, environmentId: text, createdAt: moment }) });
export const variableList = z.strictObject({ data: z.array(variable) });
export const variableAnswer = z.strictObject({ data: variable });
export const rotated = z.strictObject({
  data: z.strictObject({
    key: text.describe("Id of the master key that values are encrypted with from here on."),
    changed: z.int().describe("Values that this slice encrypted anew."),
    unreadable: z.int().describe("Values of the slice whose master key this service does not have; they stay as they are."),
    next: z.strictObject({ team: text, after: text }).nullable().describe("Body of the next request; null: everything was looked at."),
  }),
});
