import { describe, expect, it } from "vitest";
import { optionList } from "../../../src/api/options/option-operations.ts";
import { OPTION_NAMES, OPTIONS } from "../../../src/config/options/options.ts";
import { openDoor } from "../../support/door/fake-ports.ts";

const asked = async () => optionList.parse(await (await openDoor().call("GET", "/options")).json());

describe("the options over HTTP", () => {
  it("are those of the table, each with its names, bounds, default and help", async () => {
    const { options } = await asked();
    expect(options.map(({ name }) => name)).toEqual(OPTION_NAMES);
    const of = (name: string) => options.find((each) => each.name === name);
    expect(of("num_examples")).toMatchObject({
      ...{ flag: "--num-examples", short: "-n", kind: "integer", http: { in: "eval_config", field: "num_examples" }, toml: true, default: 5 },
      ...{ schema: { type: "integer", minimum: -1, maximum: 100_000_000 }, help: OPTIONS.num_examples.help, group: "numbers" },
    });
    expect(of("model")).toMatchObject({ http: { in: "body", field: "inference_model" }, group: "model" });
    expect(of("endpoint_id")).toMatchObject({ flag: null, short: null, toml: true });
    expect(of("output_dir")).toMatchObject({ http: null, group: "command" });
    expect(of("cache")?.schema).toMatchObject({ enum: ["off", "read", "read-write"] });
    expect(of("sampling_args")?.schema).toMatchObject({ properties: { top_p: expect.anything() } });
  });

  it("say what every environment takes beside its own arguments", async () => {
    const { dataset_arguments } = await asked();
    expect(dataset_arguments.map(({ name }) => name)).toEqual(["dataset", "dataset_config", "dataset_split", "dataset_revision", "dataset_columns"]);
    expect(dataset_arguments[0]).toMatchObject({ required: false, schema: { type: "string" } });
  });
});
