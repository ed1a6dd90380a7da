import { z } from "zod";
import { option } from "./option.ts";
import { rowKey } from "./option-values.ts";

/** Options that say what a terminal shows, and change nothing of what is done. */
export const DISPLAY_OPTIONS = {
  disable_tui: option({
    kind: "switch",
    short: "d",
    schema: z.boolean(),
    default: false,
    http: null,
    besideToml: true,
    help: "plain lines instead of the live display",
  }),
  fullscreen: option({
    kind: "switch",
    short: "f",
    schema: z.boolean(),
    default: false,
    http: null,
    only: "flag",
    besideToml: true,
    help: "keep the live display when everything has ended, until q or Enter is pressed",
  }),
  abbreviated_summary: option({
    kind: "switch",
    short: "A",
    schema: z.boolean(),
    default: false,
    http: null,
    only: "flag",
    besideToml: true,
    help: "leave the example out of the summary at the end",
  }),
  by: option({
    kind: "text",
    schema: rowKey,
    default: undefined,
    http: null,
    only: "flag",
    besideToml: true,
    value: "KEY",
    help: "the report's reward by what examples have under KEY, a field of the row or of its info",
  }),
} as const;
