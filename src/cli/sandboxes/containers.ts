import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxSpec } from "../../environments/sandbox/sandbox.ts";
import { SandboxCreationError } from "../../errors/rollout-errors.ts";
import { MAX_SANDBOX_PROCESSES, MIB } from "../../limits.ts";
import type { DescribedWall } from "../../sandboxes/local/messages.ts";
import { ContainerEngine, findEngine } from "./container-engine.ts";
import { ContainerSandbox } from "./container-sandbox.ts";
import { ownerLives, ownerName } from "./owner.ts";
import type { WallMaker } from "./wall.ts";

const OWNER_LABEL = "edgewise-owner";
const DEFAULT_IMAGE = "python:3.11-slim";
/** The first one of an image waits until the image is there. */
const OPEN_MS = 10 * 60_000;
/** How long it is taken to be so that no engine answers. */
const ASK_AGAIN_MS = 10_000;
/** How often it is looked how much containers have written. */
const DISK_LOOK_MS = 5_000;
const SAID_CHARACTERS = 1_024;

/** The first process: ends with its input, and so with the process that holds the other end. */
const MAIN = "echo ready; cat > /dev/null; kill -9 -1";

export interface ContainersOptions {
  /** Makes a folder of this process's own and gives its path. */
  readonly folder: () => string;
  readonly env: NodeJS.ProcessEnv;
}

/** Sandboxes that are containers of Docker or Podman. */
export class Containers implements WallMaker {
  readonly wall = "docker";
  readonly #options: ContainersOptions;
  readonly #open = new Map<string, { readonly sandbox: ContainerSandbox; readonly diskBytes: number }>();
  #found: Promise<ContainerEngine | { readonly problem: string }> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: ContainersOptions) {
    this.#options = options;
  }

  async describe(): Promise<DescribedWall> {
    const engine = await this.#engine();
    if (engine instanceof ContainerEngine)
      return {
        wall: "docker",
        problem: null,
        hint: null,
        limits: `memory, processes and processors by ${engine.name}; files by a look every ${DISK_LOOK_MS / 1_000} s`,
      };
    return { wall: "docker", problem: engine.problem, hint: "https://docs.docker.com/engine/install/, then start its engine", limits: null };
  }

  lacks({ environment_vars }: SandboxSpec): string | null {
    // They cross in a file of lines, where no other user of this machine sees them.
    const name = Object.entries(environment_vars).find(([, value]) => /[\r\n]/.test(value))?.[0];
    return name === undefined ? null : `environment_vars.${name} has several lines, which a container's cannot have`;
  }

  async sweep(): Promise<void> {
    const engine = await this.#engine();
    if (!(engine instanceof ContainerEngine)) return;
    const ids = (await engine.ask(["ps", "--all", "--quiet", "--filter", `label=${OWNER_LABEL}`])).stdout.split("\n").filter(Boolean);
    for (const id of ids) {
      const { code, stdout } = await engine.ask(["inspect", "--format", `{{index .Config.Labels "${OWNER_LABEL}"}}`, id]);
      if (code === 0 && !ownerLives(stdout.trim())) await engine.ask(["rm", "--force", "--volumes", id]);
    }
  }

  async open(id: string, spec: SandboxSpec): Promise<ContainerSandbox> {
    const engine = await this.#engine();
    if (!(engine instanceof ContainerEngine)) throw new SandboxCreationError(engine.problem);
    const variables = join(this.#options.folder(), `${id}.variables`);
    writeFileSync(
      variables,
      Object.entries(spec.environment_vars)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(""),
      { mode: 0o600 },
    );
    try {
      const child = spawn(engine.name, [...runArguments(id, spec, variables)], { env: engine.env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
      child.stdin.on("error", () => undefined);
      const said = new Promise<string | null>((resolve) => {
        let [words, errors] = ["", ""];
        child.stderr.on("data", (bytes: Buffer) => {
          errors = `${errors}${bytes.toString()}`.slice(-SAID_CHARACTERS);
        });
        child.stdout.on("data", (bytes: Buffer) => {
          words = `${words}${bytes.toString()}`.slice(0, 64);
          if (words.includes("ready\n")) resolve(null);
        });
        child.once("error", (error) => resolve(error.message));
        child.once("exit", () => resolve(errors.trim() || "it ended without a word"));
      });
      const sandbox = new ContainerSandbox(engine, id, child);
      const late = new Promise<string>((resolve) => setTimeout(resolve, OPEN_MS, `it did not begin within ${OPEN_MS / 1_000} s`).unref());
      const problem = await Promise.race([said, late]);
      if (problem !== null) {
        await sandbox.end();
        throw new SandboxCreationError(`${engine.name} makes no sandbox: ${problem}`);
      }
      this.#open.set(id, { sandbox, diskBytes: spec.disk_size_gb * 1024 * MIB });
      void sandbox.ended.then(() => this.#open.delete(id));
      this.#watch(engine);
      return sandbox;
    } finally {
      await rm(variables, { force: true });
    }
  }

  /** An engine that answered once is taken to be there; one that did not may have been started since. */
  async #engine(): Promise<ContainerEngine | { readonly problem: string }> {
    const asked = this.#found ?? findEngine(this.#options.env);
    this.#found = asked;
    const found = await asked;
    if (!(found instanceof ContainerEngine))
      setTimeout(() => {
        if (this.#found === asked) this.#found = null;
      }, ASK_AGAIN_MS).unref();
    return found;
  }

  /** Not every engine's storage can be limited: who has written too much is ended when that is seen. */
  #watch(engine: ContainerEngine): void {
    if (this.#timer !== null || this.#open.size === 0) return;
    this.#timer = setTimeout(() => {
      void this.#look(engine).finally(() => {
        this.#timer = null;
        this.#watch(engine);
      });
    }, DISK_LOOK_MS).unref();
  }

  async #look(engine: ContainerEngine): Promise<void> {
    if (this.#open.size === 0) return;
    const { stdout } = await engine.ask(["inspect", "--size", "--format", "{{.SizeRw}} {{.Name}}", ...this.#open.keys()], 60_000);
    for (const line of stdout.split("\n")) {
      const [bytes = "", name = ""] = line.trim().split(" ");
      const open = this.#open.get(name.replace(/^\//, ""));
      if (open !== undefined && Number(bytes) > open.diskBytes) await open.sandbox.end(`it had written ${bytes} bytes, more than its disk_size_gb`);
    }
  }
}

function runArguments(id: string, spec: SandboxSpec, variables: string): readonly string[] {
  const memory = `${Math.max(64 * MIB, Math.floor(spec.memory_gb * 1024 * MIB))}b`;
  return [
    ...["run", "--interactive", "--rm", "--name", id, "--hostname", "sandbox"],
    ...[OWNER_LABEL, "edgewise"].flatMap((label) => ["--label", label === OWNER_LABEL ? `${label}=${ownerName()}` : label]),
    ...spec.labels.flatMap((label) => ["--label", label]),
    ...(spec.advanced_configs.network === true ? [] : ["--network", "none"]),
    ...["--memory", memory, "--memory-swap", memory, "--cpus", String(spec.cpu_cores), "--pids-limit", String(MAX_SANDBOX_PROCESSES)],
    ...["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--ulimit", "core=0", "--shm-size", "64m", "--log-driver", "none"],
    ...(spec.gpu_count > 0 ? ["--gpus", String(spec.gpu_count)] : []),
    ...["--env-file", variables, "--workdir", "/workspace", "--entrypoint", "sh", spec.docker_image || DEFAULT_IMAGE, "-c", MAIN],
  ];
}
