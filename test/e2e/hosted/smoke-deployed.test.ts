import { execFile } from "node:child_process";
import { expect, it } from "vitest";

interface Said {
  readonly code: number | string;
  readonly text: string;
}

const dryRun = (): Promise<Said> =>
  new Promise((resolve) =>
    execFile(process.execPath, ["tools/smoke-deployed.ts", "--local", "-n", "5"], { timeout: 90_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? "ended"), text: stdout + stderr }),
    ),
  );

it("the smoke test of a deployment, as a dry run: two runs by executors of five requests that end under them, with every row and no request too many", async () => {
  const { code, text } = await dryRun();
  expect(code, text).toBe(0);
  const measured = (run: string, name: string): number => Number(new RegExp(`^${run} +${name} +([\\d.,]+) `, "m").exec(text)?.[1]?.replaceAll(",", ""));
  expect(text).toContain("no hard rule is broken");
  // Five requests each, so that one executor is not enough for what was seen at once.
  expect(measured("first", "most requests at once, at the endpoint"), text).toBeGreaterThan(5);
  // The run outlived the slices of those that began it: each makes one unit (`DRY_SLICE_MS`), so those after the first ones are by others.
  expect(text).toMatch(/^first +last rollout committed after .* met +src\/limits\.ts/m);
  expect(measured("both", "at work at once"), text).toBeGreaterThan(0);
  for (const run of ["first", "second"]) expect(measured(run, "requests per rollout"), text).toBeGreaterThanOrEqual(1);
});
