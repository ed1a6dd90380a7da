import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The files of the dashboard beside a built Worker, as the platform has them in its `[assets]`. The Worker asks for names that it has checked. */
export function assetsBeside(workerPath: string) {
  const folder = join(dirname(workerPath), "assets");
  return async ({ url }: { readonly url: string }) => {
    const bytes = await readFile(join(folder, new URL(url).pathname)).catch(() => null);
    // What miniflare takes is a response of its own; the two are alike.
    return (bytes === null ? new Response(null, { status: 404 }) : new Response(bytes)) as never;
  };
}
