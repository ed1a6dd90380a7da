/** A project of OpenEnv in a folder of this machine: where it is, who runs it, and at which address it will be. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { shortPath } from "../command-line/typed-commands.ts";
import { absolute, isPath } from "../environments/find-environment.ts";
import type { Surroundings } from "../service/service.ts";
import { usageError } from "../terminal/cli-error.ts";
import { interpreterHaving } from "./interpreter.ts";
import { processVariables } from "./process-variables.ts";
import { readProject } from "./python-project.ts";

export interface OpenEnvFolder {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  /** The application, as uvicorn names it. */
  readonly app: string;
}

export interface OpenEnvProject extends OpenEnvFolder {
  readonly port: number;
  readonly url: string;
  readonly executable: string;
  readonly variables: Readonly<Record<string, string>>;
}

const MANIFEST = "openenv.yaml";
const PACKAGE = "openenv-core";

/** The project in the folder that `name` is the path of; null where there is none. Throws a usage error for one whose application nobody knows. */
export function openEnvFolder(name: string, cwd: string): OpenEnvFolder | null {
  if (!isPath(name)) return null;
  const folder = absolute(name, cwd);
  const manifest = join(folder, MANIFEST);
  if (!existsSync(manifest)) return null;
  const text = readFileSync(manifest, "utf8");
  const app = scalar(text, "app") ?? "server.app:app";
  const [module = ""] = app.split(":");
  const file = join(folder, ...module.split("."));
  if (!/^[\w.]+(:\w+)?$/.test(app) || !(existsSync(`${file}.py`) || existsSync(join(file, "__init__.py"))))
    throw usageError(
      `${manifest}: app is ${JSON.stringify(app)}, and ${shortPath(`${file}.py`, cwd)} is not there`,
      "It names a module and the application in it: server.app:app",
    );
  return { name: scalar(text, "name") ?? basename(folder), folder, app };
}

/** A text at the top of a manifest. */
const scalar = (text: string, key: string): string | null =>
  new RegExp(`^${key}:[ \\t]*["']?([^"'#\\n]+?)["']?[ \\t]*(?:#.*)?$`, "m").exec(text)?.[1]?.trim() ?? null;

interface Asking extends Pick<Surroundings, "cwd" | "env"> {
  readonly python: string | undefined;
  /** Variables by name, as `--env-var` gives them. */
  readonly named: readonly string[];
  readonly modelKeys: readonly string[];
  readonly tell: (line: string) => void;
}

/** With the interpreter that has its package, and a port. Throws a usage error that says what is missing. */
export async function openEnvProject(found: OpenEnvFolder, { cwd, env, python, named, modelKeys, tell }: Asking): Promise<OpenEnvProject> {
  const { values } = processVariables(env, { named, declared: [], modelKeys });
  const place = { id: found.name, target: found.folder, module: "openenv", folder: found.folder, project: readProject(found.folder) };
  const executable = await interpreterHaving(PACKAGE, place, { cwd, env: values, python, tell });
  const port = await portOf(found.folder);
  return { ...found, port, url: `http://127.0.0.1:${port}`, executable, variables: { ...values, ENABLE_WEB_INTERFACE: "false" } };
}

/** What whoever names one must know. */
export const openEnvTrustLine = ({ name, folder, executable }: OpenEnvProject, cwd: string): string =>
  `${name} is an OpenEnv project (${shortPath(folder, cwd)}) and not walled in: its server runs here with your rights, by ${shortPath(executable, cwd)}`;

const [FIRST_PORT, PORTS, TRIES] = [20_000, 20_000, 16];

/** The same for a folder each time, so that a run of it is resumed with the arguments that it had; the next one where another program has it. */
async function portOf(folder: string): Promise<number> {
  const digest = createHash("sha256").update(realpathSync(folder)).digest().readUInt32BE(0);
  for (let at = 0; at < TRIES; at++) {
    const port = FIRST_PORT + ((digest + at) % PORTS);
    if (await isFree(port)) return port;
  }
  throw usageError(`${TRIES} ports from ${FIRST_PORT + (digest % PORTS)} on are taken, and the server of ${folder} needs one`);
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
