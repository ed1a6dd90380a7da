import { useLocation } from "preact-iso/router";
import { useDashboard } from "../context.ts";
import type { NamedPlace } from "../palette/palette-store.ts";
import { PAGES } from "../pages/pages.ts";

/** Pages that stand in the navigation. */
export const PLACES: readonly NamedPlace[] = PAGES.flatMap(({ path, place }) => (place === undefined ? [] : [{ path, ...place }]));

export function Navigation() {
  const { path } = useLocation();
  const { link } = useDashboard();
  return (
    <nav aria-label="Pages">
      <ul>
        {PLACES.map((place) => (
          <li key={place.path}>
            <a href={link(place.path)} title={`${place.name} (g ${place.key})`} aria-current={isAt(path, place.path) ? "page" : undefined}>
              {place.name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const isAt = (path: string, place: string): boolean => path.replace(/\/$/, "") === place.replace(/\/$/, "");
