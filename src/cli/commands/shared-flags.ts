/** Flags that several commands about a service have. */
import { Option } from "commander";
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
