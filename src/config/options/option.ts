import type { z } from "zod";
import type { Json } from "../plan/run-config.ts";

/** How the text after a flag is read; `switch` takes none, `optional_path` (`-R`) and `optional_text` may be left out, `table` is one entry each time it is given. */
export type OptionKind = "text" | "integer" | "number" | "json" | "list" | "table" | "path" | "optional_path" | "optional_text" | "switch";

export interface Option {
  readonly kind: OptionKind;
  /** The long flag, where it is not the option's name with dashes; without dashes in front. */
  readonly flag: string | null;
  /** One letter, without the dash. */
  readonly short: string | null;
  /** Of the value, whichever door it comes in by. */
  readonly schema: z.ZodType;
  /** Used when nothing is given; undefined = the option stays unset. */
  readonly default: Json | undefined;
  /** Place in the body of `POST /hosted-evaluations`; null = not part of it. */
  readonly http: readonly ["eval_config" | "body", string] | null;
  /** May be given again when a run is resumed, under the option's own name. */
  readonly resume: boolean;
  /** The one door it comes in by, where it has not all of them: `flag` = it is no key of a TOML file, `toml` = it is no flag. */
  readonly only: "flag" | "toml" | null;
  /** Other keys of a TOML table that mean it. */
  readonly aliases: readonly string[];
  /** In a TOML file it stands at the top alone: it is about all of its evaluations together. */
  readonly fileWide: boolean;
  /** Read from the command line also beside a TOML file. */
  readonly besideToml: boolean;
  /** Of a list: whether the flag may be given again, each time with more. */
  readonly repeats: boolean;
  /** Of a switch: whether `--no-NAME` is a flag too, which says that it is off though a resumed run has it. */
  readonly negatable: boolean;
  /** Name of the value in the help, for kinds that take one. */
  readonly value: string | null;
  readonly help: string;
}

/** Keeps the literal types (schema, place) that the derived schemas need. */
export function option<const S extends z.ZodType<Json>, const H extends Option["http"], D extends z.infer<S> | undefined>(definition: {
  kind: OptionKind;
  schema: S;
  default: D;
  http: H;
  help: string;
  flag?: string;
  short?: string;
  resume?: boolean;
  only?: "flag" | "toml";
  aliases?: readonly string[];
  fileWide?: boolean;
  besideToml?: boolean;
  repeats?: boolean;
  negatable?: boolean;
  value?: string;
}): Option & { readonly schema: S; readonly http: H; readonly default: D } {
  const {
    flag = null,
    short = null,
    resume = false,
    only = null,
    aliases = [],
    fileWide = false,
    besideToml = false,
    repeats = false,
    negatable = false,
    value = null,
  } = definition;
  return { ...definition, flag, short, resume, only, aliases, fileWide, besideToml, repeats, negatable, value };
}
