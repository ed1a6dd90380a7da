/** Flags that several commands about a service have. */
import { type Command, Option } from "commander";
import { isTeam, TEAM_RULE } from "../../teams/team-name.ts";
import { usageError } from "../terminal/cli-error.ts";

export const outputOption = (): Option =>
  new Option("-o, --output <FORM>", "form of what is printed; json is the service's answer").choices(["table", "json"]).default("table");

/** Reads the name of a team or a user; `place` is what the refusal calls it. */
export const slugOf =
  (place: string) =>
  (text: string): string => {
    if (isTeam(text)) return text;
    throw usageError(`${place}: ${JSON.stringify(text)} ${TEAM_RULE}`);
  };

/** Of a command that alone does what one of its own does: a word behind it that is none of those is named, with those that there are. */
export function mustBeNone([word]: readonly string[], parent: Command, alone = "list"): void {
  if (word === undefined) return;
  const known = parent.commands.map((command) => command.name()).join(", ");
  throw usageError(
    `${parent.name()} ${JSON.stringify(word)}: there is no such command`,
    `One of ${known}; \`npx edgewise ${parent.name()}\` alone is ${parent.name()} ${alone}.`,
  );
}
