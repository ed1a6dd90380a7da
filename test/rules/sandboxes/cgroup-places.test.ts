import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Cgroup, cgroupPlace } from "../../../src/cli/sandboxes/cgroups.ts";
import { ownerName } from "../../../src/cli/sandboxes/owner.ts";
import { MIB } from "../../../src/limits.ts";

const root = mkdtempSync(join(tmpdir(), "edgewise-cgroups-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A folder as the kernel shows a group: what its groups below are given. */
function group(path: string, given: string): string {
  const folder = join(root, path);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "cgroup.subtree_control"), `${given}\n`);
  writeFileSync(join(folder, "cgroup.procs"), "");
  return folder;
}
const mounted = (type: string, point: string, options = "rw", from = "/"): string =>
  `30 20 0:26 ${from} ${point} rw,nosuid shared:9 - ${type} cgroup ${options}\n`;

describe("the groups that a process may divide", () => {
  it("are those above its own that a user's systemd gave it, in version 2", () => {
    group("two", "cpu memory pids");
    const slice = group("two/user.slice/app.slice", "cpu memory pids");
    group("two/user.slice/app.slice/terminal.scope", "");
    const facts = { membership: "0::/user.slice/app.slice/terminal.scope\n", mounts: mounted("cgroup2", join(root, "two")) };
    expect(cgroupPlace(facts)).toEqual({ version: 2, memory: slice, pids: slice, cpu: slice });
  });

  it("have memory and processes, or there are none; processors where they are given", () => {
    const folder = group("three", "memory pids");
    const facts = { membership: "0::/\n", mounts: mounted("cgroup2", folder) };
    expect(cgroupPlace(facts)).toEqual({ version: 2, memory: `${folder}/`, pids: `${folder}/`, cpu: null });
    writeFileSync(join(folder, "cgroup.subtree_control"), "memory\n");
    expect(cgroupPlace(facts)).toBeNull();
    expect(cgroupPlace({ membership: "", mounts: "" })).toBeNull();
    expect(cgroupPlace({ membership: "0::/elsewhere\n", mounts: mounted("cgroup2", folder, "rw", "/container") })).toBeNull();
  });

  it("are one for each in version 1, below what is mounted of them", () => {
    const [memory, pids] = [group("one/memory/job", ""), group("one/pids", "")];
    const facts = {
      membership: "8:pids:/box\n4:memory:/box/job\n0::/\n",
      mounts: mounted("cgroup", join(root, "one/memory"), "rw,memory", "/box") + mounted("cgroup", pids, "rw,pids", "/box"),
    };
    expect(cgroupPlace(facts)).toEqual({ version: 1, memory, pids, cpu: null });
  });

  it.skipIf(process.getuid?.() === 0)("are none that it may not write to", () => {
    const folder = group("four", "memory pids");
    chmodSync(folder, 0o500);
    expect(cgroupPlace({ membership: "0::/\n", mounts: mounted("cgroup2", folder) })).toBeNull();
  });

  it("get their limits in the words of each version", () => {
    const two = { version: 2, memory: group("five", ""), pids: join(root, "five"), cpu: join(root, "five") } as const;
    new Cgroup(two, "a", { memoryBytes: 512 * MIB, processes: 40, cpuCores: 1.5 });
    const made = join(root, "five", `edgewise-${ownerName()}-a`);
    const read = (name: string): string => readFileSync(join(made, name), "utf8");
    expect([read("memory.max"), read("pids.max"), read("cpu.max")]).toEqual([String(512 * MIB), "40", "150000 100000"]);
  });
});
