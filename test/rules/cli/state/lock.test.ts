import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { announceClient, livingClients } from "../../../../src/cli/state/clients.ts";
import { readCommandSecret } from "../../../../src/cli/state/command-secret.ts";
import { endProcess, isAlive, markOf } from "../../../../src/cli/state/processes.ts";
import { rememberedFolder } from "../../../../src/cli/state/state-folder.ts";
import { type LockRecord, newLockRecord, readLock, tryLock } from "../../../../src/cli/state/state-lock.ts";

const contender = fileURLToPath(new URL("../../../support/cli/cli-lock-contender.ts", import.meta.url));

let folder = "";
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgewise-lock-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** A process that does nothing, under any name. */
function idle(name: string): ChildProcess {
  const child = spawn("bash", ["-c", `exec -a "$0" sleep 60`, name], { stdio: "ignore" });
  children.push(child);
  return child;
}

const pidOf = ({ pid }: ChildProcess): number => pid ?? 0;

async function until(condition: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 5000; !condition(); ) {
    if (Date.now() > deadline) throw new Error("did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The lock of an owner that has ended. */
async function deadRecord(change: Partial<LockRecord> = {}): Promise<LockRecord> {
  const child = spawn("true", { stdio: "ignore" });
  const { pid } = child;
  await once(child, "exit");
  return { ...newLockRecord("dead"), pid: pid ?? 0, pid_started: "long ago", port: 1, ...change };
}

const writeLock = (record: LockRecord): void => writeFileSync(join(folder, "lock"), JSON.stringify(record));

async function contend(modes: readonly string[]): Promise<readonly (number | null)[]> {
  const startAt = Date.now() + 700;
  return await Promise.all(
    modes.map(async (mode) => {
      const child = spawn(process.execPath, [contender, folder, String(startAt), mode], { stdio: ["ignore", "inherit", "inherit"] });
      children.push(child);
      await once(child, "exit");
      return child.exitCode;
    }),
  );
}

describe("the state lock", () => {
  it("belongs to the first, names it to the second, and is free after its release", async () => {
    const first = await tryLock(folder, newLockRecord("first"));
    if (first.kind !== "mine") throw new Error(first.kind);
    expect(first.heirOf).toBeNull();
    first.lock.update({ port: 4711, workerd_pid: 12, workerd_started: "x" });
    const second = await tryLock(folder, newLockRecord("second"));
    expect(second).toMatchObject({
      kind: "held",
      record: { boot_id: first.lock.record.boot_id, pid: process.pid, port: 4711, workerd_pid: 12, command: "first" },
    });
    first.lock.release();
    expect(readLock(folder)).toBeNull();
    expect((await tryLock(folder, newLockRecord("third"))).kind).toBe("mine");
  });

  it("passes from a dead owner to an heir, and leaves nothing of the passing behind", async () => {
    const dead = await deadRecord();
    writeLock(dead);
    const mine = newLockRecord("heir");
    const answer = await tryLock(folder, mine);
    expect(answer).toMatchObject({ kind: "mine", heirOf: { boot_id: dead.boot_id } });
    expect(readLock(folder)?.boot_id).toBe(mine.boot_id);
    expect(readdirSync(folder)).toEqual(["lock"]);
  });

  it("takes an owner for dead whose process number now belongs to another process", async () => {
    const other = idle("somebody else");
    writeLock({ ...newLockRecord("dead"), pid: pidOf(other), pid_started: "a moment before that process began" });
    expect((await tryLock(folder, newLockRecord("heir"))).kind).toBe("mine");
    expect(isAlive(markOf(pidOf(other)))).toBe(true);
  });

  it("ends the runtime that a dead owner left behind before the state is opened", async () => {
    const orphan = idle("/opt/workerd serve");
    await until(() => endName(pidOf(orphan)).includes("workerd serve"));
    const { pid, started } = markOf(pidOf(orphan));
    writeLock(await deadRecord({ workerd_pid: pid, workerd_started: started }));
    expect((await tryLock(folder, newLockRecord("heir"))).kind).toBe("mine");
    expect(isAlive({ pid, started })).toBe(false);
  });

  it("leaves a process alone that only has the number of the runtime", async () => {
    const other = idle("postgres serve");
    await until(() => endName(pidOf(other)).includes("postgres"));
    const { pid, started } = markOf(pidOf(other));
    writeLock(await deadRecord({ workerd_pid: pid, workerd_started: started }));
    expect((await tryLock(folder, newLockRecord("heir"))).kind).toBe("mine");
    expect(isAlive({ pid, started })).toBe(true);
  });

  it("waits while somebody is writing the file, and takes a file for dead that was never written", async () => {
    writeFileSync(join(folder, "lock"), "");
    expect((await tryLock(folder, newLockRecord("early"))).kind).toBe("busy");
    const longAgo = Date.now() / 1000 - 60;
    utimesSync(join(folder, "lock"), longAgo, longAgo);
    expect((await tryLock(folder, newLockRecord("late"))).kind).toBe("mine");
  });

  it("goes on where an heir died before it took over, and waits for one that lives", async () => {
    const dead = await deadRecord();
    const deadHeir = await deadRecord();
    writeLock(dead);
    writeFileSync(join(folder, `lock.${dead.boot_id}.heir`), JSON.stringify(deadHeir));
    const live = newLockRecord("live heir");
    writeFileSync(join(folder, `lock.${deadHeir.boot_id}.heir`), JSON.stringify(live));
    expect(await tryLock(folder, newLockRecord("third"))).toMatchObject({ kind: "held", record: { boot_id: live.boot_id, port: null } });
    rmSync(join(folder, `lock.${deadHeir.boot_id}.heir`));
    expect((await tryLock(folder, newLockRecord("fourth"))).kind).toBe("mine");
    expect(readdirSync(folder)).toEqual(["lock"]);
  });

  it("refuses the lock of another version by name", async () => {
    writeFileSync(join(folder, "lock"), JSON.stringify({ version: 2, pid: 1 }));
    await expect(tryLock(folder, newLockRecord("old"))).rejects.toThrow(/another version of edgewise/);
  });

  it("is held by one process at a time when several start at the same moment", async () => {
    expect(await contend(["work", "work", "work", "work"])).toEqual([0, 0, 0, 0]);
  });

  it("has one heir at a time when several find the same dead owner, and when heirs die too", async () => {
    writeLock(await deadRecord());
    const codes = await contend(["work", "die", "work", "die", "work"]);
    expect(codes).toEqual([0, null, 0, null, 0]);
    expect(existsSync(join(folder, "inside"))).toBe(false);
  });
});

describe("processes", () => {
  it("are gone for good once endProcess says so", async () => {
    const child = idle("workerd serve");
    await until(() => endName(pidOf(child)).includes("workerd"));
    const mark = markOf(pidOf(child));
    expect(await endProcess(mark, /postgres/, 1000)).toBe("other");
    expect(await endProcess(mark, /workerd serve/, 3000)).toBe("gone");
    expect(isAlive(mark)).toBe(false);
    expect(await endProcess(mark, /workerd serve/, 1000)).toBe("gone");
  });
});

describe("clients of a service", () => {
  it("count while they live and are announced; this process is none of its own", async () => {
    const withdraw = announceClient(folder);
    expect(livingClients(folder)).toEqual([]);
    const other = idle("client");
    await until(() => isAlive(markOf(pidOf(other))));
    const mark = markOf(pidOf(other));
    writeFileSync(join(folder, "clients", `${mark.pid}.json`), JSON.stringify(mark));
    expect(livingClients(folder)).toEqual([mark.pid]);
    other.kill("SIGKILL");
    await until(() => !isAlive(mark));
    expect(livingClients(folder)).toEqual([]);
    expect(readdirSync(join(folder, "clients"))).toEqual([`${process.pid}.json`]);
    withdraw();
    expect(readdirSync(join(folder, "clients"))).toEqual([]);
  });

  it("are none where their file is damaged, and what else a state folder says in small files is then unsaid", () => {
    for (const content of ["null", "[]", "7", "{", ""]) {
      for (const name of ["clients/1.json", "folders/0000abcd.json", "secret"]) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), content);
      }
      expect(livingClients(folder)).toEqual([]);
      expect(rememberedFolder(folder, "0000abcd")).toBeNull();
      expect(readCommandSecret(folder, "boot")).toBeNull();
    }
  });
});

const endName = (pid: number): string =>
  existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ") : "workerd serve postgres";
