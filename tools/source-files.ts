import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { build, type Plugin } from "esbuild";
import type { ImportOf, SourceFile } from "./source-rules.ts";

/** Every TypeScript file that git tracks or would track below `root` (ends with `/`), with its imports resolved. */
export async function readSources(root: string): Promise<readonly SourceFile[]> {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts", "*.tsx"], { cwd: root, encoding: "utf8" });
  const paths = listed.split("\n").filter((path) => path !== "" && existsSync(root + path));
  const values = await valueImports(root, paths);
  return paths.map((path) => {
    const text = readFileSync(root + path, "utf8");
    const kept = values.get(path) ?? [];
    const types = typeImports(path, text).filter((target) => !kept.includes(target));
    const imports: ImportOf[] = [...kept.map((target) => ({ target, value: true })), ...types.map((target) => ({ target, value: false }))];
    return { path, text, imports };
  });
}

/** Each file is bundled alone: with what it imports, a thousand files were that many copies of the tree, and gigabytes. */
const alone = (root: string): Plugin => ({
  name: "alone",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\./ }, ({ path, kind, resolveDir }) =>
      kind === "entry-point" ? null : { path: posix.relative(root, posix.join(resolveDir, path)), external: true },
    );
  },
});

/** What is left of the imports of each file when the types are gone, as esbuild sees it. */
async function valueImports(root: string, paths: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const { metafile } = await build({
    entryPoints: paths.filter((path) => !path.endsWith(".d.ts")),
    absWorkingDir: root,
    outdir: "unused",
    bundle: true,
    write: false,
    metafile: true,
    packages: "external",
    platform: "node",
    format: "esm",
    logLevel: "error",
    loader: { ".css": "empty" },
    plugins: [alone(root)],
  });
  return new Map(Object.entries(metafile.inputs).map(([path, input]) => [path, [...new Set(input.imports.map((found) => found.path))]]));
}

/** Specifiers of every import in the text, types included; those of files as paths from the root. */
function typeImports(path: string, text: string): readonly string[] {
  const specifiers = [...text.matchAll(/(?:\bfrom\s*|\bimport\s*\(\s*)["']([^"'\n]+)["']/g)].map(([, specifier = ""]) => specifier);
  return [...new Set(specifiers.map((name) => (name.startsWith(".") ? posix.normalize(posix.join(posix.dirname(path), name)) : name)))];
}
