import { alertSchema, type GivenAlert } from "../../alerts/alert-definition.ts";
import type { TomlTable } from "../../config/plan/toml-keys.ts";
import { issueLines } from "../command-line/issue-lines.ts";
import { addressIn, unsetAddress } from "./alert-address.ts";

const KEYS = [...Object.keys(alertSchema.shape), "url_var"];

/** An `[[alert]]` of a file, without its name: `url_var` names the variable of `env` that holds its address. Null, and what is wrong by its key, where it is none. */
export function alertIn({ url_var, ...table }: TomlTable, env: NodeJS.ProcessEnv, refuse: (problem: string) => void): GivenAlert | null {
  const address = typeof url_var === "string" ? addressIn(url_var, env) : null;
  if (url_var !== undefined && address === null) {
    refuse(`url_var: ${typeof url_var === "string" ? unsetAddress(url_var) : "must be the name of a variable"}`);
    return null;
  }
  if (address !== null && table.url !== undefined) {
    refuse("url_var: is not possible beside url");
    return null;
  }
  const given = address === null ? table : { ...table, url: address };
  const checked = alertSchema.safeParse(given);
  if (checked.success) return given as GivenAlert;
  for (const line of issueLines(checked.error.issues, KEYS)) refuse(address === null ? line : line.replace(/^url:/, "url_var:"));
  return null;
}
