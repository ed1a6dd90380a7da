import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ownerLives, ownerName } from "./owner.ts";

/** A folder of the cgroup file system below which this process may make groups, by what they limit. */
export interface CgroupPlace {
  readonly version: 1 | 2;
  readonly memory: string;
  readonly pids: string;
  /** Null where processors cannot be limited. */
  readonly cpu: string | null;
}

export interface CgroupLimits {
  readonly memoryBytes: number;
  readonly processes: number;
  readonly cpuCores: number;
}

/** What the kernel says of this process and its mounts. */
export interface CgroupFacts {
  /** `/proc/self/cgroup`. */
  readonly membership: string;
  /** `/proc/self/mountinfo`. */
  readonly mounts: string;
}

const PREFIX = "edgewise-";
/** Of a processor, in microseconds: the kernel's default. */
const PERIOD_US = 100_000;

/** The groups of this process that it may divide; null where it has none for memory and processes. */
export function cgroupPlace(facts: CgroupFacts = ownFacts()): CgroupPlace | null {
  const mounts = mountsOf(facts.mounts);
  const member = (controller: string): string | null => {
    const line = facts.membership
      .split("\n")
      .find((each) => (controller === "" ? each.startsWith("0::") : each.split(":")[1]?.split(",").includes(controller)));
    return line === undefined ? null : line.split(":").slice(2).join(":");
  };
  const first = (controller: string): string | null => {
    const [path, mount] = [member(controller), mounts.find(({ type, options }) => type === "cgroup" && options.includes(controller))];
    const folder = path === null || mount === undefined ? null : below(mount, path);
    return folder !== null && mayDivide(folder) ? folder : null;
  };
  const [memory, pids] = [first("memory"), first("pids")];
  if (memory !== null && pids !== null) return { version: 1, memory, pids, cpu: first("cpu") };
  const [path, mount] = [member(""), mounts.find(({ type }) => type === "cgroup2")];
  const own = path === null || mount === undefined ? null : below(mount, path);
  if (own === null || mount === undefined) return null;
  // A group with processes has no groups with limits below it: so the nearest one above that is ours, as under a user's systemd.
  for (let folder = own; folder.startsWith(mount.point); folder = dirname(folder)) {
    const given = (readText(join(folder, "cgroup.subtree_control")) ?? "").trim().split(/\s+/);
    if (given.includes("memory") && given.includes("pids") && mayDivide(folder) && mayWrite(join(folder, "cgroup.procs")))
      return { version: 2, memory: folder, pids: folder, cpu: given.includes("cpu") ? folder : null };
    if (folder === mount.point) return null;
  }
  return null;
}

/** The group of one sandbox. */
export class Cgroup {
  readonly #version: 1 | 2;
  readonly #memory: string;
  readonly #folders: readonly string[];

  /** Makes it with its limits. Throws what the file system says. */
  constructor(place: CgroupPlace, id: string, { cpuCores, memoryBytes, processes }: CgroupLimits) {
    const name = `${PREFIX}${ownerName()}-${id}`;
    this.#version = place.version;
    this.#memory = join(place.memory, name);
    this.#folders = [...new Set(parentsOf(place))].map((parent) => join(parent, name));
    for (const folder of this.#folders) mkdirSync(folder);
    const pids = join(place.pids, name);
    const cpu = place.cpu === null ? null : join(place.cpu, name);
    const quota = String(Math.max(1_000, Math.round(cpuCores * PERIOD_US)));
    writeFileSync(join(pids, "pids.max"), String(processes));
    if (place.version === 1) {
      writeFileSync(join(this.#memory, "memory.limit_in_bytes"), String(memoryBytes));
      // Absent where swap is not counted.
      const swapped = join(this.#memory, "memory.memsw.limit_in_bytes");
      if (existsSync(swapped)) writeFileSync(swapped, String(memoryBytes));
      if (cpu !== null) writeFileSync(join(cpu, "cpu.cfs_quota_us"), quota);
    } else {
      writeFileSync(join(this.#memory, "memory.max"), String(memoryBytes));
      const swapped = join(this.#memory, "memory.swap.max");
      if (existsSync(swapped)) writeFileSync(swapped, "0");
      if (cpu !== null) writeFileSync(join(cpu, "cpu.max"), `${quota} ${PERIOD_US}`);
    }
  }

  /** A process, and all that it will start. */
  take(pid: number): void {
    for (const folder of this.#folders) writeFileSync(join(folder, "cgroup.procs"), String(pid));
  }

  /** Processes that ended because the memory was used up, so far. */
  get killed(): number {
    const text = readText(join(this.#memory, this.#version === 1 ? "memory.oom_control" : "memory.events")) ?? "";
    return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  /** Removes it; its processes have ended. */
  async remove(): Promise<void> {
    for (const folder of this.#folders) await removed(folder);
  }
}

/** Ends and removes groups of owners that are no more. */
export async function sweepCgroups(place: CgroupPlace): Promise<void> {
  for (const parent of new Set(parentsOf(place)))
    for (const name of readdirSync(parent)) {
      const owner = new RegExp(`^${PREFIX}(\\d+-\\d+)-`).exec(name)?.[1];
      if (owner === undefined || ownerLives(owner)) continue;
      for (const pid of (readText(join(parent, name, "cgroup.procs")) ?? "").split("\n").filter(Boolean)) endProcess(Number(pid));
      await removed(join(parent, name));
    }
}

const parentsOf = ({ memory, pids, cpu }: CgroupPlace): readonly string[] => [memory, pids, ...(cpu === null ? [] : [cpu])];

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** A group stays busy until the last of its processes is gone, a moment after it was killed. */
async function removed(folder: string): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    try {
      return rmdirSync(folder);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return;
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  }
}

interface Mount {
  readonly point: string;
  /** The part of the file system that is mounted there. */
  readonly root: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** `36 35 98:0 /root /point rw,noatime shared:1 - type source options`. */
const mountsOf = (text: string): readonly Mount[] =>
  text
    .split("\n")
    .filter((line) => line.includes(" - cgroup"))
    .map((line) => {
      const [before = "", after = ""] = line.split(" - ");
      const [, , , root = "/", point = "/"] = before.split(" ");
      const [type = "", , options = ""] = after.split(" ");
      return { point, root, type, options: options.split(",") };
    });

function below({ point, root }: Mount, path: string): string | null {
  if (root === "/") return join(point, path);
  return path === root || path.startsWith(`${root}/`) ? join(point, path.slice(root.length)) : null;
}

const ownFacts = (): CgroupFacts => ({ membership: readText("/proc/self/cgroup") ?? "", mounts: readText("/proc/self/mountinfo") ?? "" });
const mayDivide = (folder: string): boolean => mayWrite(folder);

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
