/** What a project around environments needs: that its files are modules, and how they are checked. What is there is not changed, but for a package.json that does not say. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reasonOf, usageError } from "../terminal/cli-error.ts";

const MODULE = { private: true, type: "module" };

const tsconfig = (include: string) => ({
  compilerOptions: {
    target: "es2024",
    lib: ["es2024", "dom", "dom.iterable"],
    module: "nodenext",
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: ["node"],
  },
  include: [include],
});

/** The package.json of a folder. */
export interface Manifest {
  readonly project: string;
  readonly path: string;
  /** Null when there is none. */
  readonly text: string | null;
  readonly content: Readonly<Record<string, unknown>>;
}

/** Throws a usage error for one that cannot be read. */
export function projectManifest(project: string): Manifest {
  const path = join(project, "package.json");
  if (!existsSync(path)) return { project, path, text: null, content: {} };
  try {
    const text = readFileSync(path, "utf8");
    return { project, path, text, content: JSON.parse(text) as Record<string, unknown> };
  } catch (error) {
    throw usageError(`${path} cannot be read: ${reasonOf(error)}`, "Mend it first: it says how the files of the project are read.");
  }
}

/**
 * Makes the files of `folder` modules and writes a tsconfig.json into the project where there is none. `include`: files that it checks.
 * Returns the paths written or changed.
 */
export function prepareProject(manifest: Manifest, folder: string, include: string): readonly string[] {
  const config = join(manifest.project, "tsconfig.json");
  return [...moduleType(manifest, folder), ...(existsSync(config) ? [] : [written(config, tsconfig(include))])];
}

/** In the project's package.json; where that one says otherwise, in one of the environment's own. */
function moduleType({ path, text, content }: Manifest, folder: string): readonly string[] {
  if (text === null) return [written(path, MODULE)];
  if (content.type === "module") return [];
  if (content.type !== undefined) return [written(join(folder, "package.json"), MODULE)];
  const indent = /^\{\s*?\n([ \t]+)/.exec(text)?.[1] ?? "  ";
  return [written(path, { ...content, type: "module" }, indent)];
}

function written(path: string, content: object, indent = "  "): string {
  writeFileSync(path, `${JSON.stringify(content, null, indent)}\n`);
  return path;
}
