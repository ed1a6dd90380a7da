import { THEMES, type Theme, theme } from "./theme.ts";

const NAMES: Readonly<Record<Theme, string>> = { system: "As the system", light: "Light", dark: "Dark" };

export const ThemeChoice = () => (
  <label class="quiet-choice">
    <span class="visually-hidden">Theme</span>
    <select
      value={theme.value}
      onChange={({ currentTarget }) => {
        theme.value = currentTarget.value as Theme;
      }}
    >
      {THEMES.map((each) => (
        <option key={each} value={each}>
          {NAMES[each]}
        </option>
      ))}
    </select>
  </label>
);
