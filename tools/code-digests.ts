/**
 * Digests of the code that decides what rows say: which module changes a reward, and so makes another environment, is decided here.
 * Equal sources give equal digests on every machine; comments, types and layout count for nothing.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { build, transform } from "esbuild";
import type { BuiltCode } from "../src/environments/definition/built-code.ts";

/** Rooms of the library whose modules count. What else they import (clients, config, the engine) carries messages and decides no reward. */
const ROOMS = ["src/environments/", "src/rollouts/", "src/rubrics/", "src/parsers/"];
const BUNDLED = "src/environments/bundled/";
/** Where the modules of a package are, with its name. */
const PACKAGE = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//;
/** What plays and scores every unit, and makes its rows. */
const ENGINE = "src/environments/unit/run-unit.ts";
const LIBRARY = "src/index.ts";
/** They say which code is there, not what it does. */
const ABOUT_CODE = [
  "src/environments/bundled/all.ts",
  "src/environments/definition/built-code.ts",
  "src/environments/definition/load.ts",
  "src/environments/definition/offered.ts",
];

/** `root` ends with `/`. Reads the sources as they are now. */
export async function codeDigests(root: string): Promise<BuiltCode> {
  const ids = readdirSync(root + BUNDLED, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  const entryOf = (id: string): string => `${BUNDLED}${id}/${id}.ts`;
  const graph = await importsFrom(root, [LIBRARY, ENGINE, ...ids.map(entryOf)]);
  const digests = new Map<string, Promise<string>>();
  const digestOf = (path: string): Promise<string> => {
    const known = digests.get(path) ?? moduleDigest(root, path);
    digests.set(path, known);
    return known;
  };
  const over = async (entries: readonly string[], counts: (path: string) => boolean): Promise<string> => {
    const paths = reached(graph, entries).filter(counts);
    const packages = packagesOf(root, graph, paths);
    return sha256(JSON.stringify([await Promise.all(paths.map(async (path) => [path, await digestOf(path)])), packages]));
  };
  const library = await over([LIBRARY, ENGINE], (path) => inRooms(path) && !path.startsWith(BUNDLED));
  const bundled = await Promise.all(ids.map(async (id) => [id, await over([entryOf(id), ENGINE], inRooms)] as const));
  return { library, bundled: Object.fromEntries(bundled) };
}

const inRooms = (path: string): boolean => ROOMS.some((room) => path.startsWith(room)) && !ABOUT_CODE.includes(path);
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Imports that are left when the types are gone, by module; modules of packages are left out, their names are among the imports. */
type Graph = ReadonlyMap<string, readonly string[]>;

async function importsFrom(root: string, entryPoints: string[]): Promise<Graph> {
  const { metafile } = await build({
    entryPoints,
    absWorkingDir: root,
    outdir: "unused",
    bundle: true,
    write: false,
    metafile: true,
    packages: "external",
    platform: "browser",
    format: "esm",
    logLevel: "error",
    loader: { ".bin": "empty" },
  });
  return new Map(Object.entries(metafile.inputs).map(([path, { imports }]) => [path, imports.map((found) => found.path)]));
}

/** Every module that `entries` reach, through whatever room, in the order of their paths. */
function reached(graph: Graph, entries: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const visit = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    for (const next of graph.get(path) ?? []) if (graph.has(next)) visit(next);
  };
  entries.forEach(visit);
  return [...found].sort();
}

async function moduleDigest(root: string, path: string): Promise<string> {
  const text = readFileSync(root + path, "utf8");
  if (!path.endsWith(".ts")) return sha256(text);
  const { code } = await transform(text, { loader: "ts", minifyWhitespace: true, legalComments: "none", target: "es2024" });
  return sha256(code);
}

/** Packages that these modules import themselves, with their versions. */
function packagesOf(root: string, graph: Graph, paths: readonly string[]): readonly string[] {
  const imported = paths.flatMap((path) => (graph.get(path) ?? []).filter((name) => !graph.has(name)));
  const names = new Set(
    imported.map(
      (name) =>
        PACKAGE.exec(name)?.[1] ??
        name
          .split("/")
          .slice(0, name.startsWith("@") ? 2 : 1)
          .join("/"),
    ),
  );
  return [...names].sort().map((name) => `${name}@${versionOf(root, name)}`);
}

function versionOf(root: string, name: string): string {
  const { version } = JSON.parse(readFileSync(`${root}node_modules/${name}/package.json`, "utf8")) as { version: string };
  return version;
}

if (import.meta.main) console.log(JSON.stringify(await codeDigests(new URL("..", import.meta.url).pathname), null, 2));
