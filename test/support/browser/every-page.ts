/** Pages by what the router knows, so that none is forgotten that is new. */

interface KnownPage {
  readonly path: string;
}

/** What stands in an address for each `:name` of a page's path. */
export type Places = Readonly<Record<string, string>>;

/** The path of every page, as the router reads it. */
export async function pagePaths(): Promise<readonly string[]> {
  // By its place: what a page draws is typed for a browser, and this for Node.
  const module = new URL("../../../src/dashboard/pages/pages.ts", import.meta.url).href;
  const { PAGES } = (await import(/* @vite-ignore */ module)) as { readonly PAGES: readonly KnownPage[] };
  return PAGES.map(({ path }) => path);
}

/** Every page's address, below `/dashboard/`. Throws where a part of a path is not among `places`. */
export async function pageAddresses(places: Places): Promise<readonly string[]> {
  return (await pagePaths()).map((path) =>
    path.replace("/dashboard/", "").replaceAll(/:(\w+)/g, (_, name: string) => {
      const place = places[name];
      if (place === undefined) throw new Error(`nothing is named for :${name} of ${path}`);
      return encodeURIComponent(place);
    }),
  );
}
