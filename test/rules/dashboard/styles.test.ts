import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOM = "src/dashboard";
const sheets = readdirSync(ROOM, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".css"))
  .sort();

/** First classes of the selectors of a sheet. */
function firstClasses(css: string): ReadonlySet<string> {
  const selectors = css.replaceAll(/\/\*[\s\S]*?\*\//g, "").matchAll(/(?:^|[{};])\s*([^{};@]+)\{/g);
  return new Set([...selectors].flatMap(([, text = ""]) => text.split(",").flatMap((each) => /\.([a-z][a-z0-9-]*)/.exec(each)?.[1] ?? [])));
}

describe("the styles of the dashboard", () => {
  it("are one sheet for all pages, in which no class is two things: a selector begins with a class of its own file", () => {
    const owners = new Map<string, string[]>();
    for (const sheet of sheets)
      for (const name of firstClasses(readFileSync(join(ROOM, sheet), "utf8"))) owners.set(name, [...(owners.get(name) ?? []), sheet]);
    expect(sheets.length).toBeGreaterThan(3);
    expect([...owners].filter(([, files]) => files.length > 1).map(([name, files]) => `.${name}: ${files.join(", ")}`)).toEqual([]);
  });
});
