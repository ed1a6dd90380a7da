import { z } from "zod";
import { option } from "./option.ts";

const VARIABLE = "[A-Za-z_][A-Za-z0-9_]*";
const NAMED = new RegExp(`^${VARIABLE}(=${VARIABLE})?$`);

/** Options about the processes in which a command runs environments that are written in Python (docs/python-environments.md). */
export const PYTHON_OPTIONS = {
  python: option({
    kind: "text",
    schema: z.string().min(1).max(4096),
    default: undefined,
    http: null,
    besideToml: true,
    value: "PATH",
    help: "interpreter of environments in Python: a program, or the folder of a virtual environment; NAME is then looked for in Python first. Without it the .venv of the environment's folder, what has it installed, uv, or the active one",
  }),
  env_vars: option({
    kind: "list",
    flag: "env-var",
    schema: z
      .array(
        z
          .string()
          .max(512)
          .regex(NAMED, "must be the name of a variable, or NAME=OTHER for one that has the value of OTHER here; values themselves are never typed"),
      )
      .max(64),
    default: [],
    http: null,
    besideToml: true,
    repeats: true,
    value: "NAME[=OTHER]",
    help: "variables of this command that an environment in Python has too, such as the key of its judge; NAME=OTHER: the value of OTHER under another name. Never a key of the model under evaluation",
  }),
  disable_env_server: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: null,
    help: "all rollouts of an environment in Python in one process, whatever -w says; others are in the service, and are not affected",
  }),
} as const;
