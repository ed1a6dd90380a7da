/** Scripts of the dashboard that run beside its page. */
import { basename } from "node:path";
import { build, type BuildOptions, type Plugin } from "esbuild";

/**
 * `import url from "./x.ts?worker"` gives the address of a file of its own with all that `x.ts` imports, relative to whoever imports it
 * (src/dashboard/background/start-worker.ts). `options`: of the page's own scripts.
 */
export const backgroundScripts = (options: Pick<BuildOptions, "define" | "minify" | "target" | "legalComments">): Plugin => ({
  name: "background-scripts",
  setup: (bundle) => {
    bundle.onResolve({ filter: /\?worker$/ }, async ({ path, importer, resolveDir }) => {
      const found = await bundle.resolve(path.replace(/\?worker$/, ""), { kind: "import-statement", importer, resolveDir });
      // The file is called after this path.
      return found.errors.length > 0
        ? { errors: found.errors }
        : { path: found.path.replace(/\.ts$/, ".js"), namespace: "background-script", pluginData: found.path };
    });
    bundle.onLoad({ filter: /.*/, namespace: "background-script" }, async ({ path, pluginData }) => {
      const { outputFiles, metafile } = await build({
        ...options,
        entryPoints: [pluginData as string],
        bundle: true,
        format: "esm",
        platform: "browser",
        metafile: true,
        write: false,
      });
      const [script] = outputFiles;
      if (outputFiles.length !== 1 || script === undefined) throw new Error(`${basename(path)} is no script alone`);
      return { contents: script.contents, loader: "file", watchFiles: Object.keys(metafile.inputs) };
    });
  },
});
