import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";
import type { SandboxSpec } from "../../environments/sandbox/sandbox.ts";
import { SandboxCreationError } from "../../errors/rollout-errors.ts";
import { MAX_SANDBOX_PROCESSES, MIB } from "../../limits.ts";
import type { DescribedWall } from "../../sandboxes/local/messages.ts";
import { BubblewrapSandbox } from "./bubblewrap-sandbox.ts";
import { Cgroup, type CgroupPlace, sweepCgroups } from "./cgroups.ts";
import { onPath } from "./container-engine.ts";
import { dataLimitKib, MemoryWatch } from "./memory-watch.ts";
import { readOnlyRoot, SANDBOX_USER } from "./read-only-root.ts";
import { seccompProgram } from "./seccomp.ts";
import { CONTROL, SPARE_PROCESSES, SUPERVISOR, SUPERVISOR_FILE } from "./supervisor.ts";
import type { WallMaker } from "./wall.ts";

const run = promisify(execFile);

const DEFAULT_IMAGE = "python:3.11-slim";
/** As whom sandboxes run where this process is root, whom no limit of processes holds: `nobody`. */
const NOBODY = 65_534;
const OPEN_MS = 20_000;
const SAID_CHARACTERS = 1_024;
const WORD_CHARACTERS = 64;
const ARGS_FD = 3;
const SECCOMP_FD = 4;
const INFO_FD = 5;

/** Waits for its word, by when its process number is in the groups that it shall be in. `$1` = KiB of data that each process may have, or `unlimited`. */
const BEGIN = 'read -r go || exit 1; ulimit -c 0; ulimit -d "$1"; shift; exec "$@"';

/** The first process of a sandbox. Of its own start files it reads none, and variables that name some are the sandbox's only. */
const FIRST = ["bash", "--noprofile", "--norc", `${CONTROL}/${SUPERVISOR_FILE}`];

export interface BubblewrapOptions {
  /** Makes a folder of this process's own, below which each sandbox has one, and gives its path. */
  readonly folder: () => string;
  /** Null = no cgroup limits what sandboxes have, so they are watched. */
  readonly cgroups: CgroupPlace | null;
  /** Sandboxes may have this machine's network where they ask for it. */
  readonly network: boolean;
}

/** Sandboxes that are namespaces of this machine's kernel, with its programs read-only, made by bubblewrap. */
export class Bubblewrap implements WallMaker {
  readonly wall = "bubblewrap";
  readonly #options: BubblewrapOptions;
  readonly #watch = new MemoryWatch();
  readonly #foreign = process.getuid?.() === 0;
  #probed: Promise<DescribedWall> | null = null;
  #help: Promise<string> | null = null;

  constructor(options: BubblewrapOptions) {
    this.#options = options;
  }

