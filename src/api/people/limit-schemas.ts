import { z } from "zod";
import { LIMITS, type Limit, limitRule, TEAM_LIMITS, type TeamLimitName, TOKEN_LIMITS, type TokenLimitName } from "../../teams/limits.ts";

/** Bodies and answers about what a team or a token may use, made from the table of limits. */

type Shape<Name extends string, Schema> = { [Each in Name]: Schema };
const shapeOf = <Name extends string, Schema>(names: readonly Name[], schema: (name: Name) => Schema) =>
  Object.fromEntries(names.map((name) => [name, schema(name)])) as Shape<Name, Schema>;

function numberOf(name: TeamLimitName | TokenLimitName) {
  const { least, most }: Limit = LIMITS[name];
  const rule = limitRule(name).replace(/, or .*$/, "");
  return z.int(rule).min(least, rule).max(most, rule);
}

const helpOf = (name: TeamLimitName | TokenLimitName): string => `The most ${LIMITS[name].help}.`.replace("The most days", "Days");

export const limitBody = z.strictObject(
  shapeOf(TEAM_LIMITS, (name) =>
    z
      .union([numberOf(name), z.null(), z.literal("default")], `${limitRule(name)}, null for none, or "default"`)
      .optional()
      .describe(`${helpOf(name)} Null: no limit.`),
  ),
);
export const tokenLimits = z.strictObject(shapeOf(TOKEN_LIMITS, (name) => numberOf(name).optional().describe(helpOf(name))));

const count = z.int().min(0);
export const limitAnswer = z.strictObject({
  data: z.strictObject({
    team: z.string(),
    limits: z.strictObject(
      shapeOf(TEAM_LIMITS, (name) =>
        z
          .int()
          .nullable()
          .describe(`${helpOf(name)} Null: no limit.`),
      ),
    ),
    set: z.array(z.enum(TEAM_LIMITS)).describe("Those that somebody set; the others have their defaults."),
    used: z.strictObject({ runs: count, rollouts: count, stored_bytes: count }),
  }),
});
