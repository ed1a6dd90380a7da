import { MAX_CONNECTIONS } from "../limits.ts";

/** What `work` makes of each, in their order, so many at once as a request may have connections. */
export async function someAtOnce<T, Made>(all: readonly T[], work: (each: T) => Promise<Made>): Promise<readonly Made[]> {
  const made: Made[] = [];
  for (let at = 0; at < all.length; at += MAX_CONNECTIONS) made.push(...(await Promise.all(all.slice(at, at + MAX_CONNECTIONS).map(work))));
  return made;
}
