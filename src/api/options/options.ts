import { Hono } from "hono";
import { z } from "zod";
import { groupOf } from "../../config/options/option-groups.ts";
import type { Option } from "../../config/options/option.ts";
import { longFlag, OPTION_NAMES, OPTIONS, type OptionName } from "../../config/options/options.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { describeDatasetArgs } from "../../environments/definition/describe.ts";
import type { AppContext } from "../app-context.ts";
import type { optionList } from "./option-operations.ts";

/** `/options`: the table of options, for whoever makes a form or a client of it. */
export const options = new Hono<AppContext>();

type OptionList = z.infer<typeof optionList>;

/** The same for everybody; made when it is first asked for. */
let all: OptionList | undefined;

options.get("/", (c) => {
  all ??= { options: OPTION_NAMES.map(shown), dataset_arguments: [...describeDatasetArgs()] };
  return c.json(all);
});

function shown(name: OptionName): OptionList["options"][number] {
  const { short, kind, http, only, schema, default: usual, value, help }: Option = OPTIONS[name];
  const { $schema: _, ...values } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return {
    ...{ name, kind, value, help, group: groupOf(name), toml: only !== "flag" },
    flag: only === "toml" ? null : longFlag(name),
    short: short === null || only === "toml" ? null : `-${short}`,
    http: http === null ? null : { in: http[0], field: http[1] },
    schema: values as JsonObject,
    ...(usual === undefined ? {} : { default: usual }),
  };
}
