/**
 * State of the local service as a version stored it, in one file: `test/fixtures/stored-state/`. A file is named after the versions that are
 * in it and never made again: `npm run keep:state` makes the one of today's, when a version was raised.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { HEAD_VERSION } from "../../../durable-objects/run/state/head.ts";
import { ORDER_SCHEMA_VERSION } from "../../../durable-objects/run/state/schema.ts";
import { runtimeStateFolder } from "../../../src/cli/state/state-folder.ts";

const FOLDER = fileURLToPath(new URL("../../fixtures/stored-state/", import.meta.url));

/** A run in it, as the door showed it then. */
export interface StoredRun {
  readonly id: string;
  readonly examples: number;
  readonly rollouts: number;
  /** `working`: the service was killed while it had open units. */
  readonly stood: "settled" | "suspended" | "working";
  readonly done_rollouts: number;
  /** `results.jsonl` of a settled run. */
  readonly results: string | null;
}

interface Packed {
  readonly runs: readonly StoredRun[];
  /** Bytes, as characters of Latin 1 (which pack better than Base64), by path below the folder that the runtime keeps its state in. */
  readonly files: Readonly<Record<string, string>>;
}

/** A version that a file of the platform names, which Node does not load. */
function versionIn(path: string, name: string): number {
  const found = new RegExp(`\\b${name} = (\\d+);`).exec(readFileSync(new URL(`../../../durable-objects/${path}`, import.meta.url), "utf8"))?.[1];
  if (found === undefined) throw new Error(`${path} names no ${name}`);
  return Number(found);
}
const REGISTRY = versionIn("registry/registry-store.ts", "REGISTRY_SCHEMA");
const DISPATCHER = versionIn("dispatcher/offer-store.ts", "DISPATCHER_SCHEMA");

/** Name of the file that holds what this code stores. */
export const CURRENT_STATE = `run-${ORDER_SCHEMA_VERSION}.head-${HEAD_VERSION}.registry-${REGISTRY}.dispatcher-${DISPATCHER}.json.br`;
export const storedStates = (): readonly string[] => readdirSync(FOLDER).filter((name) => name.endsWith(".json.br"));

/** Returns bytes written. */
export function packState(stateFolder: string, runs: readonly StoredRun[]): number {
  const root = runtimeStateFolder(stateFolder);
  const paths = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = paths.map((entry): [string, string] => {
    const path = join(entry.parentPath, entry.name);
    return [relative(root, path), readFileSync(path).toString("latin1")];
  });
  const bytes = brotliCompressSync(JSON.stringify({ runs, files: Object.fromEntries(files.toSorted()) } satisfies Packed));
  writeFileSync(join(FOLDER, CURRENT_STATE), bytes);
  return bytes.byteLength;
}

/** Lays it where a service of `stateFolder` finds it. */
export function unpackState(name: string, stateFolder: string): readonly StoredRun[] {
  const { runs, files } = JSON.parse(brotliDecompressSync(readFileSync(join(FOLDER, name))).toString()) as Packed;
  for (const [path, text] of Object.entries(files)) {
    const file = join(runtimeStateFolder(stateFolder), path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, Buffer.from(text, "latin1"));
  }
  return runs;
}
