import { RUNS, runAddress } from "./links.ts";

const ended = (path: string): string => path.replace(/\/+$/, "");

/** How the navigation marks a place while `path` is shown: as the page itself, or as where the page belongs, such as a run to the runs; undefined = neither. */
export function currentAt(path: string, place: string): "page" | "true" | undefined {
  if (ended(path) === ended(place)) return "page";
  const below = place === RUNS ? runAddress("") : `${ended(place)}/`;
  return path.startsWith(below) ? "true" : undefined;
}
