import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CliError } from "../../../../src/cli/terminal/cli-error.ts";
import { ServiceError } from "../../../../src/cli/connection/http-client.ts";
import { internalError, storageError } from "../../../../src/cli/service/service-errors.ts";
import { damageOf, moveStateAway, mustBeSound, watchState } from "../../../../src/cli/state/state-damage.ts";

const PAGE = 4096;
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgewise-state-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (...names: readonly string[]): string => join(folder, "v1", ...names);
const BUCKET = ["r2", "miniflare-R2BucketObject", "b.sqlite"];
const RUN = ["do", "edgewise-Run", "r.sqlite"];
const REGISTRY = ["do", "edgewise-Registry", "g.sqlite"];
const DISPATCHER = ["do", "edgewise-Dispatcher", "d.sqlite"];

/** Two pages as SQLite writes the first of them. */
function database(path: string): void {
  const bytes = Buffer.alloc(2 * PAGE);
  bytes.write("SQLite format 3\0", "latin1");
  bytes.writeUInt16BE(PAGE, 16);
  bytes.writeUInt32BE(2, 28);
  bytes[100] = 0x0d;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

function soundState(): void {
  for (const names of [BUCKET, RUN, REGISTRY, DISPATCHER]) database(at(...names));
  mkdirSync(at("r2", "edgewise", "blobs"), { recursive: true });
  writeFileSync(at("r2", "edgewise", "blobs", "x"), "rows");
}

const refusal = (): CliError => {
  try {
    mustBeSound(folder);
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("a state folder", () => {
  it("that is sound, new, or was killed while a database had only its log, is opened", () => {
    expect(damageOf(folder)).toEqual([]);
    soundState();
    writeFileSync(at(...RUN), "");
    writeFileSync(`${at(...RUN)}-wal`, "log");
    // A checkpoint that was broken off: the file is shorter than its head says, and the log has the rest.
    truncateSync(at(...REGISTRY), PAGE);
    writeFileSync(`${at(...REGISTRY)}-wal`, "log");
    expect(damageOf(folder)).toEqual([]);
    expect(() => mustBeSound(folder)).not.toThrow();
  });

  it.each([
    ["overwritten", (path: string) => writeFileSync(path, Buffer.alloc(2 * PAGE, 7)), "it is not a database"],
    ["cut", (path: string) => truncateSync(path, PAGE + 100), `it is cut: ${PAGE + 100} of ${2 * PAGE} bytes`],
    ["cut to a few bytes", (path: string) => truncateSync(path, 40), "it is not a database"],
  ])("whose bucket's database is %s is refused by the file's name, with ways out", (_how, damage, problem) => {
    soundState();
    damage(at(...BUCKET));
    const { message, hints } = refusal();
    expect(message).toBe(`the state is damaged: ${at(...BUCKET)}: ${problem}`);
    expect(hints.join("\n")).toMatch(/-R FOLDER --fresh-state[\s\S]*mv \S+v1 \S+v1\.damaged/);
  });

  it("with stored objects and nothing that says what they are is refused", () => {
    soundState();
    rmSync(at(...BUCKET));
    expect(refusal().message).toContain("the list of stored objects is missing");
    // What a runtime wrote after its state had been removed: no run knows of it.
    rmSync(at("do"), { recursive: true });
    expect(() => mustBeSound(folder)).not.toThrow();
  });

  it("begins without what the Dispatcher knew, sound or broken where nobody looks: every run tells it again", () => {
    soundState();
    mustBeSound(folder);
    expect(existsSync(at(...DISPATCHER))).toBe(false);
    expect(() => mustBeSound(folder)).not.toThrow();
  });

  it("with a broken run works for all others; who asks for that run is told the file", () => {
    soundState();
    writeFileSync(at(...RUN), "garbage");
    expect(() => mustBeSound(folder)).not.toThrow();
    const service = { role: "owner", url: "http://127.0.0.1:1", stateFolder: folder } as const;
    const told = [
      internalError(service, new ServiceError(500, "internal", "Internal error", null)),
      storageError(service, new ServiceError(503, "storage_unavailable", "No storage now.", null)),
    ];
    for (const { message } of told) expect(message).toContain(at(...RUN));
  });

  it("is moved away whole, to a name that is free, and nothing of it is deleted", () => {
    const now = new Date("2026-11-22T02:03:04Z");
    expect(moveStateAway(folder, now)).toBeNull();
    soundState();
    expect(moveStateAway(folder, now)).toBe(join(folder, "v1.20261122020304"));
    expect(existsSync(join(folder, "v1.20261122020304", ...RUN))).toBe(true);
    expect(existsSync(at())).toBe(false);
    soundState();
    expect(moveStateAway(folder, now)).toBe(join(folder, "v1.20261122020304-2"));
  });

  it.each([
    ["removed", () => rmSync(at(), { recursive: true })],
    [
      "replaced",
      () => {
        renameSync(at(), join(folder, "other"));
        mkdirSync(at());
      },
    ],
  ])("that is %s while a service works on it is noticed", async (_how, act) => {
    soundState();
    const told = Promise.withResolvers<CliError>();
    const end = watchState(folder, told.resolve);
    act();
    expect((await told.promise).message).toContain(`the state in ${folder} was removed or replaced`);
    end();
  });
});
