import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { singleLine } from "../../report/text/printable.ts";
import { RUNS } from "../address/links.ts";
import { useDashboard } from "../context.ts";
import { KeyHelp } from "../keyboard/key-help.tsx";
import { useShortcuts } from "../keyboard/use-shortcuts.ts";
import { Palette } from "../palette/palette.tsx";
import { usePalette } from "../palette/use-palette.ts";
import { Navigation, placesOf } from "./navigation.tsx";
import { SignOut } from "./sign-out.tsx";
import { TeamChoice } from "./team-choice.tsx";
import { ThemeChoice } from "./theme-choice.tsx";

/** What surrounds every page: where one can go, who one is, and the keys. */
export function Frame({ children }: { readonly children: ComponentChildren }) {
  const [helps, setHelps] = useState(false);
  const [seeks, setSeeks] = useState(false);
  const { shortcuts, link, viewer } = useDashboard();
  const places = placesOf(viewer);
  const { route } = useLocation();
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      // A dialog has its own keys: Escape closes it, and leads nowhere.
      if (document.querySelector("dialog[open]") === null) shortcuts.press(event);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [shortcuts]);
  const help = (): boolean => {
    setHelps(true);
    return true;
  };
  const goTo = (path: string): boolean => {
    route(link(path));
    return true;
  };
  const seek = useCallback(() => setSeeks(true), []);
  usePalette(seek);
  useShortcuts([
    { keys: ["?"], does: "Show the keys of this page", run: help },
    ...places.map(({ path, name, key }) => ({ keys: [`g ${key}`], does: `Go to ${name}`, run: () => goTo(path) })),
  ]);
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="frame">
        <a class="brand" href={link(RUNS)}>
          Edgewise
        </a>
        <Navigation />
        {viewer.folders === "" ? null : (
          <span class="frame-folders" title="These are results folders of this machine: nothing of them is changed here">
            Folders: <code>{singleLine(viewer.folders)}</code>
          </span>
        )}
        <div class="frame-end">
          <button type="button" class="quiet" title="Go to a page or a run (Ctrl K)" onClick={seek}>
            Go to…
          </button>
          <TeamChoice />
          <ThemeChoice />
          <button type="button" class="quiet" title="Keys (?)" onClick={() => setHelps(true)}>
            Keys
          </button>
          <SignOut />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      {seeks ? <Palette places={places} onClose={() => setSeeks(false)} go={goTo} /> : null}
      {helps ? <KeyHelp onClose={() => setHelps(false)} /> : null}
    </>
  );
}
