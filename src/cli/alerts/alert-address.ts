import { usageError } from "../terminal/cli-error.ts";

/** The address of an alert that stands in a variable: many of them are all that it takes to write into a channel. Throws a usage error. */
export function addressIn(name: string, env: NodeJS.ProcessEnv, place: string): string {
  const address = env[name]?.trim() ?? "";
  if (address !== "") return address;
  throw usageError(
    `${place}: the variable ${JSON.stringify(name)} is not set`,
    `It holds the address that is posted to: ${name}=https://… in front of the command.`,
  );
}
