import { effect, signal } from "@preact/signals";

/** `system`: as the machine is set. */
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "edgewise-theme";

const stored = (): Theme => THEMES.find((each) => each === localStorage.getItem(KEY)) ?? "system";

export const theme = signal<Theme>("system");

/** Draws the page as it was chosen in this browser, and keeps what is chosen. */
export function keepTheme(root: HTMLElement): void {
  theme.value = stored();
  effect(() => {
    root.dataset.theme = theme.value;
    localStorage.setItem(KEY, theme.value);
  });
}
