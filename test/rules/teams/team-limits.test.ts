import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { admit, storageRefusal } from "../../../src/teams/admission.ts";
import { bytesText, LIMITS, type Limit, limitFrom, limitsOfTeam, limitText, TEAM_LIMITS, TOKEN_LIMITS, usualLimit } from "../../../src/teams/limits.ts";

const NONE = { runs: 0, rollouts: 0 };

describe("the table of limits", () => {
  it("has a default within the bounds of each, and none on this machine or for the owner's own team", () => {
    for (const [name, limit] of Object.entries(LIMITS) as [keyof typeof LIMITS, Limit][]) {
      expect(limit.least, name).toBeLessThanOrEqual(limit.deployed ?? limit.least);
      expect(limit.most, name).toBeGreaterThanOrEqual(limit.deployed ?? limit.most);
      expect(usualLimit(name, { local: true }), name).toBe(null);
      expect(usualLimit(name, { local: false, team: "default" }), name).toBe(null);
    }
    expect(new Set([...TEAM_LIMITS, ...TOKEN_LIMITS])).toEqual(new Set(Object.keys(LIMITS)));
    expect(limitsOfTeam({ runs: null, rollouts: 7 }, { local: false, team: "acme" })).toMatchObject({
      runs: null,
      rollouts: 7,
      stored_bytes: 1e12,
    });
  });

  it("reads numbers as people write them, and nothing else", () => {
    expect([limitFrom("stored_bytes", "50GB"), limitFrom("stored_bytes", "1500"), limitFrom("runs", "20")]).toEqual([50e9, 1500, 20]);
    for (const text of ["", "0", "-1", "1.5", "20GB", "many", "1e3", "99999999999999999"]) expect(limitFrom("runs", text), text).toBe(null);
    for (const text of ["50 GB", "5XB", "0GB"]) expect(limitFrom("stored_bytes", text), text).toBe(null);
    expect([bytesText(0), bytesText(999), bytesText(1_234_567), bytesText(2e15)]).toEqual(["0 B", "999 B", "1.23 MB", "2000 TB"]);
    expect([limitText("runs", null), limitText("runs", 5)]).toEqual(["none", "5"]);
  });
});

it("docs/limits-of-a-team.md has the table as it is", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/limits-of-a-team.md"), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  expect(
    rows.map((row) =>
      row
        .split("|")
        .map((cell) => cell.trim())
        .filter((cell) => cell !== ""),
    ),
  ).toEqual(
    (Object.entries(LIMITS) as [keyof typeof LIMITS, Limit][]).map(([name, { of, setBy, deployed, help }]) => {
      const usual = deployed === null ? "none" : `${limitText(name, deployed)} of a ${of[0]}`;
      return [`\`${name}\``, of.join(", "), usual, of.includes("team") ? setBy : "-", help];
    }),
  );
});

describe("runs that are to begin", () => {
  const asked = { wanted: [4, 8], team: "acme", limits: {}, use: { runs: 5, rollouts: 20 }, token: null };

  it("get what they ask for where nothing is limited, runs without a limit of their own among them", () => {
    expect(admit({ ...asked, wanted: [4, 0, -1] })).toEqual({ ok: true, value: [4, 0, -1] });
  });

  it("share what is left evenly, each at least one, and are refused where there is less", () => {
    expect(admit({ ...asked, limits: { rollouts: 32 } })).toEqual({ ok: true, value: [4, 8] });
    expect(admit({ ...asked, limits: { rollouts: 29 } })).toEqual({ ok: true, value: [4, 5] });
    expect(admit({ ...asked, limits: { rollouts: 22 } })).toEqual({ ok: true, value: [1, 1] });
    expect(admit({ ...asked, wanted: [0, 3], limits: { rollouts: 30 } })).toEqual({ ok: true, value: [7, 3] });
    expect(admit({ ...asked, limits: { rollouts: 21 } })).toMatchObject({ ok: false, error: { code: "limit_reached", retry_after_s: 30 } });
    // A limit that was lowered below what is in use.
    expect(admit({ ...asked, limits: { rollouts: 3 } })).toMatchObject({ ok: false });
  });

  it("are refused by whichever limit is met, the team's or the token's, which is named with what counts and what to do", () => {
    const token = { id: "0123456789ab", limits: { runs: 2 }, use: NONE };
    expect(admit({ ...asked, limits: { runs: 7 }, token })).toMatchObject({ ok: true });
    expect(admit({ ...asked, limits: { runs: 6 }, token })).toMatchObject({
      ok: false,
      error: { message: expect.stringMatching(/of the team "acme" is 6, of which 5 are in use .*no room for 2 more runs/) },
    });
    expect(admit({ ...asked, limits: { runs: 7 }, token: { ...token, use: { runs: 1, rollouts: 1 } } })).toMatchObject({
      error: { message: expect.stringContaining("of the token 0123456789ab is 2"), hint: expect.stringContaining("eval stop") },
    });
    expect(admit({ ...asked, limits: { runs: 1 }, use: NONE })).toMatchObject({ error: { hint: expect.stringContaining("Ask for fewer runs at once") } });
  });
});

it("storing is refused beyond the limit, to the byte, and what begins where it is reached", () => {
  expect([storageRefusal("acme", null, 1e15, 1), storageRefusal("acme", 10, 4, 6), storageRefusal("acme", 10, 9, 0)]).toEqual([null, null, null]);
  expect(storageRefusal("acme", 10, 4, 7)).toMatchObject({ code: "limit_reached", retry_after_s: 3600 });
  expect(storageRefusal("acme", 10, 10, 0)?.message).toContain("is 10 B, of which 10 B are in use");
});
