/** Endpoint registries that evaluations name. */
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type EndpointRegistry, emptyRegistry, readRegistry } from "../../../config/endpoints/endpoint-registry.ts";
import { OPTIONS } from "../../../config/options/options.ts";
import { parseTomlText } from "../../../config/plan/toml-document.ts";
import { EdgewiseError } from "../../../errors/result.ts";
import { reasonOf } from "../../terminal/cli-error.ts";

/**
 * Registries by path, each read once. What is wrong with one is a warning: names are then taken as they are. But for one that gives limits
 * or prices: whoever wrote them has them kept to and counted, or is told that they are not before anything is sent. Then reading throws `invalid_request`.
 */
export class Registries {
  readonly warnings: string[] = [];
  readonly #cwd: string;
  readonly #known = new Map<string, EndpointRegistry>();

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  at(named: string | undefined): EndpointRegistry {
    const path = registryFile(resolve(this.#cwd, named ?? OPTIONS.endpoints_path.default));
    const registry = this.#known.get(path) ?? this.#read(path, named !== undefined);
    this.#known.set(path, registry);
    return registry;
  }

  #read(path: string, asked: boolean): EndpointRegistry {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) {
      if (asked) this.warnings.push(`the endpoint registry ${path} does not exist`);
      return emptyRegistry(path);
    }
    let given: "limit" | "price" | null = null;
    try {
      if (!path.endsWith(".toml"))
        throw new EdgewiseError("invalid_request", `${path}: registries are read from TOML files only: write its entries as [[endpoint]]`);
      const document = parseTomlText(readFileSync(path, "utf8"), path);
      given = document.limit !== undefined ? "limit" : document.price !== undefined ? "price" : null;
      const registry = readRegistry(document, path);
      this.warnings.push(...registry.warnings);
      return registry;
    } catch (error) {
      if (given !== null) throw new EdgewiseError("invalid_request", reasonOf(error), { hint: `Mend it, or leave its [[${given}]] out: ${UNREAD[given]}.` });
      this.warnings.push(`the endpoint registry is not used: ${reasonOf(error)}`);
      return emptyRegistry(path);
    }
  }
}

/** What comes of tables that cannot be read. */
const UNREAD = { limit: "a limit that cannot be read is not kept to", price: "a price that cannot be read is not counted" } as const;

/** A folder stands for the registry in it, the TOML file first. */
function registryFile(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return path;
  const found = ["endpoints.toml", "endpoints.py"].map((name) => join(path, name)).find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
  return found ?? join(path, "endpoints.toml");
}
