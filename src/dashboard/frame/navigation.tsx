import { useLocation } from "preact-iso/router";
import { currentAt } from "../address/current-place.ts";
import { useDashboard } from "../context.ts";
import type { NamedPlace } from "../palette/palette-store.ts";
import { pagesFor } from "../pages/pages.ts";
import type { Viewer } from "../viewer.ts";

/** Pages that stand in the navigation. */
export const placesOf = (viewer: Viewer): readonly NamedPlace[] =>
  pagesFor(viewer).flatMap(({ path, place }) => (place === undefined ? [] : [{ path, ...place }]));

export function Navigation() {
  const { path } = useLocation();
  const { link, viewer } = useDashboard();
  return (
    <nav aria-label="Pages">
      <ul>
        {placesOf(viewer).map((place) => (
          <li key={place.path}>
            <a href={link(place.path)} title={`${place.name} (g ${place.key})`} aria-current={currentAt(path, place.path)}>
              {place.name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
