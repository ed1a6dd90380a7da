import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Registries } from "../../../../src/cli/eval-run/wish/registries.ts";

describe("an endpoint registry that cannot be read", () => {
  let cwd = "";
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), "edgewise-registries-"));
  });
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  it("is not used, with a warning that says why", () => {
    writeFileSync(join(cwd, "endpoints.toml"), '[[endpoint]]\nendpoint_id = "fast"\n');
    const registries = new Registries(cwd);
    expect(registries.at("endpoints.toml").entries.size).toBe(0);
    expect(registries.warnings).toEqual([expect.stringContaining("the endpoint registry is not used: ")]);
  });

  it("is an error where it gives limits: nothing is sent that they would have kept back", () => {
    const limit = '[[limit]]\nurl = "https://models.example/v1"\nconcurent = 3\n';
    writeFileSync(join(cwd, "limits.toml"), limit);
    expect(() => new Registries(cwd).at("limits.toml")).toThrow(/limits\.toml: \[\[limit\]\] #1: .*concurent/);
    writeFileSync(join(cwd, "both.toml"), `[[endpoint]]\nendpoint_id = "fast"\n${limit.replace("concurent", "concurrent")}`);
    expect(() => new Registries(cwd).at("both.toml")).toThrow(/both\.toml: \[\[endpoint\]\] #1/);
  });
});
