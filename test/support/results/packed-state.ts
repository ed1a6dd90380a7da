/** Files of the folder that the runtime keeps its state in, as one file of a repository. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { runtimeStateFolder } from "../../../src/cli/state/state-folder.ts";

interface Packed {
  /** Bytes, as characters of Latin 1 (which pack better than Base64), by path below the folder that the runtime keeps its state in. */
  readonly files: Readonly<Record<string, string>>;
}

/** A version that a file of the platform names, which Node does not load. */
export function versionIn(path: string, name: string): number {
  const found = new RegExp(`\\b${name} = (\\d+);`).exec(readFileSync(new URL(`../../../durable-objects/${path}`, import.meta.url), "utf8"))?.[1];
  if (found === undefined) throw new Error(`${path} names no ${name}`);
  return Number(found);
}

/** Packs the state beside `facts` of it. Returns bytes written. */
export function packFiles(target: string, stateFolder: string, facts: object): number {
  const root = runtimeStateFolder(stateFolder);
  const paths = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = paths.map((entry): [string, string] => {
    const path = join(entry.parentPath, entry.name);
    return [relative(root, path), readFileSync(path).toString("latin1")];
  });
  const bytes = brotliCompressSync(JSON.stringify({ ...facts, files: Object.fromEntries(files.toSorted()) } satisfies Packed));
  writeFileSync(target, bytes);
  return bytes.byteLength;
}

/** Lays the state where a service of `stateFolder` finds it; returns the facts beside it. */
export function unpackFiles<Facts extends object>(source: string, stateFolder: string): Facts {
  const { files, ...facts } = JSON.parse(brotliDecompressSync(readFileSync(source)).toString()) as Packed & Facts;
  for (const [path, text] of Object.entries(files)) {
    const file = join(runtimeStateFolder(stateFolder), path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, Buffer.from(text, "latin1"));
  }
  return facts as unknown as Facts;
}
