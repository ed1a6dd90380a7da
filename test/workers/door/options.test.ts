import { describe, expect, it } from "vitest";
import { createApp } from "../../../src/api/app.ts";
import { optionList } from "../../../src/api/options/option-operations.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { environment, environmentList } from "../../../src/api/published/published-schemas.ts";
import type { Env } from "../../../src/env.ts";
import { service } from "../support/service.ts";

const app = createApp(portsOf);
const local = { ...service, LOCAL: "1", BOOT_ID: "boot" } as Env;
const json = async (path: string): Promise<unknown> => (await app.request(`http://localhost/api/v1${path}`, {}, local)).json();

describe("what a form of a run is made from", () => {
  it("is told of every environment of the service: arguments with a schema each, defaults, keys and hosts", async () => {
    const { data } = environmentList.parse(await json("/environmentshub/?limit=1000"));
    expect(data.length).toBeGreaterThan(20);
    for (const { name } of data) {
      const { metadata } = environment.parse(await json(`/environmentshub/edgewise/${name}/@latest`));
      expect(metadata.args, name).not.toBeNull();
    }
    const { metadata } = environment.parse(await json("/environmentshub/edgewise/arithmetic/@latest"));
    const args = new Map(metadata.args?.map((argument) => [argument.name, argument]));
    expect(args.get("difficulty")).toMatchObject({ schema: { enum: ["easy", "medium", "hard"] }, required: false, default: "medium" });
    expect(args.has("dataset")).toBe(false);
    expect(metadata.defaults).toEqual({ num_examples: 50, rollouts_per_example: 4 });
  });

  it("is the table of options, which every schema of zod can be said in", async () => {
    const { options, dataset_arguments } = optionList.parse(await json("/options"));
    expect(options.find(({ name }) => name === "rollouts_per_example")?.schema).toMatchObject({ type: "integer", minimum: 1, maximum: 1024 });
    expect(dataset_arguments.map(({ name }) => name)).toContain("dataset");
  });
});
