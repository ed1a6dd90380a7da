import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Programs that speak for an engine of containers, in the order in which they are tried. */
const ENGINES = ["docker", "podman"] as const;
const ASK_MS = 60_000;
/** An engine elsewhere that cannot be reached keeps its program waiting. */
const INFO_MS = 5_000;
const ANSWER_BYTES = 1024 * 1024;

export interface Answered {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Docker or Podman, asked by its own program. */
export class ContainerEngine {
  readonly name: string;
  /** What the program is started with: as the user has it, whose contexts and sockets it finds. */
  readonly env: NodeJS.ProcessEnv;

  constructor(name: string, env: NodeJS.ProcessEnv) {
    this.name = name;
    this.env = env;
  }

  /** Runs one command of it to its end. Never throws. */
  ask(args: readonly string[], ms = ASK_MS): Promise<Answered> {
    return new Promise((resolve) => {
      execFile(this.name, [...args], { env: this.env, timeout: ms, killSignal: "SIGKILL", maxBuffer: ANSWER_BYTES }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
        resolve({ code, stdout, stderr: stderr.trim() || (error === null ? "" : error.message) });
      });
    });
  }
}

/** The first whose engine answers, or why there is none. A program is often there without its engine. */
export async function findEngine(env: NodeJS.ProcessEnv): Promise<ContainerEngine | { readonly problem: string }> {
  const said: string[] = [];
  for (const name of ENGINES) {
    if (!onPath(name, env)) continue;
    const engine = new ContainerEngine(name, env);
    // A client without its engine may still end with 0: then it names no version of one.
    const format = name === "podman" ? "{{.Version.Version}}" : "{{.ServerVersion}}";
    const { code, stderr, stdout } = await engine.ask(["info", "--format", format], INFO_MS);
    if (code === 0 && /^\d/.test(stdout.trim())) return engine;
    said.push(
      `${name} is installed, and its engine does not answer (${(stderr.split("\n").find((line) => line.trim() !== "") ?? `status ${code}`).slice(0, 200)})`,
    );
  }
  return { problem: said.length === 0 ? "neither Docker nor Podman is installed" : said.join("; ") };
}

export const onPath = (name: string, env: NodeJS.ProcessEnv): boolean =>
  (env.PATH ?? "").split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, name)));
