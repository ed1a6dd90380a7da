import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { EdgewiseError } from "../../src/errors/result.ts";
import { CliError } from "../../src/cli/terminal/cli-error.ts";
import type { Random } from "../simulation/world/random.ts";
import { damaged, noise, value } from "./hostile.ts";

/** Files by their path below a folder. */
export type Files = ReadonlyMap<string, Uint8Array>;

/** What a crash, a full disk, another program or a bad sector leaves of some of the files: flipped, cut, doubled, blank, of another kind, gone. */
export function damagedFiles(random: Random, files: Files): Files {
  const left = new Map(files);
  for (let times = random.int(1, 3); times > 0; times--) {
    const name = random.pick([...files.keys()]);
    const bytes = files.get(name) ?? new Uint8Array();
    const draw = random.int(0, 9);
    if (draw === 0) left.delete(name);
    else if (draw === 1) left.set(name, new Uint8Array(random.chance(0.5) ? 0 : bytes.length));
    else if (draw === 2) left.set(name, new TextEncoder().encode(random.chance(0.5) ? JSON.stringify(value(random)) : noise(random, 4_096)));
    else if (draw === 3) left.set(name, withValue(random, bytes));
    else left.set(name, damaged(random, bytes));
  }
  return left;
}

/** A file of one JSON object, in which a field has another value. */
function withValue(random: Random, bytes: Uint8Array): Uint8Array {
  try {
    const object = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    return new TextEncoder().encode(JSON.stringify({ ...object, [random.pick(Object.keys(object))]: value(random) }));
  } catch {
    return damaged(random, bytes);
  }
}

/** Runs `play` on a folder of its own with these files; it is removed afterwards. */
export async function inFolder(files: Files, play: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "edgewise-fuzz-"));
  try {
    for (const [name, bytes] of files) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), bytes);
    }
    await play(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Every file below a folder, whatever it is called. */
export const filesBelow = (folder: string): Files =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => join(parentPath, name))
      .map((path) => [path, new Uint8Array(readFileSync(path))]),
  );

/** Null where an error was thrown that tells a person what is wrong; any other goes on. */
export async function orRefused<T>(work: () => T | Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof CliError || thrown instanceof EdgewiseError) return null;
    throw thrown;
  }
}
