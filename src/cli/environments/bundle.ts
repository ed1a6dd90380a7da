/** Turns environments in files of this machine into modules of a Worker. */
import { OBJECT_CLASSES } from "../service/object-classes.ts";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Message, Plugin } from "esbuild";
import type { EnvironmentFacts } from "../../environments/definition/describe.ts";
import type { WorkerModule } from "../service/service.ts";
import { CliError, EXIT } from "../terminal/cli-error.ts";
import type { EnvironmentFile } from "./find-environment.ts";

/** `dist/lib` beside the built command, also when the command runs from its sources. */
export const LIBRARY = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../../../dist/lib/" : "./lib/", import.meta.url));
const PACKAGE: Readonly<Record<string, string>> = { edgewise: "index.js", "edgewise/worker": "worker.js", "edgewise/testing": "testing.js" };
/** Stands for the library's folder in the code of an environment. */
const PLACE = "edgewise-library:";

/** What was made of one file. */
export interface EnvironmentModule extends EnvironmentFile {
  /** sha256 of its code in hex: another digest is another environment. */
  readonly digest: string;
  /** The environment and everything it imports but this package, which it imports from `library` (a path or URL that ends in a slash). */
  code(library: string): string;
  /** Source map of it, as JSON; sources are named from the project's folder. */
  readonly map: string;
}

/** Bundles one environment. Throws a usage error with the place in the source for what cannot be compiled or may not be imported. */
export async function bundleEnvironment(file: EnvironmentFile): Promise<EnvironmentModule> {
  const { code, map } = await bundled(file.entry);
  return { ...file, map, digest: createHash("sha256").update(code).digest("hex"), code: (library) => code.replaceAll(PLACE, library) };
}

/** An environment of this machine, and what it said of itself. */
export interface DescribedModule {
  readonly module: EnvironmentModule;
  readonly facts: EnvironmentFacts;
}

/** The modules of a Worker with these environments beside the bundled ones. It has their code as texts, which it gives to isolates and runs none of. */
export function workerModules(environments: readonly DescribedModule[]): readonly WorkerModule[] {
  const main = [
    'import { createWorker } from "./lib/worker.js";',
    `export { ${[...Object.values(OBJECT_CLASSES), "EnvironmentOutbound"].join(", ")} } from "./lib/worker.js";`,
    `export default createWorker({ isolated: [${environments.map(moduleText).join(", ")}] });`,
  ];
  return [
    { path: "main.js", contents: main.join("\n") },
    ...environments.map(({ module: { code, map } }, index) => ({
      path: scriptOf(index),
      contents: `export default ${JSON.stringify({ text: code("./lib/"), map })};`,
    })),
    ...readdirSync(LIBRARY)
      .filter((name) => name.endsWith(".js"))
      .map((name) => ({ path: `lib/${name}`, contents: readFileSync(join(LIBRARY, name), "utf8") })),
  ];
}

/** The name of what has the code of a module: of the text in the Worker, and of the code where it is described. */
export const scriptOf = (index: number): string => `environment-${index}.js`;

const moduleText = ({ module: { digest }, facts }: DescribedModule, index: number): string =>
  `{ facts: ${JSON.stringify({ ...facts, source: digest })}, code: async () => (await import("./${scriptOf(index)}")).default }`;

async function bundled(entry: string): Promise<{ readonly code: string; readonly map: string }> {
  const { build } = await import("esbuild");
  try {
    const { outputFiles } = await build({
      entryPoints: [entry],
      absWorkingDir: dirname(entry),
      plugins: [hostImports, packageImports(PLACE)],
      bundle: true,
      write: false,
      outfile: join(dirname(entry), "environment.js"),
      sourcemap: "external",
      sourcesContent: false,
      format: "esm",
      // Reward functions are known by their names.
      keepNames: true,
      target: "es2024",
      // Of what is named when it is built everything is in the file; what is named later would be modules of the host, or another environment's.
      supported: { "dynamic-import": false },
      platform: "browser",
      conditions: ["workerd", "worker", "browser"],
      logLevel: "silent",
    });
    const text = (end: string): string => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? "";
    return { code: text(".js"), map: namedFromProject(text(".js.map"), dirname(entry)) };
  } catch (error) {
    throw buildError(error, `the environment ${entry} cannot be built`);
  }
}