  /** Made once as it would be made for a rollout: only that says whether this machine allows it. */
  async describe(): Promise<DescribedWall> {
    const probed = this.#probed ?? this.#probe();
    this.#probed = probed;
    const described = await probed;
    // What is missing may be installed meanwhile.
    if (described.problem !== null && this.#probed === probed) this.#probed = null;
    return described;
  }

  lacks({ advanced_configs, docker_image, gpu_count }: SandboxSpec): string | null {
    if (docker_image !== DEFAULT_IMAGE && docker_image !== "") return `docker_image ${docker_image} needs Docker`;
    if (gpu_count > 0) return `gpu_count ${gpu_count} needs Docker`;
    if (advanced_configs.network === true && !this.#options.network)
      return "a network needs Docker, or EDGEWISE_SANDBOX_NETWORK=1 where the service is started, which gives sandboxes that ask for it the network of this machine, its own addresses too";
    return null;
  }

  async sweep(): Promise<void> {
    if (this.#options.cgroups !== null) await sweepCgroups(this.#options.cgroups);
  }

  async open(id: string, spec: SandboxSpec): Promise<BubblewrapSandbox> {
    const memoryBytes = Math.max(64 * MIB, Math.floor(spec.memory_gb * 1024 * MIB));
    const shared = this.#options.folder();
    const folder = join(shared, id);
    const control = join(folder, "control");
    // Who runs the sandbox passes through, and lists nothing.
    for (const each of [folder, control]) mkdirSync(each, { mode: 0o711 });
    let group: Cgroup | null = null;
    let child: ChildProcess | null = null;
    const clear = async (): Promise<void> => {
      await group?.remove();
      await rm(folder, { recursive: true, force: true });
    };
    try {
      writeFileSync(join(control, SUPERVISOR_FILE), SUPERVISOR, { mode: 0o644 });
      const { cgroups } = this.#options;
      if (cgroups !== null) group = new Cgroup(cgroups, id, { memoryBytes, processes: MAX_SANDBOX_PROCESSES + SPARE_PROCESSES + 8, cpuCores: spec.cpu_cores });
      child = this.#spawn(shared, group === null ? String(dataLimitKib(memoryBytes)) : "unlimited");
      if (child.pid === undefined) throw new Error("bubblewrap cannot be started");
      group?.take(child.pid);
      const args = await this.#arguments(shared, control, spec, memoryBytes);
      (child.stdio[ARGS_FD] as Writable).on("error", () => undefined).end(`${args.join("\0")}\0`);
      child.stdin?.on("error", () => undefined).write("go\n");
      const pid = await begun(child);
      let reason: string | null = null;
      let overfull = 0;
      const watched =
        group === null
          ? this.#watch.add({
              pid,
              memoryBytes,
              folders: ["/workspace", "/tmp", "/dev/shm"],
              onFull: () => overfull++,
              onFiles: (count) => {
                reason = `it had ${count} files`;
              },
            })
          : null;
      return new BubblewrapSandbox({
        child,
        pid,
        control,
        foreign: this.#foreign,
        reason: () => reason,
        overfull: () => (group === null ? overfull : group.killed),
        memoryGb: memoryBytes / (1024 * MIB),
        onEnd: async () => {
          watched?.();
          await clear();
        },
      });
    } catch (cause) {
      child?.kill("SIGKILL");
      await clear().catch(() => undefined);
      throw new SandboxCreationError(`bubblewrap makes no sandbox: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  }

  #spawn(folder: string, dataKib: string): ChildProcess {
    const filter = seccompProgram(process.arch, this.#options.cgroups === null);
    let opened: number | "ignore" = "ignore";
    if (filter !== null) {
      const path = join(folder, "seccomp");
      if (!existsSync(path)) writeFileSync(path, filter, { mode: 0o600 });
      opened = openSync(path, "r");
    }
    try {
      const child = spawn("/bin/sh", ["-c", BEGIN, "sandbox", dataKib, "bwrap", "--args", String(ARGS_FD), "--", ...FIRST], {
        cwd: "/",
        // Nothing of this process's own: what a sandbox has is in its arguments.
        env: { PATH: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin" },
        // Ctrl-C at the terminal is for the command, which ends its sandboxes itself.
        detached: true,
        stdio: ["pipe", "pipe", "pipe", "pipe", opened, "pipe"],
        ...(this.#foreign ? { uid: NOBODY, gid: NOBODY } : {}),
      });
      child.on("error", () => undefined);
      return child;
    } finally {
      if (opened !== "ignore") closeSync(opened);
    }
  }

  async #arguments(folder: string, control: string, spec: SandboxSpec, memoryBytes: number): Promise<readonly string[]> {
    const network = spec.advanced_configs.network === true;
    // All of it is memory: together less than the sandbox has, so that full disks leave room for a shell.
    const disk = Math.max(MIB, Math.min(Math.floor(spec.disk_size_gb * 1024 * MIB), Math.floor(memoryBytes / 2)));
    const mount = (path: string, bytes: number): readonly string[] => ["--perms", "1777", "--size", String(bytes), "--tmpfs", path];
    this.#help ??= run("bwrap", ["--help"]).then(({ stdout }) => stdout);
    const variables = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", HOME: "/workspace", USER: "user", LANG: "C.UTF-8", TERM: "dumb" };
    return [
      ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", ...(network ? [] : ["--unshare-net"])],
      ...((await this.#help).includes("--disable-userns") ? ["--disable-userns"] : []),
      ...["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv", "--hostname", "sandbox"],
      ...["--uid", String(SANDBOX_USER), "--gid", String(SANDBOX_USER), "--cap-drop", "ALL"],
      ...readOnlyRoot(join(folder, "etc"), network),
      ...mount("/dev/shm", Math.floor(Math.min(64 * MIB, memoryBytes / 16))),
      ...mount("/tmp", Math.min(disk, Math.floor(memoryBytes / 4))),
      ...mount("/workspace", disk),
      ...["--symlink", "/tmp", "/var/tmp", "--dir", "/root", "--dir", "/home"],
      ...["--ro-bind", control, CONTROL, "--remount-ro", "/dev", "--remount-ro", "/"],
      ...Object.entries({ ...variables, ...spec.environment_vars }).flatMap(([name, value]) => ["--setenv", name, value]),
      ...(seccompProgram(process.arch, false) === null ? [] : ["--seccomp", String(SECCOMP_FD)]),
      ...["--info-fd", String(INFO_FD), "--chdir", "/workspace"],
    ];
  }

  async #probe(): Promise<DescribedWall> {
    const none = (problem: string, hint: string): DescribedWall => ({ wall: "bubblewrap", problem, hint, limits: null });
    if (process.platform !== "linux") return none("bubblewrap is there on Linux only", "use Docker: https://docs.docker.com/get-docker/");
    if (!onPath("bwrap", process.env)) return none("bubblewrap is not installed", "apt-get install bubblewrap");
    const spec: SandboxSpec = { ...PROBE, docker_image: DEFAULT_IMAGE };
    try {
      const sandbox = await this.open(`probe-${crypto.randomUUID()}`, spec);
      await sandbox.end();
    } catch (thrown) {
      const said = thrown instanceof Error ? thrown.message : String(thrown);
      return none(
        said,
        "this machine may forbid namespaces to users (kernel.apparmor_restrict_unprivileged_userns, user.max_user_namespaces); Docker does without",
      );
    }
    const { cgroups } = this.#options;
    const limits =
      cgroups === null
        ? "memory and processes by resource limits and a watch of the process tree: no cgroup may be divided here; processors are not limited"
        : `memory and processes${cgroups.cpu === null ? "" : " and processors"} by cgroups (version ${cgroups.version})${cgroups.cpu === null ? "; processors are not limited" : ""}`;
    return { wall: "bubblewrap", problem: null, hint: null, limits };
  }
}

const PROBE = {
  name: "probe",
  start_command: "",
  cpu_cores: 1,
  memory_gb: 0.25,
  disk_size_gb: 0.01,
  gpu_count: 0,
  timeout_minutes: 1,
  environment_vars: {},
  labels: [],
  team_id: null,
  advanced_configs: {},
} as const;

/** Waits for the supervisor's word, and gives its process number, which comes another way and may come later. Throws with what was said instead. */
async function begun(child: ChildProcess): Promise<number> {
  let [said, info, word] = ["", "", ""];
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<number>((resolve, reject) => {
      const look = (): void => {
        const pid = /"child-pid":\s*(\d+)/.exec(info)?.[1];
        if (word.includes("ready\n") && pid !== undefined) resolve(Number(pid));
      };
      timer = setTimeout(() => reject(new Error(`it did not begin within ${OPEN_MS / 1_000} s`)), OPEN_MS);
      child.once("close", () => reject(new Error(said.trim() || "it ended without a word"))).once("error", reject);
      child.stderr?.on("data", (bytes: Buffer) => {
        said = `${said}${bytes.toString()}`.slice(0, SAID_CHARACTERS);
      });
      child.stdout?.on("data", (bytes: Buffer) => {
        word = `${word}${bytes.toString()}`.slice(0, WORD_CHARACTERS);
        look();
      });
      const reader = (child.stdio as readonly unknown[])[INFO_FD] as Readable;
      reader
        .on("error", () => undefined)
        .on("data", (bytes: Buffer) => {
          info = `${info}${bytes.toString()}`.slice(0, SAID_CHARACTERS);
          look();
        });
    });
  } finally {
    clearTimeout(timer);
  }
}
