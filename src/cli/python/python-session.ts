/** The processes of all environments in Python that one command plays, and their links at its service. */
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { quoted } from "../../report/text/shell-word.ts";
import { shortPath } from "../command-line/typed-commands.ts";
import type { ServiceClient } from "../connection/http-client.ts";
import { hangMsOf } from "../service/runtime/silence-watch.ts";
import type { Surroundings } from "../service/service.ts";
import { EnvironmentProcess } from "./environment-process.ts";
import { installer } from "./interpreter.ts";
import { type LinkBody, putLink, removeLink, RENEW_MS, renewLink } from "./link.ts";
import { OPENENV_LAUNCHER } from "./openenv-launcher.ts";
import type { OpenEnvProject } from "./openenv-project.ts";
import type { PythonEnvironment } from "./python-environment.ts";
import type { WorkerCount } from "./worker-count.ts";

/** An environment with what its evaluations ask of its processes. */
export interface PlayedPython {
  readonly environment: PythonEnvironment;
  readonly count: WorkerCount;
  readonly variables: Readonly<Record<string, string>>;
  /** Names of the variables that were declared or named for it. */
  readonly given: readonly string[];
}

interface Serving extends PlayedPython {
  readonly token: string;
  readonly processes: readonly EnvironmentProcess[];
}

interface SessionOptions extends Pick<Surroundings, "cwd" | "env"> {
  readonly tell: (line: string) => void;
}

/** `python/` of this package, where `edgewise_env` is. */
const PACKAGE = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../../../python" : "../python", import.meta.url));
const TOKEN_VARIABLE = "EDGEWISE_ENV_TOKEN";

export class PythonSession {
  readonly #serving: readonly Serving[];
  readonly #projects: readonly (readonly [OpenEnvProject, EnvironmentProcess])[];
  readonly #options: SessionOptions;
  readonly #givenUp = new AbortController();
  /** Names the links of this command among those of others. */
  readonly #command = randomBytes(8).toString("hex");
  #links: readonly (readonly [name: string, body: LinkBody])[] = [];
  #client: (() => ServiceClient) | null = null;
  #renewal: NodeJS.Timeout | undefined;

  /** `projects`: of OpenEnv, whose servers the service reaches by themselves. */
  constructor(played: readonly PlayedPython[], projects: readonly OpenEnvProject[], options: SessionOptions) {
    this.#options = options;
    this.#serving = played.map((each) => this.#serve(each));
    this.#projects = projects.map((project) => [project, this.#openEnv(project)] as const);
  }

  /** Fires with the error to tell when a process ends again and again. */
  get signal(): AbortSignal {
    return this.#givenUp.signal;
  }

  /** Starts every process. Throws what the first said that cannot be started; `end` is called all the same. */
  async start(): Promise<void> {
    const servers = Promise.all(this.#projects.map(([{ port }, server]) => server.start(port)));
    servers.catch(() => undefined);
    this.#links = await Promise.all(
      this.#serving.map(async ({ environment, processes, token }) => {
        const urls = await Promise.all(processes.map((each) => each.start()));
        return [environment.id, { urls, token, command: this.#command }] as const;
      }),
    );
    await servers;
  }

  /** Tells the service where they are, and keeps that true. `client`: of the service that there is at the moment. */
  async attach(client: () => ServiceClient): Promise<void> {
    this.#client = client;
    for (const [name, body] of this.#links) await putLink(client(), name, body);
    if (this.#links.length === 0) return;
    this.#renewal = setInterval(() => {
      // What cannot be reached now is asked again before the lease is over.
      for (const [name, body] of this.#links) renewLink(client(), name, body).catch(() => undefined);
    }, RENEW_MS);
    this.#renewal.unref();
  }

  /** Takes the links away, and ends all processes. Never throws. */
  async end(): Promise<void> {
    clearInterval(this.#renewal);
    const client = this.#client;
    if (client !== null) await Promise.allSettled(this.#links.map(([name]) => removeLink(client(), name, this.#command)));
    const processes = [...this.#serving.flatMap((each) => each.processes), ...this.#projects.map(([, server]) => server)];
    await Promise.allSettled(processes.map((each) => each.end()));
  }

  #serve(played: PlayedPython): Serving {
    const token = randomBytes(32).toString("base64url");
    const { environment, count } = played;
    const processes = Array.from({ length: count.processes }, (_, index) =>
      this.#process(played, token, count.processes === 1 ? environment.id : `${environment.id} (${index + 1} of ${count.processes})`),
    );
    return { ...played, token, processes };
  }

  #openEnv({ app, executable, folder, name, variables }: OpenEnvProject): EnvironmentProcess {
    const { env, tell } = this.#options;
    return new EnvironmentProcess({
      name,
      executable,
      args: ["-u", "-c", OPENENV_LAUNCHER, app],
      cwd: folder,
      env: variables,
      token: "",
      silentMs: 2 * hangMsOf(env),
      onDeath: tell,
      onGivenUp: (error) => this.#givenUp.abort(error),
      hintsFor: () => [],
    });
  }

  #process({ environment, count, variables }: PlayedPython, token: string, name: string): EnvironmentProcess {
    const { cwd, env, tell } = this.#options;
    const { executable, version, virtualEnv } = environment.interpreter;
    const path = [PACKAGE, ...(variables.PYTHONPATH ? [variables.PYTHONPATH] : [])].join(process.platform === "win32" ? ";" : ":");
    // Nothing of the working folder is taken for a module, as with installed programs (Python 3.11 has the flag).
    const safe = version[1] >= 11 ? ["-P"] : [];
    const limit = count.concurrency === null ? [] : ["--concurrency", String(count.concurrency)];
    return new EnvironmentProcess({
      name,
      executable,
      args: [...safe, "-u", "-m", "edgewise_env", environment.target, "--id", environment.id, "--token-env", TOKEN_VARIABLE, ...limit],
      cwd,
      env: { ...variables, ...(virtualEnv === null ? {} : { VIRTUAL_ENV: virtualEnv }), PYTHONPATH: path, [TOKEN_VARIABLE]: token },
      token,
      silentMs: 2 * hangMsOf(env),
      onDeath: tell,
      onGivenUp: (error) => this.#givenUp.abort(error),
      hintsFor: (message) => installHints(environment, message, cwd, env.PATH),
    });
  }
}

/** Where an import fails, what installs the rest of what the environment needs. */
function installHints(
  { folder, project, interpreter: { executable } }: PythonEnvironment,
  message: string,
  cwd: string,
  path: string | undefined,
): readonly string[] {
  if (folder === null || project === null || !/No module named|is not installed in|cannot import name/.test(message)) return [];
  return [`Everything that its project names: ${installer(executable, path)} -e ${quoted(shortPath(folder, cwd))}`];
}