/** A source map whose sources are named from the project's folder: rows and logs have no paths of this machine. */
function namedFromProject(map: string, folder: string): string {
  const project = projectOf(folder);
  const parsed = JSON.parse(map) as { sources: readonly string[] };
  const nameOf = (source: string): string => {
    const name = relative(project, resolve(folder, source)).split(sep).join("/");
    const packages = name.lastIndexOf("node_modules/");
    return packages >= 0 ? name.slice(packages) : name.startsWith("../") ? basename(name) : name;
  };
  return JSON.stringify({ ...parsed, sources: parsed.sources.map(nameOf) });
}

/** The nearest folder with a `package.json`, else the environment's own. */
function projectOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, "package.json"))) return at;
    if (dirname(at) === at) return folder;
  }
}

/** What esbuild refuses, as a usage error with the places in the source; any other error as it is. */
export function buildError(error: unknown, message: string): unknown {
  const { errors } = error as { errors?: readonly Message[] };
  return errors === undefined ? error : new CliError(message, { exitCode: EXIT.usage, hints: errors.slice(0, 5).map(lineOf) });
}

const lineOf = ({ location, text }: Message): string => (location === null ? text : `${location.file}:${location.line}:${location.column + 1}: ${text}`);

const NO_FILES =
  "environments run in the Worker, which has no files and no processes: rows come by reference (the argument `dataset`: a path, an https URL, a Hugging Face id), and small data can be imported as JSON";

/**
 * This package is the one whose command runs, wherever the environment lies, so that both sides share its classes; `zod` too, where the
 * environment brings none of its own. `place`: stands before the name of a file of the library.
 */
export const packageImports = (place: string): Plugin => ({
  name: "package-imports",
  setup(build) {
    build.onResolve({ filter: /^edgewise($|\/)/ }, ({ path }) => {
      const file = PACKAGE[path];
      if (file === undefined) return { errors: [{ text: `this package has no ${JSON.stringify(path)}; it has ${Object.keys(PACKAGE).join(", ")}` }] };
      return { path: `${place}${file}`, external: true };
    });
    build.onResolve({ filter: /^zod$/ }, async ({ path, resolveDir, importer, kind, pluginData }) => {
      if (pluginData === "looked") return null;
      const found = await build.resolve(path, { resolveDir, importer, kind, pluginData: "looked" });
      return found.errors.length === 0 ? found : { path: `${place}zod.js`, external: true };
    });
  },
});

/** Modules of Node that packages may import: what they give leads nowhere, neither in the Worker nor in the process that describes. */
const HARMLESS = new Set(
  "assert buffer crypto events os path path/posix perf_hooks punycode querystring stream stream/web string_decoder timers url util util/types zlib".split(" "),
);

/** What only the host may use is refused where it is imported. */
const hostImports: Plugin = {
  name: "host-imports",
  setup(build) {
    build.onResolve({ filter: /^edgewise($|\/)/ }, ({ path, kind }) =>
      kind === "dynamic-import" ? { errors: [{ text: `write \`import { … } from ${JSON.stringify(path)}\` at the top: nothing is imported later` }] } : null,
    );
    build.onResolve({ filter: /^(node:|cloudflare:)/ }, ({ path }) => ({ errors: [{ text: `${path} cannot be imported: ${NO_FILES}` }] }));
    build.onResolve({ filter: new RegExp(`^(${builtinModules.filter((name) => !name.startsWith("_")).join("|")})$`) }, ({ path, importer, kind }) => {
      // Packages ask for Node's modules behind checks of their own; the code of the environment itself means it.
      if (!importer.includes("node_modules") && kind !== "require-call") return { errors: [{ text: `${path} cannot be imported: ${NO_FILES}` }] };
      // A `require` fails when it is called, as packages expect of a browser.
      return HARMLESS.has(path) || kind !== "import-statement" ? { path, external: true } : { path, namespace: "absent" };
    });
    build.onLoad({ filter: /./, namespace: "absent" }, () => ({ contents: "module.exports = {};" }));
  },
};
