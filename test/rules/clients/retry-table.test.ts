import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isInfrastructureError, ROLLOUT_ERRORS, type RolloutErrorCode } from "../../../src/errors/codes.ts";

const text = readFileSync(join(import.meta.dirname, "../../../docs/retries.md"), "utf8");
const rows = text
  .split("\n")
  .filter((line) => /^\| `[a-z_]+` \|/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()));
const yes = (flag: boolean): string => (flag ? "yes" : "no");

describe("docs/retries.md", () => {
  it("has one row per code, in the catalogue's order", () => {
    expect(rows.map(([, code]) => code)).toEqual(Object.keys(ROLLOUT_ERRORS).map((code) => `\`${code}\``));
  });

  it.each(Object.keys(ROLLOUT_ERRORS) as RolloutErrorCode[])("says of %s what the catalogue says", (code) => {
    const { category, name, request, rollout, fatal } = ROLLOUT_ERRORS[code];
    const cells = rows.find(([, shown]) => shown === `\`${code}\``)?.slice(2, 8);
    expect(cells).toEqual([category, name, yes(request), yes(rollout), yes(isInfrastructureError(code)), yes(fatal)]);
  });
});
