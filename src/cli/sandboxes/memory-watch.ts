import { readdirSync, readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { MAX_SANDBOX_INODES } from "../../limits.ts";
import { MIB } from "../../limits.ts";

/** How often it is looked: what is taken in between, `ulimit -d` of each process bounds. */
const LOOK_MS = 200;

export interface WatchedSandbox {
  /** Its first process, by this machine's numbers. */
  readonly pid: number;
  readonly memoryBytes: number;
  /** File systems in its memory. */
  readonly folders: readonly string[];
  /** Told how many bytes it has where that is too much, and what of it is in files; all but its first process are ended by then. */
  readonly onFull: (bytes: number) => void;
  /** Told of too many files, which nothing ends but the sandbox: its first process is ended then. */
  readonly onFiles: (count: number) => void;
}

/**
 * Keeps the memory of sandboxes within their bounds where no cgroup does: adds up what their processes and files hold, and ends all processes of
 * one that has too much. What a process shares with others counts for each.
 */
export class MemoryWatch {
  readonly #watched = new Set<WatchedSandbox>();
  #timer: NodeJS.Timeout | null = null;

  /** The answer ends it. */
  add(sandbox: WatchedSandbox): () => void {
    this.#watched.add(sandbox);
    this.#next();
    return () => void this.#watched.delete(sandbox);
  }

  #next(): void {
    if (this.#timer !== null || this.#watched.size === 0) return;
    this.#timer = setTimeout(() => {
      void this.#look().finally(() => {
        this.#timer = null;
        this.#next();
      });
    }, LOOK_MS).unref();
  }

  async #look(): Promise<void> {
    const children = childrenOf();
    for (const sandbox of this.#watched) {
      const own = descendants(children, sandbox.pid);
      const held = own.reduce((sum, pid) => sum + memoryOf(pid), 0);
      const files = await filesOf(sandbox);
      if (files.count > MAX_SANDBOX_INODES) {
        sandbox.onFiles(files.count);
        end(sandbox.pid);
      }
      if (held + files.bytes <= sandbox.memoryBytes) continue;
      for (const pid of own) if (pid !== sandbox.pid) end(pid);
      sandbox.onFull(held + files.bytes);
    }
  }
}

/** What is free for processes of a sandbox of which each may have so much: a floor under what a shell needs. */
export const dataLimitKib = (memoryBytes: number): number => Math.ceil(Math.max(memoryBytes, 64 * MIB) / 1_024);

async function filesOf({ pid, folders }: WatchedSandbox): Promise<{ bytes: number; count: number }> {
  let [bytes, count] = [0, 0];
  for (const folder of folders) {
    try {
      const { blocks, bfree, bsize, files, ffree } = await statfs(`/proc/${pid}/root${folder}`);
      bytes += (blocks - bfree) * bsize;
      count += files - ffree;
    } catch {
      // It ended between two looks.
    }
  }
  return { bytes, count };
}

/** Children by parent, of all processes of this machine. */
function childrenOf(): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readText(`/proc/${name}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? 0);
    const others = children.get(parent);
    if (others === undefined) children.set(parent, [Number(name)]);
    else others.push(Number(name));
  }
  return children;
}

function descendants(children: ReadonlyMap<number, readonly number[]>, first: number): readonly number[] {
  const all = [first];
  for (const pid of all) all.push(...(children.get(pid) ?? []));
  return all;
}

/** Bytes of a process that are no file's. */
function memoryOf(pid: number): number {
  const status = readText(`/proc/${pid}/status`);
  const kib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0);
  return (kib("RssAnon") + kib("RssShmem")) * 1_024;
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
