import { singleLine } from "../text/printable.ts";

/** What an event tells beside its type and moment, in a line. */
export const detailText = (detail: Readonly<Record<string, unknown>>): string =>
  singleLine(
    Object.entries(detail)
      .filter(([name]) => name !== "at")
      .map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : String(value)}`)
      .join(" "),
  );
