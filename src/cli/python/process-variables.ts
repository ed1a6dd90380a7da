/** The variables that a process of an environment has: what Python needs, and what was declared or named. It runs code of others, so nothing else of this command's. */
import { usageError } from "../terminal/cli-error.ts";
import { looksSecret } from "../service/local-secrets.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Of the system and of the person, of Python, of virtual environments and their tools, of the network, of caches, of graphics cards. */
const INHERITED = new Set([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "TERM"],
  ...["VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NO_PROXY", "no_proxy", "DOCKER_HOST"],
  ...["HF_HOME", "HF_HUB_CACHE", "HF_DATASETS_CACHE", "HF_ENDPOINT", "HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "NLTK_DATA", "VF_LOG_LEVEL"],
  ...["CUDA_VISIBLE_DEVICES", "CUDA_HOME", "OMP_NUM_THREADS", "TOKENIZERS_PARALLELISM"],
  // Without these no program starts there.
  ...["SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS"],
]);
const FAMILIES = /^(LC_|PYTHON|UV_|XDG_)/;
const PROXIES = /^(https?|all)_proxy$/i;
const HAS_PASSWORD = /:\/\/[^/\s]*@/;

/** `NAME`, or `NAME=OTHER`: under which name, and whose value. */
interface Named {
  readonly name: string;
  readonly from: string;
}

export interface AskedVariables {
  /** As `--env-var` names them. */
  readonly named: readonly string[];
  /** What the environment's project declares. */
  readonly declared: readonly string[];
  /** The variables that hold keys of models under evaluation. */
  readonly modelKeys: readonly string[];
}

export interface ProcessVariables {
  readonly values: Readonly<Record<string, string>>;
  /** Names of those beyond the inherited ones, in order. */
  readonly given: readonly string[];
}

/** Throws a usage error where `--env-var` names what no environment gets, or what is not set. */
export function processVariables(env: Variables, { named, declared, modelKeys }: AskedVariables): ProcessVariables {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined && isInherited(name, value)) values[name] = value;
  const given = new Set<string>();
  for (const name of declared) {
    const value = env[name];
    if (value === undefined || reasonAgainst(name, modelKeys) !== null) continue;
    values[name] = value;
    given.add(name);
  }
  for (const { name, from } of named.map(readNamed)) {
    const reason = reasonAgainst(from, modelKeys) ?? (isOwn(name) ? OWN : null);
    if (reason !== null)
      throw usageError(
        `--env-var ${from === name ? name : `${name}=${from}`}: ${reason}`,
        `Give it one of its own under that name: export MY_OTHER=…, and --env-var ${name}=MY_OTHER`,
      );
    const value = env[from];
    if (value === undefined) throw usageError(`--env-var: ${from} is not set`, `export ${from}=… first, or leave it out.`);
    values[name] = value;
    given.add(name);
  }
  return { values, given: [...given] };
}

const isInherited = (name: string, value: string): boolean =>
  INHERITED.has(name) ||
  (process.platform === "win32" && INHERITED.has(name.toUpperCase())) ||
  ((FAMILIES.test(name) || PROXIES.test(name)) && !looksSecret(name) && !HAS_PASSWORD.test(value));

const isOwn = (name: string): boolean => name.startsWith("EDGEWISE_");
const OWN = "variables of edgewise itself are for no environment";

/** Why no environment gets a variable; null where one may. */
function reasonAgainst(name: string, modelKeys: readonly string[]): string | null {
  if (isOwn(name)) return OWN;
  if (name === "HF_TOKEN") return "the token of the Hugging Face Hub is for no environment";
  if (modelKeys.includes(name)) return "it holds the key of a model under evaluation, which is for no environment";
  return null;
}

function readNamed(text: string): Named {
  const [name = "", from = name] = text.split("=");
  return { name, from };
}
