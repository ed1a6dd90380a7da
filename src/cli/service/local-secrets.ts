/**
 * Keys for the local service. Runs name the variable that holds their key; the Worker looks it up in what is passed here when the
 * service starts (binding `LOCAL_SECRETS`), as a deployed Worker does in its own secrets. Never stored, never logged.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { systemCode } from "../terminal/cli-error.ts";

const NAME = /^[A-Z][A-Z0-9_]*$/;
const LOOKS_SECRET = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|_TEAM_ID$/;
/** Whether a variable of that name may hold a key. */
export const looksSecret = (name: string): boolean => LOOKS_SECRET.test(name);
/** Longer values are not keys; the sum keeps the configuration of the runtime small. */
const MAX_VALUE = 8 * 1024;
const MAX_TOTAL = 128 * 1024;

export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of `.dev.vars`. */
  readonly cwd: string;
  readonly home: string;
  /** Names given with `-k`: passed on whatever they look like. */
  readonly named: readonly string[];
}

/** Values by name. A variable of the process wins over `.dev.vars`, both over the `prime` client's own configuration. */
export function collectSecrets({ env, cwd, home, named }: SecretSources): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(primeKeys(home))) found.set(name, value);
  for (const [name, value] of Object.entries(devVars(cwd))) if (NAME.test(name)) found.set(name, value);
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === "") continue;
    const wanted = named.includes(name) || found.has(name) || (NAME.test(name) && looksSecret(name));
    // The token of a deployed service is for the command line, not for models.
    if (wanted && !name.startsWith("EDGEWISE_")) found.set(name, value);
  }
  const secrets: Record<string, string> = {};
  let total = 0;
  const byImportance = [...found].sort(([a], [b]) => Number(named.includes(b)) - Number(named.includes(a)));
  for (const [name, value] of byImportance) {
    total += name.length + value.length;
    if (value.length <= MAX_VALUE && total <= MAX_TOTAL) secrets[name] = value;
  }
  return secrets;
}

/** `.dev.vars`: the dotenv file in which wrangler, too, looks for local secrets. */
function devVars(cwd: string): Readonly<Record<string, string>> {
  const text = readOptional(join(cwd, ".dev.vars"));
  const vars: Record<string, string> = {};
  for (const [name, value] of Object.entries(text === null ? {} : parseEnv(text))) if (value !== undefined && value !== "") vars[name] = value;
  return vars;
}

/** Configuration of the `prime` client: `api_key` and `team_id`. */
function primeKeys(home: string): Readonly<Record<string, string>> {
  const text = readOptional(join(home, ".prime", "config.json"));
  if (text === null) return {};
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    // A broken file of another program is as good as none; the missing key is reported where it is needed.
    return {};
  }
  const { api_key, team_id } = (config ?? {}) as { api_key?: unknown; team_id?: unknown };
  const keys: Record<string, string> = {};
  if (typeof api_key === "string" && api_key !== "") keys.PRIME_API_KEY = api_key;
  if (typeof team_id === "string" && team_id !== "") keys.PRIME_TEAM_ID = team_id;
  return keys;
}

function readOptional(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "EACCES" || code === "ENOTDIR" || code === "EISDIR") return null;
    throw error;
  }
}
