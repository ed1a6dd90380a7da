import { parse, TomlError } from "smol-toml";
import { EdgewiseError } from "../../errors/result.ts";
import type { TomlTable } from "./toml-keys.ts";

/** Parses TOML text. Throws `invalid_request` that names the file, line and column of what cannot be read. */
export function parseTomlText(text: string, file: string): TomlTable {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The message goes on with the lines around the place.
    const reason = error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "") ?? "";
    throw new EdgewiseError("invalid_request", `${file}:${error.line}:${error.column}: not valid TOML: ${reason}`);
  }
}
